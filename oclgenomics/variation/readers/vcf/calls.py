"""Calls of some VCF records: allele by allele, or packed already."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.variation.planes import MISSING


@dataclass
class Calls:
    """Allele indices of some sites.

    Attributes
    ----------
    sites : ndarray of int64, shape (sites,)
        Index of each among the kept records of the block.
    alleles : ndarray of uint8, shape (sites, 2 * samples)
        `MISSING` where there is none, `HAPLOID` for the second of a haploid call.
    ploidy : int
        1 if every call is haploid.
    unphased : ndarray of bool, shape (sites, samples), or None
        Calls that are not phased; None if all are.
    """

    sites: NDArray[np.int64]
    alleles: NDArray[np.uint8]
    ploidy: int
    unphased: NDArray[np.bool_] | None = None

    @property
    def unphased_count(self) -> int:
        """Calls that are not phased."""
        return 0 if self.unphased is None else int(np.count_nonzero(self.unphased))

    def hide_unphased(self) -> None:
        """Take the calls that are not phased as missing."""
        if self.unphased is not None:
            self.alleles[np.repeat(self.unphased, 2, axis=1)] = MISSING

    def states(self, ploidy: int) -> NDArray[np.uint8]:
        """Allele indices, uint8 (sites, haplotypes), in a block of `ploidy`."""
        return self.alleles if ploidy == 2 else self.alleles[:, ::2]


@dataclass
class PackedCalls:
    """Diploid calls of some sites with two alleles, packed.

    Attributes
    ----------
    sites : ndarray of int64, shape (sites,)
        Index of each among the kept records of the block.
    bits : ndarray of uint32, shape (sites, words)
        Second allele.
    valid : ndarray of uint32, shape (sites, words), or None
        None if all is observed.
    unphased : int
        Calls that are not phased.
    """

    sites: NDArray[np.int64]
    bits: NDArray[np.uint32]
    valid: NDArray[np.uint32] | None
    unphased: int
