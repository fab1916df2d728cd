"""Counting on CPU devices: k-mers dealt out to bins by prefix, each counted by a table in the processor's caches.

A first walk over the symbols counts the k-mers of each bin and work-item, so a second one can put every k-mer into its
place at once. As many bins are filled at a time as memory allows; each range of bins takes a walk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.counting.bin_tables import MIN_KEY_BYTES, Bins, BinTables, bin_size, key_bytes, table_bytes
from oclgenomics.kmers.counting.gathering import Part
from oclgenomics.kmers.counting.ranges import no_room, split_prefixes
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.options import LARGEST_COUNTER, CountOptions
from oclgenomics.primitives import Runs
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence import Symbols

__all__ = ["BinCounter"]

SOURCE = "kmers/bin_counter.cl"
PREFIX_BITS = 32
MAX_BITS = 15  # of the prefix are counted at first: the counts of a work-item fit the second cache
FINER_BITS = 10  # that a prefix with too many k-mers is divided by at a time
COUNTS_SHARE = 64  # of the device's memory, which the counts may take
SPARE = 8  # bytes behind k-mers, as whole words are read and written
PART_BYTES, MIN_PARTS, MAX_PARTS = 4 << 20, 8, 64  # a range comes out in a part for each so many bytes of memory
BIN_BYTES = 40  # that describe a bin


@dataclass(frozen=True)
class _Stream:
    """Windows of a stream of symbols: letters, a bit for each place where a window starts, and groups of 32 places."""

    codes: DeviceArray
    starts: DeviceArray
    groups: int


@dataclass(frozen=True)
class _Prefixes:
    """Prefixes of 32 bits from `low` on, in bins of 2 ^ shift.

    Attributes
    ----------
    counts : ndarray, uint32 (items, bins)
        K-mers of each work-item.
    """

    low: int
    shift: int
    counts: NDArray[np.uint32]

    @property
    def sizes(self) -> NDArray[np.int64]:
        return self.counts.sum(axis=0, dtype=np.int64)

    @property
    def high(self) -> int:
        return self.low + (self.counts.shape[1] << self.shift)

    def part(self, first: int, end: int) -> _Prefixes:
        return _Prefixes(self.low + (first << self.shift), self.shift, self.counts[:, first:end])

    def coarser(self, bits: int) -> _Prefixes:
        """Join 2 ^ bits bins to one."""
        counts = self.counts.reshape(len(self.counts), -1, 1 << bits).sum(axis=2, dtype=np.uint32)
        return _Prefixes(self.low, self.shift + bits, counts)


class BinCounter:
    """The windows of all streams of symbols, by bin.

    Attributes
    ----------
    size : int
        Windows so far.
    """

    def __init__(self, engine: Engine, options: CountOptions) -> None:
        self._engine, self._k, self._words = engine, options.k, key_words(options.k)
        self._defines = {"WORDS": self._words, "CANONICAL": options.canonical, "SHORT": options.k < PREFIX_BITS // 2}
        self._items = 4 * engine.device.compute_units
        room = engine.budget // (COUNTS_SHARE * 4 * self._items)
        bits = min(MAX_BITS, 2 * options.k, max(1, room.bit_length() - 1))
        self._prefixes = _Prefixes(0, PREFIX_BITS - bits, np.zeros((self._items, 1 << bits), np.uint32))
        self._streams: list[_Stream] = []
        self.size = 0

    def add(self, symbols: Symbols) -> None:
        """Find and count the windows of a stream."""
        groups = -(-symbols.size // 32)
        stream = _Stream(symbols.codes, self._engine.empty(groups, np.uint32), groups)
        kernel = self._engine.kernel(SOURCE, "find_starts", **self._defines, KEY_BYTES=MIN_KEY_BYTES)
        sizes = groups, -(-groups // self._items), self._k
        self._engine.launch(kernel, (self._items,), (1,), symbols.valid, *map(np.uint32, sizes), stream.starts)
        counts = self._count([stream], 0, 1 << PREFIX_BITS, self._prefixes.shift)
        np.add(self._prefixes.counts, counts, out=self._prefixes.counts)
        self._streams.append(stream)
        self.size += int(counts.sum(dtype=np.int64))

    def largest_prefix(self) -> int:
        """How many k-mers the bin has that has most."""
        return int(self._prefixes.sizes.max(initial=0))

    def room(self, free: int) -> int:
        """How many k-mers can be counted at a time in so many bytes.

        Beside all k-mers of a range there are, of a part of them, the distinct k-mers with their counts, once more
        where some are left out; of that part and the next one, counts and what describes the bins, which hold a k-mer
        each at worst; and the places of the bins and the tables.
        """
        words, places = self._words, 2 * self._prefixes.counts.nbytes
        each = key_bytes(self._k, self._head_bits) + (2 * (8 * words + 4 + 5 + BIN_BYTES)) / self._parts
        return max(0, int((free - SPARE - table_bytes(self._engine, self._k) - places) / each))

    def parts(self, most: int) -> Iterator[Part]:
        """Count all k-mers, at most `most` at a time.

        Raises
        ------
        AllocationError
            More k-mers begin with the same 16 letters.
        """
        head_bits = self._head_bits
        tables = BinTables(self._engine, self._k, head_bits, max(1, most // self._parts))
        prefixes = self._prefixes.coarser(PREFIX_BITS - self._prefixes.shift - head_bits)
        bytes_each = key_bytes(self._k, head_bits)
        # In memory of the host, whose pages are larger: k-mers are dealt out faster.
        with self._engine.shared(min(most, self.size) * bytes_each + SPARE, np.uint8) as room:
            keys = room.device
            for some in self._ranges(prefixes, most):
                yield from self._distinct(some) if self._whole(some) else tables.parts(keys, self._fill(some, keys))

    @property
    def _parts(self) -> int:
        """Parts of a range: few where memory is little, as each takes some launches."""
        return min(max(MIN_PARTS, self._engine.budget // PART_BYTES), MAX_PARTS)

    @property
    def _head_bits(self) -> int:
        """Bits of a prefix that make bins of some size."""
        wanted = max(1, (self.size // bin_size(self._engine, self._k)).bit_length())
        return min(wanted, PREFIX_BITS - self._prefixes.shift)

    def _whole(self, prefixes: _Prefixes) -> bool:
        """Whether a prefix is a k-mer."""
        return PREFIX_BITS - prefixes.shift >= 2 * self._k

    def _ranges(self, prefixes: _Prefixes, most: int) -> Iterator[_Prefixes]:
        """Cut prefixes into parts of at most `most` k-mers; those that have more are divided by their next bits."""
        sizes = prefixes.sizes
        if self._whole(prefixes):
            yield prefixes
            return
        start = 0
        for heavy in [*np.flatnonzero(sizes > most).tolist(), len(sizes)]:
            for first, end in split_prefixes(sizes[start:heavy], most):
                yield prefixes.part(start + first, start + end)
            start = heavy + 1
            if heavy < len(sizes):
                yield from self._ranges(self._finer(prefixes.part(heavy, heavy + 1), most), most)

    def _finer(self, prefix: _Prefixes, most: int) -> _Prefixes:
        bits = min(FINER_BITS, prefix.shift, 2 * self._k - PREFIX_BITS + prefix.shift)
        if not bits:
            raise no_room(int(prefix.sizes[0]), most)
        shift = prefix.shift - bits
        return _Prefixes(prefix.low, shift, self._count(self._streams, prefix.low, prefix.high, shift))

    def _distinct(self, prefixes: _Prefixes) -> Iterator[Part]:
        sizes = prefixes.sizes
        there = np.flatnonzero(sizes)
        if len(there):
            kmers = (prefixes.low >> prefixes.shift) + there.astype(np.uint64)
            counts = np.minimum(sizes[there], LARGEST_COUNTER).astype(np.uint32)
            runs = Runs(self._engine.upload(kmers[None]), self._engine.upload(counts), len(there))
            yield Part(runs, int(sizes.sum()))

    def _fill(self, prefixes: _Prefixes, keys: DeviceArray) -> Bins:
        """Put the k-mers that have these prefixes into bins."""
        sizes = prefixes.sizes
        begins = np.cumsum(sizes) - sizes
        places = begins + np.cumsum(prefixes.counts, axis=0, dtype=np.int64) - prefixes.counts
        cursors = self._engine.upload(places.astype(np.uint32))
        self._walk("fill_bins", self._streams, prefixes.low, prefixes.high, prefixes.shift, cursors, keys)
        heads = (prefixes.low + (np.arange(len(sizes)) << prefixes.shift)) >> (PREFIX_BITS - self._head_bits)
        bins = Bins(begins, sizes, np.full(len(sizes), PREFIX_BITS - prefixes.shift), heads)
        return bins[sizes > 0]

    def _count(self, streams: list[_Stream], low: int, high: int, shift: int) -> NDArray[np.uint32]:
        """How many k-mers each work-item has in each bin, uint32 (items, bins)."""
        counts = self._engine.empty((self._items, (high - low) >> shift), np.uint32)
        self._engine.fill(counts, 0)
        self._walk("count_prefixes", streams, low, high, shift, counts)
        return self._engine.download(counts)

    def _walk(
        self,
        name: str,
        streams: list[_Stream],
        low: int,
        high: int,
        shift: int,
        by_item: DeviceArray,
        *out: DeviceArray,
    ) -> None:
        kept = {"KEY_BYTES": key_bytes(self._k, self._head_bits) if out else MIN_KEY_BYTES}
        kernel = self._engine.kernel(SOURCE, name, **self._defines, **kept)
        prefixes = (low, high - 1, shift, by_item.shape[1])
        for stream in streams:
            each = -(-stream.groups // self._items)
            sizes = (stream.groups, each, self._k, *prefixes)
            arrays = stream.codes, stream.starts
            self._engine.launch(kernel, (self._items,), (1,), *arrays, *map(np.uint32, sizes), by_item, *out)
