"""The histogram of counts: the number of k-mers that have each count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.kmers.database.reader import KmerDatabase
from oclgenomics.kmers.kmer_set import KmerSet
from oclgenomics.kmers.source import KmerSource, opened
from oclgenomics.kmers.tally import Tally

__all__ = ["Histogram", "histogram"]


@dataclass(frozen=True, repr=False)
class Histogram:
    """The number of k-mers that have each count.

    Attributes
    ----------
    counts : ndarray, int64 (m,)
        Counts that occur, ascending.
    kmers : ndarray, int64 (m,)
        Distinct k-mers with each of these counts.
    """

    counts: NDArray[np.int64]
    kmers: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"Histogram(distinct={self.distinct}, total={self.total}, largest={self.largest})"

    @classmethod
    def of(cls, tally: Tally) -> Histogram:
        """Make one of what was tallied."""
        table = tally.histogram()
        return cls(table["count"].astype(np.int64), table["kmers"].astype(np.int64))

    @property
    def distinct(self) -> int:
        """The number of distinct k-mers."""
        return int(self.kmers.sum())

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return int((self.counts * self.kmers).sum())

    @property
    def largest(self) -> int:
        """The largest count, 0 if there is none."""
        return int(self.counts.max(initial=0))

    def dense(self, size: int) -> NDArray[np.int64]:
        """Return the number of k-mers with each count from 0 to size - 1, int64 (size,)."""
        tally = np.zeros(size, np.int64)
        there = self.counts < size
        tally[self.counts[there]] = self.kmers[there]
        return tally

    def rows(self) -> list[tuple[int, int]]:
        """Each count that occurs, ascending, and how many k-mers have it."""
        return list(zip(self.counts.tolist(), self.kmers.tolist(), strict=True))

    def records(self) -> list[dict[str, Any]]:
        """A record for each count that occurs: `count` and `kmers`."""
        return [{"count": count, "kmers": kmers} for count, kmers in self.rows()]

    def to_frame(self) -> Any:
        """The records as a table; see `oclgenomics.app.frames.to_frame`."""
        return to_frame({"count": self.counts, "kmers": self.kmers})


def histogram(source: KmerSource) -> Histogram:
    """Return the number of k-mers that have each count; no device is needed.

    Parameters
    ----------
    source : path or KmerSet
        A database, which has its histogram ready, or any other set, which is read once.

    Raises
    ------
    InputError
        The database is missing or damaged.

    Examples
    --------
    >>> from oclgenomics.kmers import histogram
    >>> for record in histogram("reads.db").records():  # doctest: +SKIP
    ...     print(record["count"], record["kmers"])
    """
    with opened(source) as kmers:
        return _histogram_of(kmers)


def _histogram_of(kmers: KmerSet) -> Histogram:
    if isinstance(kmers, KmerDatabase):
        counts, times = kmers.histogram
        return Histogram(counts.astype(np.int64), times.astype(np.int64))
    tally = Tally()
    for block in kmers.blocks():
        tally.add(Tally(block.counts))
    return Histogram.of(tally)
