"""Which of many words may be among those that are wanted: a filter of whole columns."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

__all__ = ["KeyFilter"]

_WORDS = 3  # of 8 letters, by which words are told apart; what is behind them does not count
_PADDING = np.zeros(8 * _WORDS, np.uint8)
_INSIDE = np.array([(1 << 8 * letters) - 1 for letters in range(9)], np.uint64)  # the first letters of a word
_ONE = np.uint64(1)
_LOW_BITS = np.uint64(0x0101010101010101)
_HIGH_BITS = _LOW_BITS << np.uint64(7)
_POINTS = _LOW_BITS * np.uint64(ord("."))
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
        words = [word.encode() for word in wanted]
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
            Where in the text the words lie.
        """
        hashes = _hashes(text, begins, ends)
        likely = np.flatnonzero(self._table[hashes >> self._shift])
        if not len(likely):
            return likely
        at = np.minimum(np.searchsorted(self._hashes, hashes[likely]), len(self._hashes) - 1)
        found: NDArray[np.int64] = likely[self._hashes[at] == hashes[likely]]
        return found


def _hashes(text: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Hashes of words by their first letters, up to the first point."""
    padded = np.concatenate([text, _PADDING])
    at_each = np.ndarray((len(text) + 1,), "<u8", buffer=padded, strides=(1,))  # the 8 letters from each place on
    sizes = ends - begins
    hashes = np.zeros(len(sizes), np.uint64)
    goes_on = np.full(len(sizes), _INSIDE[8])  # no bit is set where a point came before
    for word in range(_WORDS):
        inside = _INSIDE[np.clip(sizes - 8 * word, 0, 8)] & goes_on
        letters = at_each[np.minimum(begins + 8 * word, len(text))] & inside
        points = _points(letters)
        letters &= ((points & (~points + _ONE)) >> np.uint64(7)) - _ONE  # what is below the lowest point
        goes_on[points != 0] = 0
        hashes = (hashes ^ letters) * _FACTOR
        hashes ^= hashes >> np.uint64(29)
    return hashes * _FACTOR


def _points(letters: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The highest bit of each byte that is a point, up to the first one; bits above it may be wrong."""
    differs = letters ^ _POINTS
    return (differs - _LOW_BITS) & ~differs & _HIGH_BITS
