"""Counted k-mers of bins, as the tables of CPU devices leave them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.device.layout import SlotLayout
from oclgenomics.runtime import DeviceArray

__all__ = ["Slots"]


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

    def first(self, bins: int) -> Slots:
        """Those of the first bins."""
        return replace(self, heads=self.heads[:bins], begins=self.begins[:bins], sizes=self.sizes[:bins])
