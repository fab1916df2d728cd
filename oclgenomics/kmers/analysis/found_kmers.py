"""The results of a query: the count of each k-mer of some sequences, and a summary of each sequence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.kmers.keys import strings_of
from oclgenomics.kmers.kmer_set import PIECE

__all__ = ["FoundKmers", "RecordSummaries", "summarise"]


@dataclass(frozen=True, repr=False)
class FoundKmers:
    """The k-mers of some sequences, in their order, with their counts in a set.

    Attributes
    ----------
    k : int
    names : list of str
        Names of the sequences.
    record : ndarray, int64 (n,)
        The sequence that a k-mer belongs to, as an index into `names`.
    position : ndarray, int64 (n,)
        Where the k-mer begins in that sequence, from 0.
    text : ndarray, uint8
        The letters of the sequences. K-mers begin at `places`.
    places : ndarray, int64 (n,)
    counts : ndarray, uint32 (n,)
        0 for a k-mer that the set does not have.
    whole : bool
        Whether the last sequence ends here; else it continues in the next `FoundKmers`.
    windows : ndarray, int64 (sequences,)
        Places of each sequence, of those here, at which k letters begin, whatever letters they are.
    offset : int
        Where the first sequence goes on here; 0 where it begins.
    others : ndarray, uint32 (n,), or None
        The counts of the reverse complements, if both strands were looked up.
    """

    COLUMNS: ClassVar[tuple[str, ...]] = ("record", "position", "kmer", "count")

    k: int
    names: list[str]
    record: NDArray[np.int64]
    position: NDArray[np.int64]
    text: NDArray[np.uint8]
    places: NDArray[np.int64]
    counts: NDArray[np.uint32]
    whole: bool
    windows: NDArray[np.int64]
    offset: int = 0
    others: NDArray[np.uint32] | None = None

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        return f"FoundKmers(k={self.k}, {len(self.names)} sequences, {len(self)} k-mers)"

    def letters(self, part: slice = slice(None)) -> NDArray[np.uint8]:
        """Return the k-mers, or some of them, as they stand in the sequences but in upper case; uint8 (n, k)."""
        if not len(self.places):
            return np.empty((0, self.k), np.uint8)
        upper = np.lib.stride_tricks.sliding_window_view(self.text, self.k)[self.places[part]]
        upper &= np.uint8(0xDF)  # a letter's case is one bit
        return upper

    def rows(self) -> Iterator[tuple[str, int, str, int]]:
        """The values of `COLUMNS` for each k-mer; positions count from 1."""
        for begin in range(0, len(self), PIECE):
            part = slice(begin, begin + PIECE)
            names = [self.names[number] for number in self.record[part].tolist()]
            positions, kmers = (self.position[part] + 1).tolist(), strings_of(self.letters(part))
            yield from zip(names, positions, kmers, self.counts[part].tolist(), strict=True)

    def records(self) -> Iterator[dict[str, Any]]:
        """A record for each k-mer: the name of its sequence, its position from 1, its letters and its count."""
        return (dict(zip(self.COLUMNS, row, strict=True)) for row in self.rows())

    def to_frame(self) -> Any:
        """The records as a table; see `oclgenomics.app.frames.to_frame`."""
        return _table(self.COLUMNS, self.rows())


@dataclass(frozen=True, repr=False)
class RecordSummaries:
    """The counts of the k-mers of each sequence, summarised.

    Attributes
    ----------
    names : list of str
    kmers, found : ndarray, int64 (n,)
        K-mers of each sequence, repetitions included, and how many of them the set has.
    mean, median : ndarray, float64 (n,)
        Mean and median of the counts, zeros included; NaN for a sequence without k-mers.
    """

    COLUMNS: ClassVar[tuple[str, ...]] = ("record", "kmers", "found", "mean", "median")

    names: list[str]
    kmers: NDArray[np.int64]
    found: NDArray[np.int64]
    mean: NDArray[np.float64]
    median: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"RecordSummaries({len(self)} sequences, {self.found.sum()} of {self.kmers.sum()} k-mers found)"

    def rows(self) -> Iterator[tuple[str, int, int, float | None, float | None]]:
        """The values of `COLUMNS` for each sequence; None for mean and median of one without k-mers."""
        none = (self.kmers == 0).tolist()
        mean, median = (
            [None if missing else value for value, missing in zip(values.tolist(), none, strict=True)]
            for values in (self.mean, self.median)
        )
        return zip(self.names, self.kmers.tolist(), self.found.tolist(), mean, median, strict=True)

    def records(self) -> Iterator[dict[str, Any]]:
        """A record for each sequence: its name, its k-mers, those found, and mean and median of their counts."""
        return (dict(zip(self.COLUMNS, row, strict=True)) for row in self.rows())

    def to_frame(self) -> Any:
        """The records as a table; see `oclgenomics.app.frames.to_frame`."""
        return _table(self.COLUMNS, self.rows())


def _table(columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> Any:
    held = list(rows)
    return to_frame({name: [row[place] for row in held] for place, name in enumerate(columns)})


def summarise(found: Iterable[FoundKmers]) -> Iterator[RecordSummaries]:
    """Summarise the counts of each sequence; the parts of a long one are put together."""
    parts: list[NDArray[np.uint32]] = []
    for some in found:
        if some.whole and not parts:
            yield _summaries(some.names, some.record, some.counts)
            continue
        parts.append(some.counts)
        if some.whole:
            counts = np.concatenate(parts)
            yield _summaries(some.names, np.zeros(len(counts), np.int64), counts)
            parts = []


def _summaries(names: list[str], record: NDArray[np.int64], counts: NDArray[np.uint32]) -> RecordSummaries:
    kmers = np.bincount(record, minlength=len(names))
    found = np.bincount(record[counts > 0], minlength=len(names))
    sums = np.bincount(record, counts, minlength=len(names))
    ordered = counts[np.lexsort((counts, record))].astype(np.float64)
    ends = np.cumsum(kmers)
    low, high = ends - kmers + np.maximum(kmers - 1, 0) // 2, ends - kmers + kmers // 2
    some = kmers > 0
    mean, median = np.full(len(names), np.nan), np.full(len(names), np.nan)
    mean[some] = sums[some] / kmers[some]
    median[some] = (ordered[low[some]] + ordered[high[some]]) / 2
    return RecordSummaries(names, kmers, found, mean, median)
