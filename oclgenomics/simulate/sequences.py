"""What simulated sequences have in common: random bases, complements and errors, and FASTA."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.simulate.draws import RandomBits

BASES = np.frombuffer(b"ATGC", np.uint8)  # by their codes; A and T, G and C differ in the last bit
QUALITY_ZERO = 33  # the byte of quality 0
LINE_BASES = 80  # of FASTA
COMPLEMENTS = np.arange(256, dtype=np.uint8)
COMPLEMENTS[list(b"ACGT")] = list(b"TGCA")
OTHERS = np.zeros((256, 3), np.uint8)
OTHERS[list(b"ACGT")] = [list(b"CGT"), list(b"AGT"), list(b"ACT"), list(b"ACG")]
"""The bases that an error makes of one."""


def random_codes(length: int, gc: float, draws: RandomBits) -> NDArray[np.uint8]:
    """Draw bases with a share of G and C, as codes of `BASES`, uint8 (length,)."""
    strong, second = draws.happens(length, gc), draws.happens(length, 0.5)
    return (2 * strong + second).astype(np.uint8)


def fasta_record(header: str, bases: NDArray[np.uint8]) -> bytes:
    """Return a record of FASTA, in lines of `LINE_BASES`."""
    whole = len(bases) // LINE_BASES * LINE_BASES
    lines = np.full((whole // LINE_BASES, LINE_BASES + 1), ord("\n"), np.uint8)
    lines[:, :LINE_BASES] = bases[:whole].reshape(-1, LINE_BASES)
    rest = bases[whole:].tobytes() + b"\n" if whole < len(bases) else b""
    return b">%s\n%s%s" % (header.encode("utf-8", "replace"), lines.tobytes(), rest)
