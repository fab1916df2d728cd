"""Spans of prefixes: the first 32 bits of k-mers, in bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["PREFIX_BITS", "PrefixSpan"]

PREFIX_BITS = 32


@dataclass(frozen=True)
class PrefixSpan:
    """Prefixes of 32 bits from `low` on, in so many bins of 2 ^ shift each; `low` is a multiple of that.

    The prefix of a k-mer are its first 16 letters. Of one with fewer letters the bits behind it are 0.
    """

    low: int
    shift: int
    bins: int

    @property
    def high(self) -> int:
        """The prefix behind the last one."""
        return self.low + (self.bins << self.shift)

    def rest(self, k: int) -> int:
        """Bits of a k-mer behind the prefix of its bin; none or fewer where a bin is one k-mer."""
        return 2 * k - (PREFIX_BITS - self.shift)

    @property
    def heads(self) -> NDArray[np.uint64]:
        """The prefix of each bin as a number, uint64 (bins,)."""
        return np.uint64(self.low >> self.shift) + np.arange(self.bins, dtype=np.uint64)

    def cut(self, first: int, end: int) -> PrefixSpan:
        """Bins `first` to `end` - 1."""
        return PrefixSpan(self.low + (first << self.shift), self.shift, end - first)

    def divided(self, bits: int) -> PrefixSpan:
        """The same prefixes, each bin divided into 2 ^ bits."""
        return PrefixSpan(self.low, self.shift - bits, self.bins << bits)
