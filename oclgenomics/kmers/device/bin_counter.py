"""Counting on CPU devices: k-mers dealt out to bins by prefix, each counted by a table in the processor's caches.

The pool of bins holds a part of all k-mers, so prefixes are cut into spans that fit it one after the other; each takes
a walk over the symbols. A sample of these tells how many k-mers have which prefixes. Where it misleads, the pool fills
up, and the span is cut again.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import DeviceError
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import KmerBlock, join
from oclgenomics.kmers.device.bin_fill import BinFiller, FilledBins
from oclgenomics.kmers.device.line_tables import TablesOfAnyRest, slots_for
from oclgenomics.kmers.device.parts import EVERY, Kept, Part, downloaded, uploaded
from oclgenomics.kmers.device.slots import runs_of
from oclgenomics.kmers.options import MAX_COUNTER, CountOptions
from oclgenomics.kmers.plan.bins import (
    CHUNK_BYTES,
    CHUNK_LINES,
    PREFIX_BITS,
    BinPlan,
    PrefixDensity,
    PrefixSpan,
    key_bytes,
    planned_spans,
    stage_bytes,
    stage_keys,
    stage_lines,
)
from oclgenomics.kmers.plan.memory import no_room
from oclgenomics.primitives import Runs
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence import Symbols

MARGIN, LEAST_SHARE = 1.1, 1 / 16  # of the slots that bins may take
PIECE = 1 << 18  # k-mers of a part


class BinCounter:
    """Counts the k-mers of streams of symbols by bins.

    Attributes
    ----------
    kmers : int
        K-mers so far, equal ones included.
    largest_prefix : int
        No prefix has too many k-mers: 0.
    """

    def __init__(self, engine: Engine, options: CountOptions) -> None:
        self._engine, self._k, self._compressed = engine, options.k, options.compressed
        self._limits = engine.limits()
        self.kmers = self.largest_prefix = 0
        self._filler = BinFiller(engine, options, self._plan(0).walkers)

    def _plan(self, free: int) -> BinPlan:
        return BinPlan(self._limits, self._k, free, self.kmers)

    def add(self, symbols: Symbols) -> None:
        """Find the k-mers of a stream."""
        self.kmers += self._filler.add(symbols)

    def count_prefixes(self) -> None:
        """Do nothing: no prefix has too many k-mers."""

    def room(self, free: int) -> int:
        """How many k-mers can be counted at a time in so many bytes."""
        return self._plan(free).room

    def parts(self, free: int, kept: Kept) -> Iterator[Part]:
        """Count all k-mers in so many bytes, and yield those that are kept.

        Raises
        ------
        AllocationError
            There is no room for those of a single stream that begin with the same 16 letters.
        DeviceError
            Some were not counted, or twice.
        """
        plan = self._plan(free)
        if plan.exact:
            yield self._each(kept)
            return
        with (
            self._engine.shared(plan.pool_bytes, np.uint8) as pool,
            TablesOfAnyRest(self._engine, plan.table_lines, plan.part_slots, compressed=self._compressed) as tables,
        ):
            counted = 0
            for part in _Pooled(self._engine, plan, self._filler, pool.device, tables, kept).parts():
                counted += part.kmers
                yield part
                del part
            if counted != self.kmers:
                raise DeviceError(f"{counted:,} k-mers were counted instead of {self.kmers:,}")

    def _each(self, kept: Kept) -> Part:
        """The k-mers that have a counter each."""
        bits = 2 * self._k
        times = self._filler.density(PrefixSpan(0, PREFIX_BITS - bits, 1 << bits), every=1)
        there = np.flatnonzero((times >= max(kept.least, 1)) & (times <= kept.most))
        counts = np.minimum(times[there], kept.cap).astype(np.uint32)
        keys = self._engine.upload(there.astype(np.uint64)[None])
        return Part(Runs(keys, self._engine.upload(counts), len(there)), self.kmers)


class _Pooled:
    """Counting with a pool."""

    def __init__(
        self, engine: Engine, plan: BinPlan, filler: BinFiller, pool: DeviceArray, tables: TablesOfAnyRest, kept: Kept
    ) -> None:
        self._engine, self._plan, self._filler, self._pool = engine, plan, filler, pool
        self._tables, self._kept = tables, kept
        self._every = plan.every(filler.groups)
        self._share = 1.0  # of the slots that bins may take, those that they will take

    def parts(self) -> Iterator[Part]:
        bits = self._plan.density_bits
        whole = self._density(PrefixSpan(0, PREFIX_BITS - bits, 1 << bits))
        for span in planned_spans(self._plan, whole, self._density):
            yield from self._counted(span)

    def _density(self, span: PrefixSpan) -> PrefixDensity:
        return PrefixDensity(span, self._every * self._filler.density(span, every=self._every))

    def _counted(self, span: PrefixSpan) -> Iterator[Part]:
        """The k-mers of a span: all at once, or cut where they are too many for the pool, or for a table."""
        pieces = self._pieces(span)
        if pieces > 1:
            yield from self._alike(span, pieces)
            return
        filled = self._filler.fill(span, self._pool)
        if filled is None:
            yield from self._cut(span)
            return
        failed = yield from self._tabled(filled)
        if failed is not None:
            yield from self._cut(span.cut(failed, failed + 1))
            if failed + 1 < span.bins:
                yield from self._counted(span.cut(failed + 1, span.bins))

    def _tabled(self, filled: FilledBins) -> Generator[Part, None, int | None]:
        """The k-mers of bins, up to one that is too much for a table; return its number."""
        slots = slots_for(filled.sizes, self._plan.table_lines)
        first = 0
        while first < len(slots):
            end = reach(slots, first, self._plan.part_slots(filled.rest) / self._share)
            counted = self._tables.count(filled, first, end, self._kept)
            stop = int(counted.overfull.min(initial=counted.end))
            yield Part(counted.slots.first(stop - first), int(filled.sizes[first:stop].sum()))
            if stop < counted.end:
                return stop
            self._share = share_taken(counted.taken, slots[first:stop])
            first = stop
            del counted
        return None

    def _cut(self, span: PrefixSpan) -> Iterator[Part]:
        """The k-mers of a span, smaller ones at a time."""
        if span.bins > 1:
            half = span.bins // 2
            smaller = [span.cut(0, half), span.cut(half, span.bins)]
        else:
            bits = self._plan.finer_bits(span.shift)
            smaller = [span.divided(bits)] if bits else []
        for one in smaller:
            yield from self._counted(one)
        if not smaller:
            yield from self._alike(span, 1)

    def _pieces(self, span: PrefixSpan) -> int:
        """How many times the pool the k-mers of a span take that cannot be cut, by a sample; 1 of others."""
        if span.bins > 1 or self._plan.finer_bits(span.shift):
            return 1
        return -(-int(self._density(span).kmers[0]) // self._plan.bin_kmers(span.rest(self._plan.k)))

    def _alike(self, span: PrefixSpan, pieces: int) -> Iterator[Part]:
        """The k-mers of a span of one bin, some streams at a time."""

        alike = EqualPrefixes(self._engine, self._plan.k, self._filler, self._pool, self._tables)
        yield from alike.parts(span, self._kept, pieces)


def reach(slots: NDArray[np.int64], first: int, room: float) -> int:
    """The bin behind those from `first` on that have room, one at least."""
    return first + max(1, int(np.searchsorted(np.cumsum(slots[first:]), room, side="right")))


def share_taken(taken: int, slots: NDArray[np.int64]) -> float:
    """The share of slots that bins will take, by those that some took: all where none found room."""
    return min(1.0, max(LEAST_SHARE, MARGIN * taken / int(slots.sum()))) if len(slots) else 1.0


class EqualPrefixes:
    """Counts the k-mers of spans of one bin.

    Parameters
    ----------
    engine : Engine
    k : int
    filler : BinFiller
    pool : DeviceArray, uint8
    tables : TablesOfAnyRest
    """

    def __init__(self, engine: Engine, k: int, filler: BinFiller, pool: DeviceArray, tables: TablesOfAnyRest) -> None:
        self._engine, self._k, self._filler, self._pool, self._tables = engine, k, filler, pool, tables

    def parts(self, span: PrefixSpan, kept: Kept, pieces: int) -> Iterator[Part]:
        """Count the k-mers of a span.

        Parameters
        ----------
        span : PrefixSpan
        kept : Kept
        pieces : int
            Of the streams that are counted one by one. Those that the pool does not hold are halved.

        Raises
        ------
        AllocationError
            The pool does not hold those of a single stream.
        """
        block, kmers = KmerBlock(np.empty((key_words(self._k), 0), np.uint64), np.empty(0, np.uint32)), 0
        streams = self._filler.streams
        bounds = [streams * piece // min(pieces, streams) for piece in range(min(pieces, streams) + 1)]
        for filled in chain.from_iterable(self._pieces(span, *pair) for pair in pairwise(bounds)):
            kmers += int(filled.sizes[0])
            both = join(key_words(self._k), [block, self._distinct(filled)])
            block = distinct_of(both.keys, both.counts)
        for piece in block.within(kept.least, kept.most, kept.cap).pieces(PIECE):
            yield Part(uploaded(self._engine, piece), kmers)
            kmers = 0

    def _pieces(self, span: PrefixSpan, first: int, end: int) -> Iterator[FilledBins]:
        """The k-mers of some streams at a time; each piece is done with before the next one is asked for."""
        filled = self._filler.fill(span, self._pool, streams=slice(first, end))
        if filled is not None:
            yield filled
        elif end - first == 1:
            raise no_room(self._filler.density(span, every=1)[0], self._pool.nbytes // key_bytes(span.rest(self._k)))
        else:
            half = (first + end) // 2
            yield from self._pieces(span, first, half)
            yield from self._pieces(span, half, end)

    def _distinct(self, filled: FilledBins) -> KmerBlock:
        counted = self._tables.count(filled, 0, 1, EVERY)
        if len(counted.overfull):
            return distinct_of(self._keys(filled))
        runs = runs_of(self._engine, counted.slots, self._k)
        return downloaded(self._engine, runs)

    def _keys(self, filled: FilledBins) -> NDArray[np.uint64]:
        """All k-mers of a bin, uint64 (words, n)."""
        size, each, together = key_bytes(filled.rest), stage_keys(filled.rest), stage_lines(filled.rest)
        chunks, lines = filled.lists.chunks, filled.lists.lines
        end = int(chunks.max(initial=0)) + 1
        pool = self._engine.download(filled.pool, end * CHUNK_BYTES).reshape(-1, CHUNK_BYTES)
        full, room = CHUNK_LINES // together, stage_bytes(filled.rest)
        laid = pool[chunks, : full * room].reshape(-1, full, room)
        whole = laid[np.arange(full) < lines[:, None] // together][:, : each * size].reshape(-1, size)
        stages = self._engine.download(filled.stages)[:, 0, : each * size].reshape(-1, each, size)
        staged = stages[np.arange(each) < self._engine.download(filled.staged)[:, :1]]
        there = np.concatenate([whole, staged])
        words = np.pad(there, [(0, 0), (0, -size % 8)]).view(np.uint64)
        keys = np.zeros((key_words(self._k), len(words)), np.uint64)
        keys[: words.shape[1]] = words.T
        word, shift = divmod(filled.rest, 64)
        head = int(filled.span.heads[0])
        keys[word] |= np.uint64(head << shift & (1 << 64) - 1)
        if head >> (64 - shift):
            keys[word + 1] |= np.uint64(head >> (64 - shift))
        return keys


def distinct_of(keys: NDArray[np.uint64], counts: NDArray[np.uint32] | None = None) -> KmerBlock:
    """The distinct ones of some k-mers in ascending order, and the sums of their counts, which stop at 2^32 - 1.

    Parameters
    ----------
    keys : uint64 (words, n)
    counts : uint32 (n,), optional
        1 each if not given.
    """
    order = np.lexsort(keys)
    keys = keys[:, order]
    begins = np.flatnonzero(np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)])[: len(order)])
    times = np.ones(len(order), np.uint64) if counts is None else counts[order].astype(np.uint64)
    sums = np.add.reduceat(times, begins) if len(begins) else times[:0]
    return KmerBlock(keys[:, begins], np.minimum(sums, MAX_COUNTER).astype(np.uint32))
