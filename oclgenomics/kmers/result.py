"""What the verbs return: summaries of what they have done, a histogram, and a matrix in memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.kmers.database.keys import texts_of
from oclgenomics.kmers.database.layout import Tally
from oclgenomics.sequence import Census


class _Summary:
    """Numbers that are one record."""

    def records(self) -> list[dict[str, Any]]:
        """All numbers as one record."""
        return [asdict(self)]  # type: ignore[call-overload]

    def to_frame(self) -> Any:
        """The record as a table of one row; see `oclgenomics.app.frames.to_frame`."""
        (record,) = self.records()
        return to_frame({name: [value] for name, value in record.items()})


@dataclass(frozen=True, repr=False)
class CountSummary(_Summary):
    """What a count found.

    Attributes
    ----------
    kmers : int
        K-mers of the input, equal ones included.
    distinct, total : int
        K-mers in the database, and the sum of their counts.
    temporary_runs, temporary_bytes : int
        Parts of the input that were counted apart, and what was written to the folder for temporary files; 0 where the
        input fits into memory.
    census : Census
        Records and letters of the input.
    """

    kmers: int
    distinct: int
    total: int
    temporary_runs: int = 0
    temporary_bytes: int = 0
    census: Census = field(default_factory=Census)

    def __repr__(self) -> str:
        return f"CountSummary(kmers={self.kmers}, distinct={self.distinct}, total={self.total})"

    def records(self) -> list[dict[str, Any]]:
        """All numbers as one record, those of the census among them."""
        record = asdict(self)
        return [record | record.pop("census")]


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


@dataclass(frozen=True)
class MergeSummary(_Summary):
    """What a merge wrote.

    Attributes
    ----------
    k : int
    canonical : bool
    distinct, total : int
        K-mers in the database, and the sum of their counts.
    """

    k: int
    canonical: bool
    distinct: int
    total: int


@dataclass(frozen=True)
class FilterSummary(_Summary):
    """What a filter read and kept.

    Attributes
    ----------
    reads, kept : int
        Records of the input, mates one by one, and those of them that were kept.
    pairs : int
        Pairs of the input.
    kmers, found : int
        K-mers of all reads, equal ones included, and those of them that the set has.
    """

    reads: int
    kept: int
    pairs: int
    kmers: int
    found: int


@dataclass(frozen=True, repr=False)
class CountMatrix:
    """Counts of k-mers in several samples, in memory.

    Attributes
    ----------
    k : int
    canonical : bool
    names : tuple of str
        Of the samples.
    keys : ndarray, uint64 (words, n)
        K-mers, ascending.
    counts : ndarray, uint32 (n, samples)
    """

    k: int
    canonical: bool
    names: tuple[str, ...]
    keys: NDArray[np.uint64]
    counts: NDArray[np.uint32]

    def __repr__(self) -> str:
        return f"CountMatrix(k={self.k}, canonical={self.canonical}, kmers={len(self.counts)}, samples={self.names})"

    def records(self) -> list[dict[str, Any]]:
        """A record for each k-mer: `kmer`, its letters, and the count of each sample under its name."""
        rows = zip(texts_of(self.keys, self.k), self.counts.tolist(), strict=True)
        return [{"kmer": kmer} | dict(zip(self.names, counts, strict=True)) for kmer, counts in rows]

    def to_frame(self) -> Any:
        """The records as a table; see `oclgenomics.app.frames.to_frame`."""
        columns = dict(zip(self.names, self.counts.T, strict=True))
        return to_frame({"kmer": texts_of(self.keys, self.k)} | columns)


@dataclass(frozen=True)
class MatrixSummary(_Summary):
    """What a matrix holds that was written.

    Attributes
    ----------
    k : int
    canonical : bool
    names : tuple of str
    kmers : int
        Rows.
    """

    k: int
    canonical: bool
    names: tuple[str, ...]
    kmers: int
