"""The oracle: what the primitives compute, in plain NumPy, from their definitions."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def scan(items: Array, heads: Array | None = None, *, maximum: bool = False, inclusive: bool = False) -> Array:
    """Running sum or maximum, segment by segment."""
    out = np.zeros_like(items)
    bounds = [0, *(np.flatnonzero(heads) if heads is not None else []), len(items)]
    for begin, end in pairwise(bounds):
        part = items[begin:end]
        upto = np.maximum.accumulate(part) if maximum else np.cumsum(part, dtype=items.dtype)
        out[begin:end] = upto if inclusive else np.concatenate([np.zeros(1, items.dtype), upto[:-1]])[: len(part)]
    return out


def sort_keys(keys: Array, bits: int | None = None, first_bit: int = 0) -> list[int]:
    """The number that bits first_bit .. first_bit + bits - 1 of each key make; keys are (words, n)."""
    width = keys.dtype.itemsize * 8
    whole = [sum(int(word) << width * w for w, word in enumerate(key)) for key in keys.T]
    mask = (1 << (len(keys) * width if bits is None else bits)) - 1
    return [key >> first_bit & mask for key in whole]


def sort(keys: Array, bits: int | None = None, first_bit: int = 0) -> NDArray[np.int64]:
    """The order in which a stable sort puts the keys, (words, n)."""
    numbers = sort_keys(keys, bits, first_bit)
    return np.array(sorted(range(len(numbers)), key=numbers.__getitem__), np.int64)


def compact(items: Array, flags: Array) -> Array:
    """The items whose flag is set."""
    return items[..., flags != 0]


def run_lengths(keys: Array, weights: Array | None, most: int) -> tuple[Array, list[int]]:
    """Distinct neighbouring keys, (words, n), and the sums of their weights, at most `most`."""
    heads = [i for i in range(keys.shape[1]) if i == 0 or (keys[:, i] != keys[:, i - 1]).any()]
    weigh = np.ones(keys.shape[1], int) if weights is None else weights
    sums = [min(most, sum(map(int, weigh[begin:end]))) for begin, end in pairwise([*heads, keys.shape[1]])]
    return keys[:, heads], sums


def merge(keys: Array, ends: list[int]) -> NDArray[np.int64]:
    """The order in which runs of sorted keys, (words, n), are merged: that of a stable sort."""
    return sort(keys[:, : ends[-1]] if ends else keys[:, :0])


def partition(
    keys: Array, bits: int | None = None, first_bit: int = 0, splitters: Array | None = None
) -> tuple[NDArray[np.int64], list[int]]:
    """The order in which keys, (words, n), lie by their parts, and where these start; splitters are (words, m)."""
    if splitters is None:
        assert bits is not None
        number, part_of = 1 << bits, sort_keys(keys, bits, first_bit)
    else:
        bounds = sort_keys(splitters)
        number, part_of = len(bounds) + 1, [bisect_right(bounds, key) for key in sort_keys(keys)]
    order = np.array(sorted(range(len(part_of)), key=part_of.__getitem__), np.int64)
    starts = [0, *np.cumsum(np.bincount(np.array(part_of, int), minlength=number)).tolist()]
    return order, starts
