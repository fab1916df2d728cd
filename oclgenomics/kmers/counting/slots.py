"""Counted k-mers of bins, as tables on CPU devices leave them: a key's rest and its count share their words.

All k-mers of a bin begin with the bin's prefix, so only the `rest` bits behind it are kept. A slot is some words, the
most significant first. The rest fills them from the highest bit on, around a hole of `count_bits` bits at the low end
of the first word, which has the count. Bits behind the rest are 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import DeviceArray

__all__ = ["MAX_COUNT_BITS", "MIN_COUNT_BITS", "SlotLayout", "Slots"]

MIN_COUNT_BITS, MAX_COUNT_BITS = 8, 32


@dataclass(frozen=True)
class SlotLayout:
    """Where rest and count lie in a slot.

    Attributes
    ----------
    rest : int
        Bits of a key behind the prefix of its bin, at least 1.
    """

    rest: int

    @property
    def words(self) -> int:
        """Words of a slot."""
        return -(-(self.rest + MIN_COUNT_BITS) // 64)

    @property
    def count_bits(self) -> int:
        """Bits of the count."""
        return min(MAX_COUNT_BITS, 64 * self.words - self.rest)

    @property
    def many(self) -> int:
        """The count, all ones, that says: the true one stands in a list."""
        return (1 << self.count_bits) - 1

    @property
    def key_words(self) -> int:
        """Words that the rest takes by itself, as a number."""
        return -(-self.rest // 64)


@dataclass(frozen=True)
class Slots:
    """Distinct k-mers of bins that follow each other, and their counts, in ascending order.

    Attributes
    ----------
    layout : SlotLayout
    words : DeviceArray, uint64 (layout.words, stride)
        Word w of slot i is words[w, i]. Slots of a bin follow each other; bins lie anywhere.
    heads : ndarray, uint64 (bins,)
        The prefix of each bin, as a number: a k-mer is head * 2 ^ rest + rest.
    begins, sizes : ndarray, uint32 (bins,)
        The first slot of each bin, and how many there are.
    large_slots, large_counts : ndarray, uint32 (n,)
        Slots whose counts are `layout.many` in their words, ascending, and their true counts.
    """

    layout: SlotLayout
    words: DeviceArray
    heads: NDArray[np.uint64]
    begins: NDArray[np.uint32]
    sizes: NDArray[np.uint32]
    large_slots: NDArray[np.uint32]
    large_counts: NDArray[np.uint32]

    @property
    def size(self) -> int:
        """K-mers in all."""
        return int(self.sizes.sum(dtype=np.int64))
