"""How many k-mers there are of each count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.database.reader import KmerDatabase
from oclgenomics.kmers.kmer_set import KmerSet
from oclgenomics.kmers.tally import Tally

__all__ = ["Histogram", "count_histogram"]


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
    """Return the histogram of a set: a database has it ready, any other set is read once."""
    if isinstance(kmers, KmerDatabase):
        counts, times = kmers.histogram
        return Histogram(counts.astype(np.int64), times.astype(np.int64))
    tally = Tally()
    for block in kmers.blocks():
        tally.add(Tally(block.counts))
    table = tally.histogram()
    return Histogram(table["count"].astype(np.int64), table["kmers"].astype(np.int64))
