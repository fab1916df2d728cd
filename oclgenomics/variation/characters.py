"""The characters of an alignment, unpacked: for looking at small data and for tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.packing import unpack_sites


def characters(alignment: Alignment) -> NDArray[np.uint8]:
    """State letter of every haplotype at every site, N or - where missing; ASCII, uint8 (sites, haplotypes)."""
    bits = unpack_sites(alignment.bits, alignment.haplotypes)
    text: NDArray[np.uint8] = np.where(bits == 1, alignment.letters[:, 1:], alignment.letters[:, :1])
    for row, site in enumerate(alignment.multi_site.tolist()):
        carriers = unpack_sites(alignment.multi_bits[:, row : row + 1], alignment.haplotypes)[0]
        text[site, carriers == 1] = alignment.multi_letter[row]
    if alignment.valid is not None:
        text[unpack_sites(alignment.valid, alignment.haplotypes) == 0] = ord("N")
    if alignment.gap is not None:
        text[unpack_sites(alignment.gap, alignment.haplotypes) == 1] = ord("-")
    return text
