"""Order, differences and sums of keys of several words: uint64 (words, n), the least significant word first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["differences", "is_ascending", "running_sums", "sortable"]


def sortable(keys: NDArray[np.uint64]) -> NDArray[Any]:
    """Return keys as one array (n,) that NumPy sorts, searches and compares as numbers.

    That is the word itself, or fixed strings of bytes where there are several words.
    """
    if len(keys) == 1:
        words: NDArray[np.uint64] = keys[0]
        return words
    strings = np.empty((keys.shape[1], len(keys)), ">u8")
    strings[:] = keys[::-1].T
    return strings.view(f"S{8 * len(keys)}").ravel()


def is_ascending(keys: NDArray[np.uint64]) -> bool:
    """Whether each key is greater than the one before it."""
    greater = keys[0, 1:] > keys[0, :-1]
    for word in keys[1:]:
        greater &= word[1:] == word[:-1]
        greater |= word[1:] > word[:-1]
    return bool(greater.all())


def differences(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return each key less the one before it, uint64 (words, n - 1); keys have to ascend."""
    gaps = keys[:, 1:] - keys[:, :-1]
    borrow = np.zeros(gaps.shape[1], bool)
    for word in range(len(keys) - 1):
        borrow &= keys[word, 1:] == keys[word, :-1]
        borrow |= keys[word, 1:] < keys[word, :-1]
        gaps[word + 1] -= borrow
    return gaps


def running_sums(first: NDArray[np.uint64], gaps: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Undo `differences`.

    Parameters
    ----------
    first : uint64 (words,)
        The first key.
    gaps : uint64 (words, n - 1)

    Returns
    -------
    uint64 (words, n)
        Sums wrap at the last word.
    """
    sums = np.empty((len(gaps), gaps.shape[1] + 1), np.uint64)
    sums[:, 0] = first
    sums[:, 1:] = gaps
    carry = np.zeros(gaps.shape[1], bool)
    for word, items in enumerate(sums):
        last = word == len(sums) - 1
        if word:
            items[1:] += carry
            overflow = items[1:] < carry
        np.cumsum(items, out=items)
        if not last:
            carry = items[1:] < items[:-1]
            if word:
                carry |= overflow
    return sums
