"""The results of a query: the counts of all k-mers of sequences, summaries, counts along them, and intervals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.kmers.database.keys import strings_of
from oclgenomics.kmers.database.kmer_set import PIECE


class _Rows(ABC):
    """Rows with names for their columns."""

    COLUMNS: ClassVar[tuple[str, ...]] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.COLUMNS

    @abstractmethod
    def rows(self) -> Iterator[tuple[Any, ...]]:
        """The values of the columns, row by row."""

    def records(self) -> Iterator[dict[str, Any]]:
        """A record for each row, by the names of the columns."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows())

    def to_frame(self) -> Any:
        """The records as a table; see `oclgenomics.app.frames.to_frame`."""
        return table_of_rows(self.columns, self.rows())


def table_of_rows(columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> Any:
    """Return rows as a table with pandas or polars."""
    held = list(rows)
    return to_frame({name: [row[place] for row in held] for place, name in enumerate(columns)})


@dataclass(frozen=True, repr=False)
class FoundKmers(_Rows):
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


@dataclass(frozen=True, repr=False)
class RecordSummaries(_Rows):
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


@dataclass(frozen=True, repr=False)
class RecordCounts:
    """The counts along some sequences, or along a part of a long one.

    Attributes
    ----------
    names : list of str
    starts : ndarray, int64 (sequences + 1,)
        Sequence i has counts[starts[i]:starts[i + 1]], one for each place at which k letters begin.
    counts : ndarray, uint32 (n,)
        0 for a k-mer that the set does not have.
    valid : ndarray, bool (n,)
        False where a letter other than A, C, G and T is among the k letters.
    begins, ends : bool
        The first sequence begins, and the last one ends here.
    """

    names: list[str]
    starts: NDArray[np.int64]
    counts: NDArray[np.uint32]
    valid: NDArray[np.bool_]
    begins: bool = True
    ends: bool = True

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"RecordCounts({len(self)} sequences, {len(self.counts)} counts)"

    def counts_of(self, number: int) -> list[int | None]:
        """Return the counts along a sequence; None for what is no k-mer."""
        some = slice(int(self.starts[number]), int(self.starts[number + 1]))
        pairs = zip(self.counts[some].tolist(), self.valid[some].tolist(), strict=True)
        return [count if valid else None for count, valid in pairs]

    def records(self) -> Iterator[dict[str, Any]]:
        """A record for each sequence: its name, and the list of its counts."""
        return ({"record": name, "counts": self.counts_of(number)} for number, name in enumerate(self.names))


def counts_along(found: FoundKmers) -> RecordCounts:
    """Put the counts of k-mers to their places."""
    starts = np.append(np.int64(0), np.cumsum(found.windows))
    counts, valid = np.zeros(starts[-1], np.uint32), np.zeros(starts[-1], np.bool_)
    places = starts[found.record] + found.position - found.offset
    counts[places], valid[places] = found.counts, True
    return RecordCounts(found.names, starts, counts, valid, found.offset == 0, found.whole)


def joined_records(parts: Iterable[RecordCounts]) -> Iterator[RecordCounts]:
    """Put the parts of long sequences together."""
    waiting: list[RecordCounts] = []
    for part in parts:
        waiting.append(part)
        if part.ends:
            yield join_counts(waiting) if len(waiting) > 1 else part
            waiting = []


def join_counts(parts: list[RecordCounts], *, separate: bool = False) -> RecordCounts:
    """Parts as one sequence, or, if `separate`, sequences one behind the other."""
    counts = np.concatenate([np.empty(0, np.uint32), *(part.counts for part in parts)])
    valid = np.concatenate([np.empty(0, np.bool_), *(part.valid for part in parts)])
    if not separate:
        return RecordCounts(parts[0].names, np.array([0, len(counts)], np.int64), counts, valid)
    sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.starts) for part in parts)])
    return RecordCounts([name for part in parts for name in part.names], np.cumsum(sizes), counts, valid)


STRANDS = ("+", "-")


