"""Alleles as small codes, and the rules by which a record is a SNP worth reading."""

from __future__ import annotations

import numpy as np

from .bytes_at import byte_table

__all__ = [
    "LETTERS",
    "LETTER_CODES",
    "MAX_ALTERNATIVES",
    "MISSING_LETTER",
    "NO_ALLELE",
    "ONE",
    "ZERO",
    "is_fixed",
    "is_other_kind",
    "is_plain",
]

MAX_ALTERNATIVES = 5
MISSING_LETTER, NO_ALLELE, ZERO, ONE = 4, 5, 6, 7  # codes of an allele beside A, C, G, T = 0..3
LETTERS = np.frombuffer(b"ACGTN?01", np.uint8)  # ASCII of each code
LETTER_CODES = byte_table(
    NO_ALLELE, {"ACGT": [0, 1, 2, 3], "acgt": [0, 1, 2, 3], "RYSWKMBDHVNryswkmbdhvn*": MISSING_LETTER}
)


def is_plain(alleles: np.ndarray) -> np.ndarray:
    """Sites with two alleles, both of A, C, G, T, that differ; bool (sites,) from codes (sites, 6)."""
    two = (alleles[:, 0] < MISSING_LETTER) & (alleles[:, 1] < MISSING_LETTER) & (alleles[:, 0] != alleles[:, 1])
    plain: np.ndarray = two & (alleles[:, 2] == NO_ALLELE)
    return plain


def is_fixed(value: bytes) -> bool:
    """The value of INFO AF says that every frequency is exactly 0 or 1."""
    try:
        return all(float(part) in (0.0, 1.0) for part in value.split(b","))
    except ValueError:
        return False


def is_other_kind(value: bytes) -> bool:
    """The value of INFO VT names anything but SNPs."""
    return any(part != b"SNP" for part in value.split(b","))
