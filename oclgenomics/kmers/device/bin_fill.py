"""K-mers of packed symbols dealt out to bins on CPU devices, by lines that are collected for each bin.

Streams of symbols are walked once for each span of prefixes. Nothing is counted before: bins are chains of chunks,
which walkers take from a pool as they need them. A span whose k-mers do not fit the pool is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plan.bins import (
    CHUNK_BYTES,
    CHUNK_LINES,
    PREFIX_BITS,
    PrefixSpan,
    key_bytes,
    stage_bytes,
    stage_keys,
    stage_lines,
)
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence import Symbols

BLOCK = 1 << 10  # groups that a walker takes at a time
LEAST_BLOCK, BLOCKS = 32, 16  # of a short stream, a walker takes about so many blocks
MAX_BINS = 1 << 16  # their numbers take 16 bits
ALL = slice(None)
MAX_CHUNKS = (1 << 32) // CHUNK_LINES - 1  # numbers of lines take 32 bits
GRANT, GRANTS_SHARE = 16, 256  # chunks that a walker takes at a time, at most, and no more than one in so many


@dataclass(frozen=True)
class _Stream:
    """A stream of symbols: letters, a bit for each place where a k-mer starts, and groups of 32 places."""

    codes: DeviceArray
    starts: DeviceArray
    groups: int


class BinFiller:
    """Finds the k-mers of streams of symbols and deals those of a span out to bins.

    Parameters
    ----------
    engine : Engine
        Of a CPU device.
    options : CountOptions
    walkers : int, optional
        Work-items that walk the streams; one for each compute unit if not given.

    Attributes
    ----------
    kmers : int
        K-mers of all streams.
    """

    def __init__(self, engine: Engine, options: CountOptions, walkers: int | None = None) -> None:
        self._engine, self._k, self._canonical = engine, options.k, options.canonical
        self._walkers = engine.device.compute_units if walkers is None else walkers
        self._streams: list[_Stream] = []
        self.kmers = 0

    # Streams

    def add(self, symbols: Symbols) -> int:
        """Add a stream, which must stay as it is, and return how many k-mers it has."""
        groups = -(-symbols.size // 32)
        if not groups:
            return 0
        engine, walkers = self._engine, self._walkers
        starts, kmers = engine.empty(groups, np.uint32), engine.empty(walkers, np.uint64)
        kernel = engine.kernel("kmers/find_starts.cl", "find_starts")
        each = -(-groups // walkers)
        arguments = {"valid": symbols.valid, "groups": groups, "each": each, "k": self._k}
        engine.launch(kernel, (walkers,), (1,), **arguments, starts=starts, kmers=kmers)
        found = int(engine.download(kmers).sum())
        if found:
            self._streams.append(_Stream(symbols.codes, starts, groups))
        self.kmers += found
        return found

    @property
    def groups(self) -> int:
        """Groups of 32 symbols of all streams."""
        return sum(stream.groups for stream in self._streams)

    @property
    def streams(self) -> int:
        """How many streams have k-mers."""
        return len(self._streams)

    def density(self, span: PrefixSpan, *, every: int) -> NDArray[np.int64]:
        """Count k-mers of a sample by the bins of a span.

        Parameters
        ----------
        span : PrefixSpan
            Bins may be one k-mer each.
        every : int
            One group of 32 symbols in so many is looked at; of 1 all k-mers are counted.

        Returns
        -------
        ndarray, int64 (span.bins,)
        """
        engine, walkers = self._engine, self._walkers
        counts = engine.empty((walkers, span.bins), np.uint64)
        engine.fill(counts, 0)
        prefixes = {"low": span.low, "last": span.high - 1, "shift": span.shift, "bins": span.bins}
        short = self._k < PREFIX_BITS // 2
        kernel = engine.kernel("kmers/sample_prefixes.cl", "sample_prefixes", CANONICAL=self._canonical, SHORT=short)
        for stream in self._streams:
            arguments = {"codes": stream.codes, "starts": stream.starts, "groups": stream.groups, "every": every}
            engine.launch(kernel, (walkers,), (1,), **arguments, **prefixes, k=self._k, counts=counts)
        found: NDArray[np.int64] = engine.download(counts).sum(axis=0).astype(np.int64)
        return found

    # Bins

    def fill(self, span: PrefixSpan, pool: DeviceArray, *, streams: slice = ALL) -> FilledBins | None:
        """Deal the k-mers of a span out to bins.

        Parameters
        ----------
        span : PrefixSpan
            Bins of more than one k-mer each, at most 65,536. It begins where a bin of its size may.
        pool : DeviceArray, uint8
            Memory for k-mers, of whole chunks of 4,096 bytes. What is in it does not matter.
        streams : slice
            Those whose k-mers are wanted.

        Returns
        -------
        FilledBins or None
            None if the pool is too small.

        Raises
        ------
        ValueError
            Such a span or pool is not possible.
        """
        self._check(span, pool)
        engine, shape = self._engine, (self._walkers, span.bins)
        rest, chunks = span.rest(self._k), min(pool.nbytes // CHUNK_BYTES, MAX_CHUNKS)
        grant = max(1, min(GRANT, chunks // (GRANTS_SHARE * self._walkers)))
        chunks -= chunks % grant
        stages, staged = engine.empty((*shape, stage_bytes(rest)), np.uint8), engine.empty(shape, np.uint8)
        places, granted = engine.empty(shape, np.uint32), engine.empty((self._walkers, 2), np.uint32)
        owners, counters = engine.empty(max(chunks, 1), np.uint16), engine.empty(1 + len(self._streams), np.uint32)
        for array in (stages, staged, places, granted, counters):
            engine.fill(array, 0)
        memory = {"counters": counters, "granted": granted, "stages": stages, "staged": staged}
        memory |= {"places": places, "owners": owners}
        prefixes = [span.low, span.high - 1, span.shift, span.bins]
        facts = engine.upload(np.array([self._k, *prefixes, rest, chunks, grant], np.uint32))
        for number, stream in enumerate(self._streams[streams]):
            self._walk(number, stream, span, shape=facts, pool=pool, **memory)
        taken = int(engine.download(counters, 1)[0])
        if taken > chunks:
            return None
        chains = engine.download(owners, taken), engine.download(places)
        lists = ChunkLists.of(*chains, span.bins, stage_lines(rest), engine.download(granted))
        return self._filled(span, pool, stages, engine.download(staged).astype(np.uint32), lists)

    def _check(self, span: PrefixSpan, pool: DeviceArray) -> None:
        """Refuse what the kernel could not take, before it writes anything."""
        if not 0 <= span.low < span.high <= 1 << PREFIX_BITS or span.bins > MAX_BINS:
            raise ValueError(f"{span} has prefixes of more than 32 bits, or no bins or more than {MAX_BINS:,}")
        if not 0 <= span.shift < PREFIX_BITS or span.rest(self._k) < 1:
            raise ValueError(f"{span} has bins of one k-mer, or as large as all prefixes")
        if span.low % (1 << span.shift):
            raise ValueError(f"{span} begins within a bin")
        if pool.nbytes % CHUNK_BYTES:
            raise ValueError(f"a pool of {pool.nbytes} bytes is no whole number of chunks of {CHUNK_BYTES}")

    def _walk(self, number: int, stream: _Stream, span: PrefixSpan, **arguments: Any) -> None:
        """Enqueue the walk of all walkers over a stream."""
        rest = span.rest(self._k)
        defines = {"WORDS": key_words(self._k), "CANONICAL": self._canonical}
        defines |= {"KEY_BYTES": key_bytes(rest), "STAGE_LINES": stage_lines(rest)}
        each = min(BLOCK, max(LEAST_BLOCK, stream.groups // (BLOCKS * self._walkers)))
        self._engine.launch(
            self._engine.kernel("kmers/fill_bins.cl", "fill_bins", **defines), (self._walkers,), (1,),
            codes=stream.codes, starts=stream.starts, groups=stream.groups, each=each, stream=number, **arguments,
        )  # fmt: skip

    def _filled(
        self, span: PrefixSpan, pool: DeviceArray, stages: DeviceArray, staged: NDArray[np.uint32], lists: ChunkLists
    ) -> FilledBins:
        """Describe what the walks have left."""
        engine, rest = self._engine, span.rest(self._k)
        return FilledBins(
            span, rest, lists.sizes // stage_lines(rest) * stage_keys(rest) + staged.sum(axis=0, dtype=np.int64), pool,
            lists, engine.upload(lists.packed), stages, engine.upload(staged),
        )  # fmt: skip


@dataclass(frozen=True)
class ChunkLists:
    """Chunks sorted by bin.

    Attributes
    ----------
    begins : ndarray, uint32 (bins + 1,)
        Chunks of bin b are chunks[begins[b]] to chunks[begins[b + 1] - 1].
    chunks : ndarray, uint32 (n,)
        Numbers of chunks in the pool.
    lines : ndarray, uint32 (n,)
        Lines that each of `chunks` has.
    """

    begins: NDArray[np.uint32]
    chunks: NDArray[np.uint32]
    lines: NDArray[np.uint32]

    @classmethod
    def of(
        cls, owners: NDArray[np.uint16], places: NDArray[np.uint32], bins: int, together: int, spare: NDArray[np.uint32]
    ) -> ChunkLists:
        """Sort chunks.

        Parameters
        ----------
        owners : ndarray, uint16 (n,)
            The bin of each chunk.
        places : ndarray, uint32
            Lines of the pool behind the last one that was stored, for each bin and walker. Where it is a multiple of
            `CHUNK_LINES`, no chunk is open; other chunks are whole.
        bins : int
        together : int
            Lines of a stage. A chunk that is whole has as many stages as it takes.
        spare : ndarray, uint32 (n, 2)
            Chunks that nobody has, from the first number of each row to the one before the second; their owners mean
            nothing.
        """
        lines = np.full(len(owners), CHUNK_LINES // together * together, np.uint32)
        owned = np.ones(len(owners), np.bool_)
        for first, end in spare.tolist():
            owned[first:end] = False
        there = np.flatnonzero(owned)
        owners = owners[there]
        unfinished = places[places % CHUNK_LINES > 0]
        lines[unfinished // CHUNK_LINES] = unfinished % CHUNK_LINES
        order = there[np.argsort(owners, kind="stable")].astype(np.uint32)
        begins = np.zeros(bins + 1, np.uint32)
        np.cumsum(np.bincount(owners, minlength=bins), out=begins[1:])
        return cls(begins, order, lines[order])

    @property
    def packed(self) -> NDArray[np.uint32]:
        """All three, one behind the other."""
        return np.concatenate([self.begins, self.chunks, self.lines])

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Lines of each bin, int64 (bins,)."""
        before = np.concatenate([[0], np.cumsum(self.lines, dtype=np.int64)])
        sizes: NDArray[np.int64] = np.diff(before[self.begins])
        return sizes


@dataclass(frozen=True)
class FilledBins:
    """The k-mers of a span, by bin.

    A key is the bits of a k-mer behind the prefix of its bin, a little-endian number of `key_bytes(rest)` bytes. Keys
    are collected in stages of `stage_lines(rest)` lines, which each walker has for each bin. Full ones lie in chunks of
    `CHUNK_LINES` lines, keys that fill none in the stages.

    Attributes
    ----------
    span : PrefixSpan
    rest : int
        Bits of a key.
    sizes : ndarray, int64 (bins,)
        K-mers of each bin, those in stages included.
    pool : DeviceArray, uint8
        The chunks.
    lists : ChunkLists
        Which chunks are those of a bin, and how many whole lines each has.
    listed : DeviceArray, uint32
        The same, packed.
    stages : DeviceArray, uint8 (walkers, bins, stage_bytes(rest))
    staged : DeviceArray, uint32 (walkers, bins)
        Keys in each stage, fewer than it takes.
    """

    span: PrefixSpan
    rest: int
    sizes: NDArray[np.int64]
    pool: DeviceArray
    lists: ChunkLists
    listed: DeviceArray
    stages: DeviceArray
    staged: DeviceArray
