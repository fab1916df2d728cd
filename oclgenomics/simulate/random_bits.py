"""Random numbers made of the raw output of PCG64 alone.

NumPy promises that the raw words of a bit generator stay the same for good, and does not promise it of the numbers of
`Generator`. All that is drawn here are whole numbers made of these words, so a seed gives the same bytes with every
NumPy and on every machine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["RandomBits"]

_HALF_WORD = 32


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
            At most 2^32; small beside it, as numbers are uneven by bound / 2^32.
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
