"""What the LD engine computes, in its order: words of two SNPs, AND, population count, accumulate, then r2.

>>> import numpy as np
>>> words = pack_words(np.array([[0, 1, 1, 0], [0, 1, 1, 1]], bool), word_bits=8)
>>> pairs, singles = count_tile(words, words)
>>> pairs.tolist(), singles[0].tolist()
([[2, 2], [2, 3]], [2, 3])
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["count_tile", "pack_words", "r2_of"]

Counts = NDArray[np.int64]


def pack_words(states: NDArray[np.bool_], word_bits: int) -> NDArray[np.uint8]:
    """Return haplotypes as the card's memory has them: word k of every SNP, then word k + 1.

    Parameters
    ----------
    states : ndarray, bool (snps, samples)
        True for the derived state.
    word_bits : int
        Bits of a word, a multiple of 8; the last word is filled up with zeros.

    Returns
    -------
    ndarray, uint8 (words, snps, word_bits / 8)
    """
    snps, samples = states.shape
    words = -(-samples // word_bits)
    filled = np.zeros((snps, words * word_bits), bool)
    filled[:, :samples] = states
    packed: NDArray[np.uint8] = np.packbits(filled, axis=1).reshape(snps, words, word_bits // 8)
    return np.ascontiguousarray(packed.transpose(1, 0, 2))


def count_tile(rows: NDArray[np.uint8], columns: NDArray[np.uint8]) -> tuple[Counts, tuple[Counts, Counts]]:
    """Count one pair of tiles.

    Parameters
    ----------
    rows, columns : ndarray, uint8 (words, snps, bytes)
        The words of the SNPs on either side.

    Returns
    -------
    pairs : ndarray, int64 (rows, columns)
        Samples with the derived state at both SNPs.
    singles : tuple of ndarray, int64
        The same at each SNP of either side.
    """
    pairs = np.zeros((rows.shape[1], columns.shape[1]), np.int64)
    singles = np.zeros(rows.shape[1], np.int64), np.zeros(columns.shape[1], np.int64)
    for row, column in zip(rows, columns, strict=True):  # a step of the engine: one word of each SNP
        pairs += np.bitwise_count(row[:, None] & column[None]).sum(axis=2, dtype=np.int64)
        for single, words in zip(singles, (row, column), strict=True):
            single += np.bitwise_count(words).sum(axis=1, dtype=np.int64)
    return pairs, singles


def r2_of(pairs: Counts, rows: Counts, columns: Counts, samples: int) -> NDArray[np.float32]:
    """Return r2 of counts, Eq. (1) of the paper with both sides times the samples to the fourth.

    The products of counts are exact integers; the rest is float32. SNPs of one state have an r2 of 0.
    """
    difference = (pairs * samples - rows[:, None] * columns[None]).astype(np.float32)
    spread = (rows * (samples - rows)).astype(np.float32)[:, None] * (columns * (samples - columns)).astype(np.float32)
    found: NDArray[np.float32] = np.zeros_like(difference)
    np.divide(difference * difference, spread, out=found, where=spread > 0)
    return found
