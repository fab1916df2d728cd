"""Look-ups on the host: the counts of all k-mers of sequences, and of given k-mers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.kmers.analysis.found import (
    FoundIntervals,
    FoundKmers,
    RecordCounts,
    RecordSummaries,
    count_intervals,
    counts_along,
    covered_intervals,
    summarise,
    table_of_rows,
)
from oclgenomics.kmers.database.keys import CODES, WORD_LETTERS, are_less, key_words, keys_of, letters_of, sortable
from oclgenomics.kmers.database.kmer_set import KmerSet
from oclgenomics.kmers.device.reader import KmerDatabase, KmerSource, opened
from oclgenomics.sequence.records import Record

COMPLEMENT = np.frombuffer(bytes(range(256)).translate(bytes.maketrans(b"ACGTacgt", b"TGCAtgca")), np.uint8)
PIECE = 1 << 14  # k-mers that are made at a time, in the cache


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
        return table_of_rows(FoundKmers.COLUMNS, itertools.chain.from_iterable(found.rows() for found in self))


@dataclass(frozen=True)
class NamedSequences:
    """Sequences as records; those that are text are named by their numbers."""

    sequences: Iterable[str | Record]
    k: int

    def __iter__(self) -> Iterator[Record]:
        for number, sequence in enumerate(self.sequences, 1):
            if isinstance(sequence, Record):
                yield sequence
                continue
            if len(sequence) < self.k:
                raise UsageError(f"{sequence!r} has {len(sequence)} bases; the database has k-mers of {self.k}")
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


def look_up_texts(found: KmerSet, kmers: Sequence[str]) -> NDArray[np.uint32]:
    """Return the counts of k-mers given as text; see `oclgenomics.kmers.counts_of`."""
    for kmer in kmers:
        if len(kmer) != found.k:
            raise UsageError(f"{kmer!r} has {len(kmer)} bases; the database has k-mers of {found.k}")
    keys = keys_of(kmers)
    if found.canonical:
        letters = np.pad(letters_of(keys, found.k), ((0, 0), (0, 1)))  # what is between them is no letter
        keys, _ = kmers_of_letters(letters.ravel(), found.k, canonical=True)
    return look_up(found, keys)


def look_up(kmers: KmerSet, keys: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return the counts of some keys, uint32 (n,); 0 where a key is not there.

    Parameters
    ----------
    kmers : KmerSet
    keys : ndarray, uint64 (words, n)
        In any order. For a canonical set, the lesser key of both strands.
    """
    # Neighbours are looked for in the same places, which are then in the cache.
    order = np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys)
    ascending = np.ascontiguousarray(keys[:, order])
    counts = np.empty(len(order), np.uint32)
    counts[order] = kmers.lookup(ascending) if isinstance(kmers, KmerDatabase) else _merged(kmers, ascending)
    return counts


def _merged(kmers: KmerSet, keys: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Look up ascending keys, block by block of the set."""
    wanted = sortable(keys)
    counts = np.zeros(len(wanted), np.uint32)
    for block in kmers.blocks():
        if len(block):
            held = sortable(block.keys)
            some = slice(np.searchsorted(wanted, held[0]), np.searchsorted(wanted, held[-1], side="right"))
            places = np.minimum(np.searchsorted(held, wanted[some]), len(held) - 1)
            there = held[places] == wanted[some]
            counts[some][there] = block.counts[places[there]]
    return counts


def kmers_of_letters(
    letters: NDArray[np.uint8], k: int, *, canonical: bool
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the k-mers of a sequence.

    Parameters
    ----------
    letters : ndarray, uint8 (n,)
        ASCII, in either case. K-mers with letters other than A, C, G and T are left out.
    k : int
    canonical : bool
        Take the lesser of a k-mer and its reverse complement.

    Returns
    -------
    keys : ndarray, uint64 (words, m)
    places : ndarray, int64 (m,)
        Where each k-mer begins, ascending.
    """
    codes = CODES[letters]
    bad = np.concatenate([[0], np.cumsum(codes > 3)])
    places = np.flatnonzero(bad[k:] == bad[:-k])
    if not len(places):
        return np.empty((key_words(k), 0), np.uint64), places
    keys = np.empty((key_words(k), len(codes) - k + 1), np.uint64)
    for begin in range(0, keys.shape[1], PIECE):
        part = (codes[begin : begin + PIECE + k - 1] & 3).astype(np.uint64)
        made = _keys(part, k)
        if canonical:
            other = _keys(np.uint64(3) - part[::-1], k)[:, ::-1]
            made = np.minimum(made, other) if len(made) == 1 else np.where(are_less(made, other), made, other)
        keys[:, begin : begin + PIECE] = made
    return (keys if len(places) == keys.shape[1] else keys[:, places]), places


def _keys(codes: NDArray[np.uint64], k: int) -> NDArray[np.uint64]:
    """The keys of all k-mers; words below the highest are the keys of 32 letters each."""
    words = key_words(k)
    count = len(codes) - k + 1
    keys = np.empty((words, count), np.uint64)
    keys[-1] = _packed(codes, k - WORD_LETTERS * (words - 1))[:count]
    if words > 1:
        whole = _packed(codes, WORD_LETTERS)
        for word in range(words - 1):
            begin = k - WORD_LETTERS * (word + 1)
            keys[word] = whole[begin : begin + count]
    return keys


def _packed(codes: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
    """The keys of all stretches of `size` letters, at most 32, joined from stretches of 1, 2, 4, ... letters."""
    made, letters = np.zeros(len(codes) + 1, np.uint64), 0
    part, width = codes, 1
    while True:
        if size & width:
            made = _joined(made, letters, part, width)
            letters += width
        if letters == size:
            return made
        part, width = _joined(part, width, part, width), 2 * width


def _joined(left: NDArray[np.uint64], left_size: int, right: NDArray[np.uint64], right_size: int) -> NDArray[np.uint64]:
    """The keys of stretches that begin as those of `left` and continue as those of `right`."""
    count = max(len(right) - left_size, 0)
    return (left[:count] << np.uint64(2 * right_size)) | right[left_size:]
