"""Looks up all k-mers of given sequences."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.errors import UsageError
from oclgenomics.kmers.analysis.found_intervals import FoundIntervals, count_intervals, covered_intervals
from oclgenomics.kmers.analysis.found_kmers import FoundKmers, RecordSummaries, summarise
from oclgenomics.kmers.analysis.kmers_of_letters import kmers_of_letters
from oclgenomics.kmers.analysis.look_up import look_up
from oclgenomics.kmers.analysis.record_counts import RecordCounts, counts_along
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.kmer_set import KmerSet
from oclgenomics.kmers.source import KmerSource, opened
from oclgenomics.sequence.records import Record

__all__ = ["QueryResult", "query"]

BATCH_LETTERS = 1 << 22  # looked up at a time
COMPLEMENT = np.frombuffer(bytes(range(256)).translate(bytes.maketrans(b"ACGTacgt", b"TGCAtgca")), np.uint8)


@dataclass(frozen=True, repr=False)
class QueryResult:
    """The counts of all k-mers of some sequences.

    K-mers are looked up while they are read, some sequences at a time, and nothing is kept. The result can be read
    again unless the sequences came from an iterator.

    Attributes
    ----------
    source : path or KmerSet
    k : int
    sequences : iterable of Record
    batch_letters : int
        About so many letters are looked up at a time.
    both_strands : bool
        The reverse complements are looked up as well, in a set that is not canonical.
    """

    source: KmerSource
    k: int
    sequences: Iterable[Record]
    batch_letters: int
    both_strands: bool = False

    def __repr__(self) -> str:
        return f"QueryResult(k={self.k}, source={self.source!r})"

    def __iter__(self) -> Iterator[FoundKmers]:
        """Look up some sequences at a time, or a part of a long one."""
        with opened(self.source) as kmers:
            look_up = _LookUp(kmers, self.both_strands and not kmers.canonical)
            yield from look_up.records(self.sequences, self.batch_letters)

    def by_record(self) -> Iterator[RecordSummaries]:
        """Summarise each sequence, some sequences at a time."""
        return summarise(self)

    def along_records(self) -> Iterator[RecordCounts]:
        """The counts along each sequence, some sequences at a time, or a part of a long one."""
        return map(counts_along, self)

    def intervals(self) -> Iterator[FoundIntervals]:
        """The letters that k-mers of the set cover, on each strand if both were looked up."""
        return covered_intervals(self)

    def count_intervals(self) -> Iterator[FoundIntervals]:
        """Stretches of places at which k-mers of the set with equal counts start."""
        return count_intervals(self)

    def records(self) -> Iterator[dict[str, Any]]:
        """A record for each k-mer: the name of its sequence, its position from 1, its letters and its count."""
        return itertools.chain.from_iterable(found.records() for found in self)

    def to_frame(self) -> Any:
        """The records as a table, all of them in memory; see `oclgenomics.app.frames.to_frame`."""
        rows = [row for found in self for row in found.rows()]
        return to_frame({name: [row[place] for row in rows] for place, name in enumerate(FoundKmers.COLUMNS)})


def query(
    source: KmerSource,
    sequences: str | Iterable[str | Record],
    *,
    batch_letters: int = BATCH_LETTERS,
    both_strands: bool = False,
) -> QueryResult:
    """Look up every k-mer of sequences; no device is needed.

    Parameters
    ----------
    source : path or KmerSet
        A database or a set in memory. In a canonical one, either strand may be given.
    sequences : str or iterable of str or Record
        One sequence of at least k letters; several, which are named 1, 2, ...; or the records of a file, as
        `oclgenomics.sequence.records.read_records` gives them. K-mers with letters other than A, C, G and T are left
        out. Lower case counts as upper case.
    batch_letters : int
        About so many letters are looked up at a time.
    both_strands : bool
        In a set that is not canonical, look up the reverse complements as well, for `QueryResult.intervals`.

    Returns
    -------
    QueryResult

    Raises
    ------
    UsageError
        A sequence given as text is shorter than a k-mer. This is raised when the result is read.
    InputError
        The database is missing or damaged.

    Examples
    --------
    >>> from oclgenomics.kmers import query
    >>> for record in query("reads.db", ["GATTACAGATTACAGATTACA"]).records():  # doctest: +SKIP
    ...     print(record["kmer"], record["count"])
    """
    with opened(source) as kmers:
        k = kmers.k
    given = [sequences] if isinstance(sequences, str) else sequences
    return QueryResult(source, k, _Named(given, k), batch_letters, both_strands)


@dataclass(frozen=True)
class _Named:
    """Sequences as records; those that are text are named by their numbers."""

    sequences: Iterable[str | Record]
    k: int

    def __iter__(self) -> Iterator[Record]:
        for number, sequence in enumerate(self.sequences, 1):
            if isinstance(sequence, Record):
                yield sequence
                continue
            if len(sequence) < self.k:
                raise UsageError(f"{sequence!r} has {len(sequence)} letters; the database has k-mers of {self.k}")
            yield Record(str(number), sequence.encode("ascii", "replace"))


@dataclass(frozen=True)
class _LookUp:
    """Looks up the k-mers of records, with or without their reverse complements."""

    kmers: KmerSet
    both_strands: bool

    def records(self, records: Iterable[Record], batch_letters: int) -> Iterator[FoundKmers]:
        """Look up some records at a time, or a part of a long one."""
        batch: list[Record] = []
        size = 0
        for record in records:
            if batch and size + len(record.letters) > batch_letters:
                yield self._found(batch)
                batch, size = [], 0
            if len(record.letters) > batch_letters:
                yield from self._found_in_parts(record, batch_letters)
            else:
                batch.append(record)
                size += len(record.letters)
        if batch:
            yield self._found(batch)

    def _found_in_parts(self, record: Record, size: int) -> Iterator[FoundKmers]:
        """Look up a long sequence in parts that overlap by k - 1 letters."""
        last = len(record.letters) - self.kmers.k + 1
        for begin in range(0, max(last, 1), size):
            part = Record(record.name, record.letters[begin : begin + size + self.kmers.k - 1])
            yield self._found([part], begin, whole=begin + size >= last)

    def _found(self, records: list[Record], offset: int = 0, *, whole: bool = True) -> FoundKmers:
        kmers, k = self.kmers, self.kmers.k
        text = np.frombuffer(b"\n".join([record.letters for record in records]), np.uint8)
        sizes = np.array([len(record.letters) for record in records])
        starts = np.cumsum(sizes + 1) - sizes - 1
        keys, places = _kmers_of(text, kmers)
        number = np.searchsorted(starts, places, side="right") - 1
        counts = look_up(kmers, keys)
        others = look_up(kmers, _kmers_of(COMPLEMENT[text[::-1]], kmers)[0])[::-1] if self.both_strands else None
        names = [record.name for record in records]
        windows = np.maximum(sizes - k + 1, 0)
        position = places - starts[number] + offset
        return FoundKmers(k, names, number, position, text, places, counts, whole, windows, offset, others)


def _kmers_of(text: NDArray[np.uint8], kmers: KmerSet) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    if len(text) < kmers.k:
        return np.empty((key_words(kmers.k), 0), np.uint64), np.empty(0, np.int64)
    return kmers_of_letters(text, kmers.k, canonical=kmers.canonical)
