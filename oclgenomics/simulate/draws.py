"""Random numbers made of the raw output of PCG64 alone, evenly or normally distributed.

NumPy promises that the raw words of a bit generator stay the same for good, and does not promise it of the numbers of
`Generator`. All that is drawn here are whole numbers made of these words, so a seed gives the same bytes with every
NumPy and on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

_HALF_WORD = 32


STEPS = 1 << 10  # of a standard deviation
LARGEST = 5  # standard deviations; no value of the table is so large


class RandomBits:
    """A stream of random numbers.

    Parameters
    ----------
    seed : SeedSequence
    """

    def __init__(self, seed: np.random.SeedSequence) -> None:
        self._source = np.random.PCG64(seed)

    def uint8(self, count: int) -> NDArray[np.uint8]:
        """Return bytes, uint8 (count,)."""
        words = self._source.random_raw(-(-count // 8))
        return np.asarray(words, "<u8").view(np.uint8)[:count]

    def uint16(self, count: int) -> NDArray[np.uint16]:
        """Return numbers of 16 bits, uint16 (count,)."""
        return self.uint8(2 * count).view("<u2")

    def uint32(self, count: int) -> NDArray[np.uint32]:
        """Return numbers of 32 bits, uint32 (count,)."""
        return self.uint8(4 * count).view("<u4")

    def below(self, bound: int | NDArray[np.int64], count: int) -> NDArray[np.int64]:
        """Return numbers from 0 to below a bound, int64 (count,).

        Parameters
        ----------
        bound : int or int64 (count,)
            At most 2^32; much smaller is better, as numbers are uneven by bound / 2^32.
        """
        bounds = np.asarray(bound, np.uint64)
        return (self.uint32(count) * bounds >> np.uint64(_HALF_WORD)).astype(np.int64)

    def within(self, low: int, high: int, count: int) -> NDArray[np.int64]:
        """Return numbers from `low` to `high`, both included, int64 (count,)."""
        return low + self.below(high - low + 1, count)

    def happens(self, count: int, rate: float) -> NDArray[np.bool_]:
        """Return whether something of a probability happens, bool (count,); rates are exact to 2^-33."""
        happened: NDArray[np.bool_] = self.uint32(count) < round(rate * (1 << _HALF_WORD))
        return happened


def groups(sizes: NDArray[np.int64], least: int) -> Iterator[tuple[int, int]]:
    """Cut a series into runs that come to a least size in all, but for the last one; each as (first, last + 1)."""
    ends = np.cumsum(sizes)
    first, done = 0, 0
    while first < len(sizes):
        last = min(int(np.searchsorted(ends, done + least)) + 1, len(sizes))
        yield first, last
        first, done = last, int(ends[last - 1])


def normals(draws: RandomBits, count: int) -> NDArray[np.float64]:
    """Return numbers with mean 0 and standard deviation 1, float64 (count,).

    They are one of 65,536 equally likely values, multiples of 1/1024 up to 4.2.
    """
    return _table()[draws.uint16(count)]


@cache
def _table() -> NDArray[np.float64]:
    return normal_values(STEPS, LARGEST * STEPS) / STEPS


def normal_values(deviation: float, bound: int) -> NDArray[np.int64]:
    """Return the normal distribution with mean 0, rounded: 65,536 equally likely values, ascending, below `bound`."""
    steps, scale = range(-bound, bound), deviation * math.sqrt(2)
    below = [round((1 + math.erf((step + 0.5) / scale)) * (1 << 15)) for step in steps]
    return np.repeat(np.array(steps), np.diff(below, prepend=0))
