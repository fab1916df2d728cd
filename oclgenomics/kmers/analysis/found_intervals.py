"""Where the k-mers of a set lie in sequences: intervals for BED and bedGraph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.kmers.analysis.found_kmers import FoundKmers

__all__ = ["FoundIntervals", "count_intervals", "covered_intervals"]

STRANDS = ("+", "-")


@dataclass(frozen=True, repr=False)
class FoundIntervals:
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

    def records(self) -> Iterator[dict[str, Any]]:
        """A record for each interval."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows())

    def to_frame(self) -> Any:
        """The records as a table; see `oclgenomics.app.frames.to_frame`."""
        held = list(self.rows())
        return to_frame({name: [row[place] for row in held] for place, name in enumerate(self.columns)})


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
