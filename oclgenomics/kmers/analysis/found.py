"""The results of a query: the counts of all k-mers of sequences, summaries, counts along them, and intervals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.io.workers import Workers
from oclgenomics.kmers.database.keys import strings_of
from oclgenomics.kmers.database.kmer_set import PIECE
from oclgenomics.kmers.options import MAX_COUNTER


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
class RecordCounts:
    """The counts along some sequences, or along a part of a long one.

    Attributes
    ----------
    names : sequence of str
    starts : ndarray, int64 (sequences + 1,)
        Sequence i has counts[starts[i]:starts[i + 1]], one for each place at which k bases begin.
    counts : ndarray, uint32 (n,)
        0 for a k-mer that the set does not have.
    valid : ndarray, bool (n,)
        False where a base other than A, C, G and T is among the k.
    begins, ends : bool
        The first sequence begins, and the last one ends here.
    """

    names: Sequence[str]
    starts: NDArray[np.int64]
    counts: NDArray[np.uint32]
    valid: NDArray[np.bool_]
    begins: bool = True
    ends: bool = True

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"RecordCounts({len(self)} sequences, {len(self.counts)} counts)"

    @property
    def windows(self) -> NDArray[np.int64]:
        """Places of each sequence at which k bases begin, int64 (sequences,)."""
        return np.diff(self.starts)

    def positions(self, windows: NDArray[np.int64], record: NDArray[np.int64], offset: int) -> NDArray[np.int64]:
        """Return where some windows begin in their sequences, of which the first one goes on here at `offset`."""
        begins = self.starts[:-1].copy()
        begins[:1] -= offset
        return windows - begins[record]

    def sums(self, values: NDArray[Any]) -> NDArray[np.uint64]:
        """Add up values of all windows by sequences; uint64 (sequences,)."""
        some = self.windows > 0
        sums = np.zeros(len(self), np.uint64)
        if some.any():
            sums[some] = np.add.reduceat(values, self.starts[:-1][some], dtype=np.uint64)
        return sums

    def counts_of(self, number: int) -> list[int | None]:
        """Return the counts along a sequence; None for what is no k-mer."""
        some = slice(int(self.starts[number]), int(self.starts[number + 1]))
        pairs = zip(self.counts[some].tolist(), self.valid[some].tolist(), strict=True)
        return [count if valid else None for count, valid in pairs]

    def records(self) -> Iterator[dict[str, Any]]:
        """A record for each sequence: its name, and the list of its counts."""
        return ({"record": name, "counts": self.counts_of(number)} for number, name in enumerate(self.names))


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


@dataclass(frozen=True, repr=False)
class FoundKmers(_Rows):
    """The k-mers of some sequences, in their order, with their counts in a set.

    Attributes
    ----------
    k : int
    along : RecordCounts
        The counts of all windows of the sequences.
    text : ndarray, uint8
        The bases of the sequences, and what may be between them. Empty where only counts were asked for.
    letters_at : ndarray, int64 (sequences,)
        Where each sequence, or the part of it that is here, begins in the text.
    offset : int
        Where the first sequence goes on here; 0 where it begins.
    others_along : ndarray, uint32, or None
        The counts of the reverse complements of all windows, if both strands were looked up.
    """

    COLUMNS: ClassVar[tuple[str, ...]] = ("record", "position", "kmer", "count")

    k: int
    along: RecordCounts
    text: NDArray[np.uint8]
    letters_at: NDArray[np.int64]
    offset: int = 0
    others_along: NDArray[np.uint32] | None = None

    def __len__(self) -> int:
        return int(np.count_nonzero(self.along.valid))

    def __repr__(self) -> str:
        return f"FoundKmers(k={self.k}, {len(self.names)} sequences, {len(self)} k-mers)"

    @property
    def names(self) -> Sequence[str]:
        """Names of the sequences."""
        return self.along.names

    @property
    def whole(self) -> bool:
        """Whether the last sequence ends here; else it continues in the next `FoundKmers`."""
        return self.along.ends

    @property
    def windows(self) -> NDArray[np.int64]:
        """Places of each sequence, of those here, at which k bases begin, whatever bases they are, int64."""
        return np.diff(self.along.starts)

    @cached_property
    def record(self) -> NDArray[np.int64]:
        """The sequence that a k-mer belongs to, as an index into `names`, int64 (n,)."""
        return np.repeat(np.arange(len(self.names)), self.windows)[self.along.valid]

    @cached_property
    def position(self) -> NDArray[np.int64]:
        """Where the k-mer begins in that sequence, from 0, int64 (n,)."""
        return self.along.positions(np.flatnonzero(self.along.valid), self.record, self.offset)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Where the k-mer begins in the text, int64 (n,)."""
        return np.flatnonzero(self.along.valid) + (self.letters_at - self.along.starts[:-1])[self.record]

    @property
    def counts(self) -> NDArray[np.uint32]:
        """0 for a k-mer that the set does not have, uint32 (n,)."""
        return self.along.counts[self.along.valid]

    @property
    def others(self) -> NDArray[np.uint32] | None:
        """The counts of the reverse complements, uint32 (n,), if both strands were looked up."""
        return None if self.others_along is None else self.others_along[self.along.valid]

    def letters(self, part: slice = slice(None)) -> NDArray[np.uint8]:
        """Return the k-mers, or some of them, as they stand in the sequences, in either case; uint8 (n, k)."""
        if not len(self.places):
            return np.empty((0, self.k), np.uint8)
        return np.lib.stride_tricks.sliding_window_view(self.text, self.k)[self.places[part]]

    def pieces(self, size: int = PIECE) -> Iterator[FoundKmers]:
        """Cut them into pieces of at most `size` windows, which share the memory, but for sequences without windows."""
        starts, counts, valid = self.along.starts, self.along.counts, self.along.valid
        for begin in range(0, int(starts[-1]), size):
            end = min(begin + size, int(starts[-1]))
            first, last = (np.searchsorted(starts, (begin, end - 1), side="right") - 1).tolist()
            within = begin - int(starts[first])
            letters_at = self.letters_at[first : last + 1].copy()
            letters_at[0] += within
            along = RecordCounts(
                self.names[first : last + 1], np.clip(starts[first : last + 2], begin, end) - begin, counts[begin:end],
                valid[begin:end], not within and (first > 0 or self.along.begins),
                end == int(starts[last + 1]) and (last < len(self.names) - 1 or self.along.ends),
            )  # fmt: skip
            others = None if self.others_along is None else self.others_along[begin:end]
            offset = within + (0 if first else self.offset)
            yield FoundKmers(self.k, along, self.text, letters_at, offset, others)

    def rows(self) -> Iterator[tuple[str, int, str, int]]:
        """The values of `COLUMNS` for each k-mer; positions count from 1."""
        for piece in self.pieces():
            names = list(piece.names)
            records = [names[number] for number in piece.record.tolist()]
            positions, kmers = (piece.position + 1).tolist(), strings_of(piece.letters())
            yield from zip(records, positions, kmers, piece.counts.tolist(), strict=True)


