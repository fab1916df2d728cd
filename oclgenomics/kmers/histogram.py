"""How many k-mers there are of each count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.sets import KmerSet

__all__ = ["Histogram", "count_histogram"]

DENSE = 1 << 16  # counts below this are tallied in an array


@dataclass(frozen=True)
class Histogram:
    """Numbers of k-mers by their count.

    Attributes
    ----------
    counts : ndarray, int64 (m,)
        Counts that occur, ascending.
    kmers : ndarray, int64 (m,)
        Distinct k-mers that have each of them.
    """

    counts: NDArray[np.int64]
    kmers: NDArray[np.int64]

    @property
    def distinct(self) -> int:
        """K-mers that differ."""
        return int(self.kmers.sum())

    @property
    def total(self) -> int:
        """K-mers with all their repetitions."""
        return int((self.counts * self.kmers).sum())

    @property
    def largest(self) -> int:
        """The largest count, 0 if there is none."""
        return int(self.counts.max(initial=0))

    def dense(self, size: int) -> NDArray[np.int64]:
        """K-mers that have the counts 0 to size - 1, int64 (size,)."""
        tally = np.zeros(size, np.int64)
        there = self.counts < size
        tally[self.counts[there]] = self.kmers[there]
        return tally


def count_histogram(kmers: KmerSet) -> Histogram:
    """Tally the counts of a set, block by block."""
    low = np.zeros(DENSE, np.int64)
    high: dict[int, int] = {}
    for block in kmers.blocks():
        few = block.counts < DENSE
        low += np.bincount(block.counts[few], minlength=DENSE)
        for count, times in zip(*np.unique(block.counts[~few], return_counts=True), strict=True):
            high[int(count)] = high.get(int(count), 0) + int(times)
    counts = np.flatnonzero(low)
    above = sorted(high)
    return Histogram(
        np.concatenate([counts, np.array(above, np.int64)]),
        np.concatenate([low[counts], np.array([high[count] for count in above], np.int64)]),
    )
