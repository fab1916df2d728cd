"""The k-mers of letters, made on the host for look-ups; counters make theirs on the device."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.keys import CODES, WORD_LETTERS, key_words

__all__ = ["kmers_of_letters"]

PIECE = 1 << 14  # k-mers that are made at a time, in the cache


def kmers_of_letters(
    letters: NDArray[np.uint8], k: int, *, canonical: bool
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the k-mers of a sequence.

    Parameters
    ----------
    letters : ndarray, uint8 (n,)
        ASCII, in either case. K-mers with letters other than A, C, G and T are left out.
    k : int
    canonical : bool
        Take the lesser of a k-mer and its reverse complement.

    Returns
    -------
    keys : ndarray, uint64 (words, m)
    places : ndarray, int64 (m,)
        Where each k-mer begins, ascending.
    """
    codes = CODES[letters]
    bad = np.concatenate([[0], np.cumsum(codes > 3)])
    places = np.flatnonzero(bad[k:] == bad[:-k])
    if not len(places):
        return np.empty((key_words(k), 0), np.uint64), places
    keys = np.empty((key_words(k), len(codes) - k + 1), np.uint64)
    for begin in range(0, keys.shape[1], PIECE):
        part = (codes[begin : begin + PIECE + k - 1] & 3).astype(np.uint64)
        made = _keys(part, k)
        if canonical:
            made = _lesser(made, _keys(np.uint64(3) - part[::-1], k)[:, ::-1])
        keys[:, begin : begin + PIECE] = made
    return (keys if len(places) == keys.shape[1] else keys[:, places]), places


def _keys(codes: NDArray[np.uint64], k: int) -> NDArray[np.uint64]:
    """The keys of all k-mers; words below the highest are the keys of 32 letters each."""
    words = key_words(k)
    count = len(codes) - k + 1
    keys = np.empty((words, count), np.uint64)
    keys[-1] = _packed(codes, k - WORD_LETTERS * (words - 1))[:count]
    if words > 1:
        whole = _packed(codes, WORD_LETTERS)
        for word in range(words - 1):
            begin = k - WORD_LETTERS * (word + 1)
            keys[word] = whole[begin : begin + count]
    return keys


def _packed(codes: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
    """The keys of all stretches of `size` letters, at most 32, joined from stretches of 1, 2, 4, ... letters."""
    made, letters = np.zeros(len(codes) + 1, np.uint64), 0
    part, width = codes, 1
    while True:
        if size & width:
            made = _joined(made, letters, part, width)
            letters += width
        if letters == size:
            return made
        part, width = _joined(part, width, part, width), 2 * width


def _joined(left: NDArray[np.uint64], left_size: int, right: NDArray[np.uint64], right_size: int) -> NDArray[np.uint64]:
    """The keys of stretches that begin as those of `left` and continue as those of `right`."""
    count = max(len(right) - left_size, 0)
    return (left[:count] << np.uint64(2 * right_size)) | right[left_size:]


def _lesser(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> NDArray[np.uint64]:
    if len(first) == 1:
        return np.minimum(first, second)
    less = first[0] < second[0]
    for one, other in zip(first[1:], second[1:], strict=True):
        less = (one < other) | ((one == other) & less)
    return np.where(less, first, second)
