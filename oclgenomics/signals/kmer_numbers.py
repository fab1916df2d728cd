"""Numbers of k-mers: their letters A, C, G, T = 0, 1, 2, 3 as digits of base 4, the first one the most significant."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_DIGIT", "digits_of", "kmer_at", "kmer_numbers", "reverse_complements", "reversed_kmers"]

NO_DIGIT = 4  # of a letter that is no single nucleotide


def _table() -> bytes:
    table = bytearray([NO_DIGIT]) * 256
    for digit, letters in enumerate((b"Aa", b"Cc", b"Gg", b"TtUu")):
        for letter in letters:
            table[letter] = digit
    return bytes(table)


_DIGITS = _table()


def digits_of(letters: bytes) -> NDArray[np.uint8]:
    """Return the digit of each letter of either case, uint8; U is T, and what is no single nucleotide is `NO_DIGIT`."""
    return np.frombuffer(letters.translate(_DIGITS), np.uint8)


def kmer_numbers(digits: NDArray[np.uint8], k: int) -> NDArray[np.int32]:
    """Return the number of the k-mer that starts at each letter, int32; of those with `NO_DIGIT` it means nothing.

    Parameters
    ----------
    digits : ndarray, uint8, (letters,)
    k : int
        1 to 12.

    Returns
    -------
    ndarray, int32, (letters - k + 1,)
        None where there are fewer letters than k.
    """
    count = max(0, len(digits) - k + 1)
    numbers = np.zeros(count, np.int32)
    for place in range(k):
        numbers <<= 2
        numbers += digits[place : place + count] & np.uint8(3)
    return numbers


def reversed_kmers(k: int) -> NDArray[np.int32]:
    """Return the number of each k-mer's letters in reverse order, int32 (4**k,)."""
    rest = np.arange(4**k, dtype=np.int32)
    numbers = np.zeros_like(rest)
    for _ in range(k):
        numbers = (numbers << 2) + (rest & 3)
        rest >>= 2
    return numbers


def reverse_complements(k: int) -> NDArray[np.int32]:
    """Return the number of each k-mer's reverse complement, int32 (4**k,)."""
    complements: NDArray[np.int32] = 4**k - 1 - reversed_kmers(k)
    return complements


def kmer_at(number: int, k: int) -> str:
    """Return the letters of a k-mer."""
    return "".join("ACGT"[number >> 2 * place & 3] for place in reversed(range(k)))