@dataclass(frozen=True, repr=False)
class FoundIntervals(_Rows):
    """Intervals of some sequences, in the order of the sequences and of their starts.

    Attributes
    ----------
    names : list of str
        Names of the sequences.
    record : ndarray, int64 (n,)
        The sequence that an interval lies in, as an index into `names`.
    start, end : ndarray, int64 (n,)
        From 0, the end behind the last letter.
    strand : ndarray, int64 (n,), or None
        0 for the strand given, 1 for the other one.
    count : ndarray, int64 (n,), or None
        That of each k-mer that starts in the interval.
    """

    names: list[str]
    record: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    strand: NDArray[np.int64] | None = None
    count: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.start)

    def __repr__(self) -> str:
        return f"FoundIntervals({len(self.names)} sequences, {len(self)} intervals)"

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of BED with three or, with strands, six columns, or of bedGraph."""
        if self.strand is not None:
            return ("record", "start", "end", "name", "score", "strand")
        return ("record", "start", "end") + (() if self.count is None else ("count",))

    def rows(self) -> Iterator[tuple[str | int, ...]]:
        """The values of `columns` for each interval."""
        columns: list[list[Any]] = [
            [self.names[number] for number in self.record.tolist()], self.start.tolist(), self.end.tolist()
        ]  # fmt: skip
        if self.count is not None:
            columns.append(self.count.tolist())
        if self.strand is not None:
            strands = [STRANDS[strand] for strand in self.strand.tolist()]
            columns += [["."] * len(self), [0] * len(self), strands]
        return zip(*columns, strict=True)


def covered_intervals(found: Iterable[FoundKmers]) -> Iterator[FoundIntervals]:
    """Find the letters that k-mers of the set cover; intervals that overlap or touch are one.

    Where both strands were looked up, each has intervals of its own.

    Yields
    ------
    FoundIntervals
        Of some sequences, or of a part of a long one.
    """
    for some, made in _closed(_covered, found):
        strand = None if some.others is None else made.key
        yield FoundIntervals(some.names, made.record, made.start, made.end, strand)


def count_intervals(found: Iterable[FoundKmers]) -> Iterator[FoundIntervals]:
    """Find stretches of places at which k-mers of the set with equal counts start.

    Yields
    ------
    FoundIntervals
        Of some sequences, or of a part of a long one.
    """
    for some, made in _closed(_counted, found):
        yield FoundIntervals(some.names, made.record, made.start, made.end, count=made.key)


@dataclass(frozen=True)
class _Intervals:
    """Intervals, and a key each: a strand or a count. Only those with equal keys may be joined."""

    record: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    key: NDArray[np.int64]

    @classmethod
    def joined(cls, parts: list[_Intervals]) -> _Intervals:
        """One behind the other."""
        names = ("record", "start", "end", "key")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def take(self, which: NDArray[Any]) -> _Intervals:
        """Some of them."""
        return _Intervals(self.record[which], self.start[which], self.end[which], self.key[which])

    def merged(self) -> _Intervals:
        """Join neighbours of one record and key that overlap or touch; in the order of records and starts."""
        items = self.take(np.lexsort((self.start, self.key, self.record)))
        begins = np.ones(len(items.start), np.bool_)
        begins[1:] = items.start[1:] > items.end[:-1]
        begins[1:] |= (items.record[1:] != items.record[:-1]) | (items.key[1:] != items.key[:-1])
        first = np.flatnonzero(begins)
        last = np.append(first[1:], len(begins))[: len(first)] - 1
        made = _Intervals(items.record[first], items.start[first], items.end[last], items.key[first])
        return made.take(np.lexsort((made.key, made.start, made.record)))


def _closed(
    intervals_of: Callable[[FoundKmers], _Intervals], found: Iterable[FoundKmers]
) -> Iterator[tuple[FoundKmers, _Intervals]]:
    """Merge intervals, also those that parts of a long sequence share; what may still grow waits for the next part."""
    waiting: _Intervals | None = None
    for some in found:
        made = intervals_of(some)
        if waiting is not None:
            made = _Intervals.joined([waiting, made]).merged()
        waiting = None
        if not some.whole:
            growing = made.start[made.end >= some.offset + some.windows[-1]]
            done = made.start < growing.min(initial=np.iinfo(np.int64).max)
            made, waiting = made.take(done), made.take(~done)
        yield some, made


def _covered(found: FoundKmers) -> _Intervals:
    """The letters that k-mers cover, on each strand."""
    strands = [found.counts] if found.others is None else [found.counts, found.others]
    parts = []
    for strand, counts in enumerate(strands):
        there = counts > 0
        record, position = found.record[there], found.position[there]
        first, last = _stretches(record, position, found.k)
        key = np.full(len(first), strand, np.int64)
        parts.append(_Intervals(record[first], position[first], position[last] + found.k, key))
    return parts[0] if len(parts) == 1 else _Intervals.joined(parts).merged()


def _counted(found: FoundKmers) -> _Intervals:
    """Places that follow each other and have one count."""
    there = found.counts > 0
    record, position, count = found.record[there], found.position[there], found.counts[there].astype(np.int64)
    first, last = _stretches(record, position, 1, count)
    return _Intervals(record[first], position[first], position[last] + 1, count[first])


def _stretches(
    record: NDArray[np.int64], position: NDArray[np.int64], reach: int, key: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first and the last of places that follow each other within `reach`, of one record and key."""
    begins = np.ones(len(position), np.bool_)
    begins[1:] = (record[1:] != record[:-1]) | (position[1:] > position[:-1] + reach)
    if key is not None:
        begins[1:] |= key[1:] != key[:-1]
    first = np.flatnonzero(begins)
    return first, np.append(first[1:], len(position))[: len(first)] - 1
