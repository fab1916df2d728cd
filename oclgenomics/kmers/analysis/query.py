"""Counts of given k-mers, and of all k-mers of given sequences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.kmers.analysis.kmers_of_letters import kmers_of_letters
from oclgenomics.kmers.arithmetic import sortable
from oclgenomics.kmers.database.reader import KmerDatabase
from oclgenomics.kmers.keys import key_words, keys_of, letters_of
from oclgenomics.kmers.kmer_set import KmerSet
from oclgenomics.sequence.records import Record

__all__ = ["FoundKmers", "RecordSummaries", "count_kmers", "look_up", "query_records", "summarise"]

BATCH_LETTERS = 1 << 22  # looked up at a time


@dataclass(frozen=True)
class FoundKmers:
    """The k-mers of some sequences, in their order, with their counts in a set.

    Attributes
    ----------
    names : list of str
        Of the sequences.
    record : ndarray, int64 (n,)
        Which of them a k-mer is of.
    position : ndarray, int64 (n,)
        Where it begins there, from 0.
    text : ndarray, uint8
        The sequences' letters, in which k-mers begin at `places`.
    places : ndarray, int64 (n,)
    counts : ndarray, uint32 (n,)
        0 where the set has no such k-mer.
    whole : bool
        No sequence goes on in the next `FoundKmers`.
    """

    names: list[str]
    record: NDArray[np.int64]
    position: NDArray[np.int64]
    text: NDArray[np.uint8]
    places: NDArray[np.int64]
    counts: NDArray[np.uint32]
    whole: bool

    def letters(self, k: int, part: slice = slice(None)) -> NDArray[np.uint8]:
        """The k-mers, or a part of them, as they stand in the sequences but in upper case; uint8 (n, k)."""
        if not len(self.places):
            return np.empty((0, k), np.uint8)
        upper = np.lib.stride_tricks.sliding_window_view(self.text, k)[self.places[part]]
        upper &= np.uint8(0xDF)  # a letter's case is one bit
        return upper


@dataclass(frozen=True)
class RecordSummaries:
    """What the counts of each sequence's k-mers come to.

    Attributes
    ----------
    names : list of str
    kmers, found : ndarray, int64 (n,)
        K-mers of each sequence, repetitions included, and those of them that the set has.
    mean, median : ndarray, float64 (n,)
        Of the counts, zeros included; not a number where a sequence has no k-mer.
    """

    names: list[str]
    kmers: NDArray[np.int64]
    found: NDArray[np.int64]
    mean: NDArray[np.float64]
    median: NDArray[np.float64]


def look_up(kmers: KmerSet, keys: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return the counts of some keys, uint32 (n,); 0 where a key is not there.

    Parameters
    ----------
    kmers : KmerSet
    keys : ndarray, uint64 (words, n)
        In any order; of a canonical set, the lesser of both strands.
    """
    # Neighbours are looked for in the same places, which are then in the cache.
    order = np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys)
    ascending = np.ascontiguousarray(keys[:, order])
    counts = np.empty(len(order), np.uint32)
    counts[order] = kmers.lookup(ascending) if isinstance(kmers, KmerDatabase) else _merged(kmers, ascending)
    return counts


def _merged(kmers: KmerSet, keys: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Counts of ascending keys, block by block of the set."""
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


def count_kmers(kmers: KmerSet, words: list[str]) -> NDArray[np.uint32]:
    """Return the counts of k-mers given as text, in either case and of either strand; uint32 (n,).

    Raises
    ------
    UsageError
        One that does not have k letters, or others than A, C, G and T.
    """
    for word in words:
        if len(word) != kmers.k:
            raise UsageError(f"{word!r} has {len(word)} letters; the database has k-mers of {kmers.k}")
    keys = keys_of(words)
    if kmers.canonical:
        letters = np.pad(letters_of(keys, kmers.k), ((0, 0), (0, 1)))  # what parts them is no letter
        keys, _ = kmers_of_letters(letters.ravel(), kmers.k, canonical=True)
    return look_up(kmers, keys)


def query_records(
    kmers: KmerSet, records: Iterable[Record], *, batch_letters: int = BATCH_LETTERS
) -> Iterator[FoundKmers]:
    """Look up every k-mer of sequences, some sequences at a time, or some of a long one.

    Parameters
    ----------
    kmers : KmerSet
    records : iterable of Record
    batch_letters : int
        About so many letters are looked up at a time.

    Yields
    ------
    FoundKmers
    """
    batch: list[Record] = []
    size = 0
    for record in records:
        if batch and size + len(record.letters) > batch_letters:
            yield _found(kmers, batch)
            batch, size = [], 0
        if len(record.letters) > batch_letters:
            yield from _found_in_parts(kmers, record, batch_letters)
        else:
            batch.append(record)
            size += len(record.letters)
    if batch:
        yield _found(kmers, batch)


def _found_in_parts(kmers: KmerSet, record: Record, size: int) -> Iterator[FoundKmers]:
    """A long sequence; parts overlap by k - 1 letters."""
    last = len(record.letters) - kmers.k + 1
    for begin in range(0, max(last, 1), size):
        part = Record(record.name, record.letters[begin : begin + size + kmers.k - 1])
        yield _found(kmers, [part], begin, whole=begin + size >= last)


def _found(kmers: KmerSet, records: list[Record], offset: int = 0, *, whole: bool = True) -> FoundKmers:
    text = np.frombuffer(b"\n".join([record.letters for record in records]), np.uint8)
    starts = np.cumsum([0] + [len(record.letters) + 1 for record in records[:-1]])
    if len(text) < kmers.k:
        keys, places = np.empty((key_words(kmers.k), 0), np.uint64), np.empty(0, np.int64)
    else:
        keys, places = kmers_of_letters(text, kmers.k, canonical=kmers.canonical)
    number = np.searchsorted(starts, places, side="right") - 1
    counts = look_up(kmers, keys)
    names = [record.name for record in records]
    return FoundKmers(names, number, places - starts[number] + offset, text, places, counts, whole)


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