@dataclass(frozen=True, repr=False)
class RecordSummaries(_Rows):
    """The counts of the k-mers of each sequence, summarised.

    Attributes
    ----------
    names : sequence of str
    kmers, found : ndarray, int64 (n,)
        K-mers of each sequence, repetitions included, and how many of them the set has.
    mean, median : ndarray, float64 (n,)
        Mean and median of the counts, zeros included; NaN for a sequence without k-mers.
    """

    COLUMNS: ClassVar[tuple[str, ...]] = ("record", "kmers", "found", "mean", "median")

    names: Sequence[str]
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


def summaries_of(along: RecordCounts) -> RecordSummaries:
    """Summarise the counts of whole sequences."""
    kmers = along.windows if along.valid.all() else along.sums(along.valid).astype(np.int64)
    found = along.sums(along.counts > 0).astype(np.int64)
    some = kmers > 0
    mean = np.full(len(along), np.nan)
    mean[some] = along.sums(along.counts)[some] / kmers[some]
    return RecordSummaries(along.names, kmers, found, mean, _medians(along, kmers))


def _medians(along: RecordCounts, kmers: NDArray[np.int64]) -> NDArray[np.float64]:
    """The median of each sequence, NaN for one without k-mers.

    Sequences of about one length are sorted side by side, as rows that end with the greatest number there is: many
    short ones take little longer than a long one.
    """
    median, windows = np.full(len(along), np.nan), along.windows
    values = along.counts if along.valid.all() else np.where(along.valid, along.counts, np.uint32(MAX_COUNTER))
    if len(along) > 1:  # so that each may be read as wide as the longest one
        values = np.append(values, np.empty(int(windows.max()), np.uint32))
    lengths = np.frexp(windows.astype(np.float64))[1]  # doubling from group to group
    for length in np.unique(lengths[kmers > 0]).tolist():
        which = np.flatnonzero((lengths == length) & (kmers > 0))
        size = windows[which]
        rows = np.lib.stride_tricks.sliding_window_view(values, int(size.max()))[along.starts[which]]
        rows[np.arange(rows.shape[1]) >= size[:, np.newaxis]] = MAX_COUNTER
        rows.sort(axis=1)
        row, middle = np.arange(len(rows)), kmers[which]
        low, high = (rows[row, place].astype(np.float64) for place in ((middle - 1) // 2, middle // 2))
        median[which] = (low + high) / 2
    return median


STRANDS = ("+", "-")


@dataclass(frozen=True, repr=False)
class FoundIntervals(_Rows):
    """Intervals of some sequences, in the order of the sequences and of their starts.

    Attributes
    ----------
    names : sequence of str
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

    names: Sequence[str]
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


def covered_intervals(found: Iterable[FoundKmers], workers: Workers) -> Iterator[FoundIntervals]:
    """Find the letters that k-mers of the set cover; intervals that overlap or touch are one.

    Where both strands were looked up, each has intervals of its own.

    Yields
    ------
    FoundIntervals
        Of some sequences, or of a part of a long one.
    """
    for some, made in _closed(_covered, found, workers):
        strand = None if some.others is None else made.key
        yield FoundIntervals(some.names, made.record, made.start, made.end, strand)


def count_intervals(found: Iterable[FoundKmers], workers: Workers) -> Iterator[FoundIntervals]:
    """Find stretches of places at which k-mers of the set with equal counts start.

    Yields
    ------
    FoundIntervals
        Of some sequences, or of a part of a long one.
    """
    for some, made in _closed(_counted, found, workers):
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
    intervals_of: Callable[[FoundKmers], _Intervals], found: Iterable[FoundKmers], workers: Workers
) -> Iterator[tuple[FoundKmers, _Intervals]]:
    """Merge intervals, also those that parts of a long sequence share; what may still grow waits for the next part."""
    waiting: _Intervals | None = None
    for some, made in workers.map(lambda some: (some, intervals_of(some)), found):
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
    strands = [found.along.counts] if found.others_along is None else [found.along.counts, found.others_along]
    parts = []
    for strand, counts in enumerate(strands):
        record, first, last = _runs(found, counts > 0)
        begins = np.ones(len(first), np.bool_)
        begins[1:] = (record[1:] != record[:-1]) | (first[1:] > last[:-1] + found.k)
        begin = np.flatnonzero(begins)
        end = np.append(begin[1:], len(begins))[: len(begin)] - 1
        key = np.full(len(begin), strand, np.int64)
        parts.append(_Intervals(record[begin], first[begin], last[end] + found.k, key))
    return parts[0] if len(parts) == 1 else _Intervals.joined(parts).merged()


def _counted(found: FoundKmers) -> _Intervals:
    """Places that follow each other and have one count."""
    record, first, last = _runs(found, found.along.counts)
    windows = found.along.starts[record] + first
    windows[record == 0] -= found.offset
    return _Intervals(record, first, last + 1, found.along.counts[windows].astype(np.int64))


def _runs(found: FoundKmers, key: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The longest runs of windows of a record that have one key, other than 0: record, first and last position."""
    along = found.along
    changes = np.ones(len(key) + 1, np.bool_)
    np.not_equal(key[1:], key[:-1], out=changes[1:-1])
    changes[along.starts] = True
    there = key != 0
    first, last = np.flatnonzero(there & changes[:-1]), np.flatnonzero(there & changes[1:])
    record = np.searchsorted(along.starts, first, side="right") - 1
    return record, along.positions(first, record, found.offset), along.positions(last, record, found.offset)
