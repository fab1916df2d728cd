"""Which of many words may be among those that are wanted: a filter of whole columns."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

__all__ = ["KeyFilter"]

_WORDS = 3  # of 8 letters, by which words are told apart; what is behind them does not count
_PADDING = np.zeros(8 * _WORDS, np.uint8)
_INSIDE = np.array([(1 << 8 * letters) - 1 for letters in range(9)], np.uint64)  # the first letters of a word
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
MIN_BITS, MAX_BITS = 16, 26
_SPREAD = 16  # places of the first table for each word


class KeyFilter:
    """Finds words that are equal to wanted ones up to the first point, and a few others.

    Parameters
    ----------
    wanted : iterable of str
    """

    def __init__(self, wanted: Iterable[str]) -> None:
        words = [word.partition(".")[0].encode() for word in wanted]
        text = np.frombuffer(b"".join(words), np.uint8)
        sizes = np.array([len(word) for word in words], np.int64)
        ends = np.cumsum(sizes)
        self._hashes = np.unique(_hashes(text, ends - sizes, ends))
        bits = min(max((_SPREAD * len(words)).bit_length(), MIN_BITS), MAX_BITS)
        self._shift = np.uint64(64 - bits)
        self._table = np.zeros(1 << bits, np.bool_)
        self._table[self._hashes >> self._shift] = True

    def find(self, text: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return which words may be wanted ones.

        Parameters
        ----------
        text : ndarray, uint8
        begins, ends : ndarray, int64 (words,)
            Where in the text the words lie, ascending.
        """
        points = np.flatnonzero(text == ord("."))
        if len(points):
            next_point = points[np.minimum(np.searchsorted(points, begins), len(points) - 1)]
            ends = np.where((next_point >= begins) & (next_point < ends), next_point, ends)
        hashes = _hashes(text, begins, ends)
        likely = np.flatnonzero(self._table[hashes >> self._shift])
        return likely[np.isin(hashes[likely], self._hashes)]


def _hashes(text: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Hashes of words, by their length and first letters."""
    padded = np.concatenate([text, _PADDING])
    at_each = np.ndarray((len(text) + 1,), "<u8", buffer=padded, strides=(1,))  # the 8 letters from each place on
    sizes = ends - begins
    hashes = sizes.astype(np.uint64)
    for word in range(_WORDS):
        inside = np.clip(sizes - 8 * word, 0, 8)
        letters = at_each[np.minimum(begins + 8 * word, len(text))] & _INSIDE[inside]
        hashes = (hashes ^ letters) * _FACTOR
        hashes ^= hashes >> np.uint64(29)
    return hashes * _FACTOR
