"""Alleles as small codes, and the rules by which a record is a SNP worth reading."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.variation.packing import byte_table

MAX_ALTERNATIVES = 5
MISSING_LETTER, NO_ALLELE, ZERO, ONE = 4, 5, 6, 7  # codes of an allele other than A, C, G, T = 0..3
_ONE_LETTER = ord("1")
LETTERS = np.frombuffer(b"ACGTN?01", np.uint8)  # ASCII of each code
LETTER_CODES = byte_table(
    NO_ALLELE, {"ACGT": [0, 1, 2, 3], "acgt": [0, 1, 2, 3], "RYSWKMBDHVNryswkmbdhvn*": MISSING_LETTER}
)


def is_plain(alleles: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Sites with two alleles that differ, both of A, C, G, T, or 0 and 1; bool (sites,) from codes (sites, 6)."""
    first, second = alleles[:, 0], alleles[:, 1]
    bases = (first < MISSING_LETTER) & (second < MISSING_LETTER)
    numbers = (first >= ZERO) & (second >= ZERO)
    plain: NDArray[np.bool_] = (bases | numbers) & (first != second) & (alleles[:, 2] == NO_ALLELE)
    return plain


def read_numbers(alleles: NDArray[np.uint8], first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.bool_]:
    """Set the codes of sites whose two alleles are called 0 and 1, as simulators write them.

    Parameters
    ----------
    alleles : ndarray of uint8, shape (sites, 6)
        Codes; only those of such sites are changed.
    first, second : ndarray of integers, shape (sites,)
        ASCII of the alleles; 0 where there are not two of one character each.

    Returns
    -------
    ndarray of bool, shape (sites,)
        Which sites they are.
    """
    numbers: NDArray[np.bool_] = (first | 1 == _ONE_LETTER) & (first ^ second == 1)
    if numbers.any():
        alleles[numbers] = NO_ALLELE
        alleles[numbers, 0] = np.where(first[numbers] == _ONE_LETTER, ONE, ZERO)
        alleles[numbers, 1] = np.where(first[numbers] == _ONE_LETTER, ZERO, ONE)
    return numbers


def is_fixed(value: bytes) -> bool:
    """The value of INFO AF says that every frequency is exactly 0 or 1."""
    try:
        return all(float(part) in (0.0, 1.0) for part in value.split(b","))
    except ValueError:
        return False


def is_other_kind(value: bytes) -> bool:
    """The value of INFO VT names anything but SNPs."""
    return any(part != b"SNP" for part in value.split(b","))


def allele_codes(texts: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Codes of alleles, of which each record lists REF first; '' and '.' are none.

    Parameters
    ----------
    texts : ndarray of str, shape (records, alleles)

    Returns
    -------
    codes : ndarray of uint8, shape (records, 6)
        Letter codes by allele index.
    single : ndarray of bool, shape (records,)
        Records whose alleles are all single bases, or 0 and 1, and no more than six.
    """
    characters = texts.astype("U2").view(np.uint32).reshape(*texts.shape, 2)  # two tell one letter from more
    first, more = characters[:, :, 0], characters[:, :, 1] != 0
    absent = (first == 0) | ((first == ord(".")) & ~more)
    codes = np.where(more | (first > 255), NO_ALLELE, LETTER_CODES[np.minimum(first, 255)]).astype(np.uint8)
    single: NDArray[np.bool_] = (absent | (codes != NO_ALLELE)).all(axis=1) & (codes[:, 0] != NO_ALLELE)
    single &= absent[:, MAX_ALTERNATIVES + 1 :].all(axis=1)
    alleles = np.full((len(texts), MAX_ALTERNATIVES + 1), NO_ALLELE, np.uint8)
    width = min(codes.shape[1], MAX_ALTERNATIVES + 1)
    alleles[:, :width] = codes[:, :width]
    two = ~more[:, :2].any(axis=1) & absent[:, 2:].all(axis=1) & (texts.shape[1] > 1)
    named = [np.where(two, first[:, i], 0) for i in (0, min(1, texts.shape[1] - 1))]
    return alleles, single | read_numbers(alleles, *named)
