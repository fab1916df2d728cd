"""K-mers that begin with the same letters, and are too many for the pool or a table: counted in pieces of the input.

This is rare, so what the pieces have is joined on the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.device.bin_fill import BinFiller
from oclgenomics.kmers.device.filled_bins import FilledBins
from oclgenomics.kmers.device.filtering import EVERY, Kept
from oclgenomics.kmers.device.gathering import Part
from oclgenomics.kmers.device.layout import CHUNK_BYTES, CHUNK_LINES, LINE_BYTES, key_bytes, line_keys
from oclgenomics.kmers.device.line_tables import TablesOfAnyRest
from oclgenomics.kmers.device.prefix_span import PrefixSpan
from oclgenomics.kmers.device.slot_runs import runs_of
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.kmer_set import KmerBlock
from oclgenomics.kmers.options import MAX_COUNTER
from oclgenomics.kmers.plan import no_room
from oclgenomics.primitives import Runs
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["EqualPrefixes", "distinct_of"]

PIECE = 1 << 18  # k-mers of a part


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
            block = _joined(block, self._distinct(filled))
        stay = (block.counts >= kept.least) & (block.counts <= kept.most)
        keys, counts = np.compress(stay, block.keys, axis=1), np.minimum(block.counts[stay], np.uint32(kept.cap))
        for begin in range(0, len(counts), PIECE):
            some = keys[:, begin : begin + PIECE], counts[begin : begin + PIECE]
            runs = Runs(self._engine.upload(some[0]), self._engine.upload(some[1]), len(some[1]))
            yield Part(runs, 0 if begin else kmers)
            del runs

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
        return KmerBlock(self._engine.download(runs.keys), self._engine.download(runs.counts))

    def _keys(self, filled: FilledBins) -> NDArray[np.uint64]:
        """All k-mers of a bin, uint64 (words, n)."""
        size, each = key_bytes(filled.rest), line_keys(filled.rest)
        lines = self._engine.download(filled.lines)
        pool = self._engine.download(filled.pool, len(lines) * CHUNK_BYTES).reshape(-1, CHUNK_LINES, LINE_BYTES)
        chunks = pool[self._engine.download(filled.chunks)]
        whole = chunks[np.arange(CHUNK_LINES) < lines[:, None]][:, : each * size].reshape(-1, size)
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


def _joined(one: KmerBlock, other: KmerBlock) -> KmerBlock:
    return distinct_of(np.concatenate([one.keys, other.keys], axis=1), np.concatenate([one.counts, other.counts]))
