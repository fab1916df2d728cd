"""K-mers cut out of packed symbols, on the device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.counting.gathering import Part
from oclgenomics.kmers.counting.ranges import split_prefixes
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.options import CountOptions
from oclgenomics.primitives import Runs, run_lengths, scan, sort
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel
from oclgenomics.sequence import Symbols

__all__ = ["SortCounter"]

PREFIX_BITS = 16
CPU_ITEMS = 256  # work-items that share the writing of k-mers
SOURCE = "kmers/sort_counter.cl"


@dataclass(frozen=True)
class _Windows:
    """Windows of a stream of symbols.

    Attributes
    ----------
    symbols : Symbols
    starts : DeviceArray, uint32 (groups,)
        A bit for each symbol, the first of a group highest: a window starts here.
    places : DeviceArray, uint32 (groups,)
        Windows before each group.
    size : int
        Windows in all.
    """

    symbols: Symbols
    starts: DeviceArray
    places: DeviceArray
    size: int


class _WindowKernels:
    """Finds windows, selects some by the prefix of their k-mers, and writes k-mers."""

    def __init__(self, engine: Engine, options: CountOptions) -> None:
        self._engine, self._k = engine, np.uint32(options.k)
        self.prefix_bits = min(PREFIX_BITS, 2 * options.k)
        self._defines = {
            "WORDS": key_words(options.k),
            "CANONICAL": options.canonical,
            "CPU": engine.tuning.cpu,
        }

    def find(self, symbols: Symbols) -> _Windows:
        """Find all windows of k letters."""
        starts = self._engine.empty(-(-symbols.size // 32), np.uint32)
        self._each_group("find_windows", symbols, symbols.valid, np.uint32(len(starts)), self._k, starts)
        return self._counted(symbols, starts)

    def select(self, windows: _Windows, low: int, high: int) -> _Windows:
        """Return the windows whose k-mers have a prefix from `low` to `high` - 1."""
        symbols, selected = windows.symbols, self._engine.empty(len(windows.starts), np.uint32)
        prefixes = np.uint32(self.prefix_bits), np.uint32(low), np.uint32(high)
        groups = np.uint32(len(selected))
        self._each_group("select_windows", symbols, symbols.codes, windows.starts, groups, self._k, *prefixes, selected)
        return self._counted(symbols, selected)

    def count_prefixes(self, windows: _Windows, counts: DeviceArray) -> None:
        """Add how many k-mers have each prefix to `counts`, uint32 (2 ** prefix_bits,)."""
        symbols, bits = windows.symbols, np.uint32(self.prefix_bits)
        groups = np.uint32(len(windows.starts))
        self._each_group("count_prefixes", symbols, symbols.codes, windows.starts, groups, self._k, bits, counts)

    def write(self, windows: _Windows, keys: DeviceArray, first: int) -> None:
        """Write the k-mers to keys[:, first] and on, uint64 (words, n)."""
        groups = len(windows.starts)
        if not windows.size:
            return
        cpu = self._engine.tuning.cpu
        each = -(-groups // CPU_ITEMS) if cpu else 1
        items = -(-groups // each) if cpu else groups * 32
        where = np.uint64(keys.shape[-1]), np.uint64(first)
        arrays = windows.symbols.codes, windows.starts, windows.places
        sizes = np.uint32(groups), np.uint32(each), self._k
        lanes = 1 if cpu else None
        self._engine.launch_items(self._kernel("write_kmers"), items, *arrays, *sizes, *where, keys, lanes=lanes)

    def _counted(self, symbols: Symbols, starts: DeviceArray) -> _Windows:
        groups = len(starts)
        places = self._engine.empty(groups + 1, np.uint32)
        self._engine.fill(places, 0)
        self._each_group("count_starts", symbols, starts, np.uint32(groups), places)
        scan(self._engine, places, out=places)
        return _Windows(symbols, starts, places, int(self._engine.download(places, 1, groups)[0]))

    def _kernel(self, name: str) -> Kernel:
        return self._engine.kernel(SOURCE, name, **self._defines)

    def _each_group(self, name: str, symbols: Symbols, *args: object) -> None:
        self._engine.launch_items(self._kernel(name), -(-symbols.size // 32), *args)


class SortCounter:
    """The windows of all streams of symbols; k-mers are cut out, sorted and counted on the device.

    Attributes
    ----------
    size : int
        Windows so far.
    prefixes : int
        Prefixes that ranges are made of.
    """

    def __init__(self, engine: Engine, options: CountOptions) -> None:
        self._engine, self._options = engine, options
        self._words = key_words(options.k)
        self._kernels = _WindowKernels(engine, options)
        self._streams: list[_Windows] = []
        self.size, self.prefixes = 0, 1 << self._kernels.prefix_bits
        self._counts, self._counted = np.zeros(self.prefixes, np.int64), 0  # of the prefixes of the first streams

    def add(self, symbols: Symbols) -> None:
        """Find the windows of a stream."""
        self._streams.append(self._kernels.find(symbols))
        self.size += self._streams[-1].size

    def prefix_counts(self) -> NDArray[np.int64]:
        """How many k-mers have each prefix, int64 (prefixes,)."""
        counts = self._engine.empty(self.prefixes, np.uint32)
        self._engine.fill(counts, 0)
        for windows in self._streams[self._counted :]:
            self._kernels.count_prefixes(windows, counts)
        self._counted = len(self._streams)
        self._counts += self._engine.download(counts)
        return self._counts

    def largest_prefix(self) -> int:
        """How many k-mers the prefix has that has most."""
        return int(self.prefix_counts().max(initial=0))

    def room(self, free: int) -> int:
        """How many k-mers can be counted at a time in so many bytes.

        A k-mer is there twice while it is sorted, beside the counts of the sort's tiles and the windows of the range;
        then once more with its place and count where none is like it.
        """
        selected = sum(8 * len(windows.starts) for windows in self._streams)
        return max(0, (free - selected) // (3 * 8 * self._words + 8))

    def parts(self, most: int) -> Iterator[Part]:
        """Count all k-mers, at most `most` at a time.

        Raises
        ------
        AllocationError
            The k-mers of a single prefix are more.
        """
        if self.size <= most:
            yield Part(self.runs(0, self.prefixes), self.size)
            return
        counts = self.prefix_counts()
        for low, high in split_prefixes(counts, most):
            yield Part(self.runs(low, high), int(counts[low:high].sum()))

    def runs(self, low: int, high: int) -> Runs:
        """Count the k-mers with prefixes `low` to `high` - 1; they stay on the device."""
        whole = high - low == self.prefixes
        parts = self._streams if whole else [self._kernels.select(windows, low, high) for windows in self._streams]
        keys = self._engine.empty((self._words, sum(part.size for part in parts)), np.uint64)
        first = 0
        for part in parts:
            self._kernels.write(part, keys, first)
            first += part.size
        return run_lengths(self._engine, sort(self._engine, keys, bits=2 * self._options.k).keys)
