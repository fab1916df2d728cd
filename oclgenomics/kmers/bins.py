"""Counting on CPU devices, for k-mers of one word: bins by prefix, each sorted by NumPy on one core.

A first walk over the symbols counts the k-mers of each bin, so a second one can put every k-mer into its place at once:
nothing is sorted but bins, which fit the processor's caches. As many bins are filled at a time as memory allows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.options import CountOptions
from oclgenomics.primitives import Runs, run_lengths
from oclgenomics.primitives.host_sort import sort_parts
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel
from oclgenomics.sequence import Symbols

__all__ = ["BinnedWindows"]

BIN_BITS = 10  # more bins sort faster and fill slower: their lines and pages no longer fit the caches
ITEMS = 64  # work-items that share a stream of symbols


class BinnedWindows:
    """The windows of all streams of symbols, by bin.

    Attributes
    ----------
    size : int
        Windows so far.
    prefixes : int
        Bins.
    """

    def __init__(self, engine: Engine, options: CountOptions) -> None:
        self._engine, self._k, self._options = engine, options.k, options
        self._bits = min(BIN_BITS, 2 * options.k)
        self._shift = 2 * options.k - self._bits
        self._defines = {"BINS": 1 << self._bits, "CANONICAL": options.canonical}
        self._streams: list[Symbols] = []
        self._by_item: list[NDArray[np.uint32]] = []  # (bins, items) of each stream
        self.size, self.prefixes = 0, 1 << self._bits

    def add(self, symbols: Symbols) -> None:
        """Count the windows of a stream."""
        counts = self._engine.empty((1 << self._bits, ITEMS), np.uint32)
        self._engine.launch(self._kernel("count_bins"), (ITEMS,), (1,), *self._walk(symbols), counts)
        self._streams.append(symbols)
        self._by_item.append(self._engine.download(counts))
        self.size += int(self._by_item[-1].sum(dtype=np.int64))

    def prefix_counts(self) -> NDArray[np.int64]:
        """How many k-mers each bin has, int64 (bins,)."""
        bins = np.zeros(1 << self._bits, np.int64)
        for counts in self._by_item:
            bins += counts.sum(axis=1, dtype=np.int64)
        return bins

    def largest_prefix(self) -> int:
        """How many k-mers the bin has that has most."""
        return int(self.prefix_counts().max(initial=0))

    def room(self, free: int) -> int:
        """How many k-mers can be counted at a time in so many bytes.

        While bins are filled there are the places of all work-items; later a k-mer may be there once more, with its
        place and its count, where none is like it.
        """
        places = 4 * self.prefixes * ITEMS * len(self._streams)
        return max(0, min((free - places) // 8, free // (2 * 8 + 8)))

    def runs(self, low: int, high: int) -> Runs:
        """Count the k-mers of bins `low` to `high` - 1; they stay on the device."""
        by_item = np.concatenate([counts[low:high] for counts in self._by_item], axis=1)
        ends = np.cumsum(by_item, dtype=np.int64).reshape(by_item.shape)
        keys = self._fill(low, by_item, ends)
        with self._engine.mapped(keys) as host:
            sort_parts(host[0], ends[:, -1] - by_item.sum(axis=1, dtype=np.int64), ends[:, -1])
        return run_lengths(self._engine, keys, size=int(ends[-1, -1]))

    def _fill(self, low: int, by_item: NDArray[np.uint32], ends: NDArray[np.int64]) -> DeviceArray:
        size = int(ends[-1, -1])
        keys = self._engine.empty((1, size + ITEMS), np.uint64)
        places = self._engine.upload((ends - by_item).astype(np.uint32))
        bins = np.uint32(low), np.uint32(len(by_item)), np.uint32(size)
        for number, symbols in enumerate(self._streams):
            where = places, np.uint32(number * ITEMS), np.uint32(by_item.shape[1]), *bins
            self._engine.launch(self._kernel("fill_bins"), (ITEMS,), (1,), *self._walk(symbols), *where, keys)
        return keys

    def _walk(self, symbols: Symbols) -> tuple[object, ...]:
        groups = -(-symbols.size // 32)
        each = max(1, -(-groups // ITEMS))
        sizes = (groups, each, self._k, self._shift)
        return symbols.codes, symbols.valid, *map(np.uint32, sizes)

    def _kernel(self, name: str) -> Kernel:
        return self._engine.kernel("kmers/bins.cl", name, **self._defines)
