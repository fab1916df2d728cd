"""The counter: windows of all blocks, cut, sorted and run-length encoded on the device, in as many ranges as it takes.

The packed symbols of the whole input stay in device memory (3/8 byte a letter). Where all k-mers fit beside them they
are sorted at once; else the k-mers are split by their prefixes into ranges of about equal numbers, and each is cut out
of the symbols again. So what comes out of a range is final: nothing is written to disk, and nothing merged.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import AllocationError
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.options import LARGEST_COUNTER, CountOptions
from oclgenomics.kmers.sets import KmerBlock
from oclgenomics.kmers.windows import WindowKernels, Windows
from oclgenomics.primitives import Runs, compact, run_lengths, sort
from oclgenomics.primitives.keys import MOST_ITEMS
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.faults import readable_bytes
from oclgenomics.sequence import Symbols

__all__ = ["KmerCounter"]

COPIES = 2  # of the k-mers while they are sorted
RUN_BYTES = 16  # of what each k-mer may leave: a place and a count, and their scans


class KmerCounter:
    """Counts the k-mers of streams of symbols.

    Parameters
    ----------
    engine : Engine
    options : CountOptions
    """

    def __init__(self, engine: Engine, options: CountOptions) -> None:
        self._engine, self._options = engine, options
        self._kernels = WindowKernels(engine, options)
        self._words = key_words(options.k)
        self._windows: list[Windows] = []

    @property
    def windows(self) -> int:
        """K-mers so far, equal ones included."""
        return sum(windows.size for windows in self._windows)

    def add(self, symbols: Symbols) -> None:
        """Take a stream of symbols; it has to stay as it is."""
        if symbols.size:
            self._windows.append(self._kernels.find(symbols))

    def blocks(self) -> Iterator[KmerBlock]:
        """Count what was added.

        Yields
        ------
        KmerBlock
            In ascending order; k-mers that the options leave out are not there.

        Raises
        ------
        AllocationError
            The k-mers of a single prefix do not fit.
        """
        for low, high in self._ranges():
            block = self._count(low, high)
            if len(block):
                yield block

    def _ranges(self) -> list[tuple[int, int]]:
        """Ranges of prefixes that fit into memory one at a time."""
        prefixes, most = 1 << self._kernels.prefix_bits, self._most_keys()
        if self.windows <= most:
            return [(0, prefixes)]
        counts = self._engine.empty(prefixes, np.uint32)
        self._engine.fill(counts, 0)
        for windows in self._windows:
            self._kernels.count_prefixes(windows, counts)
        return split_prefixes(self._engine.download(counts), most)

    def _most_keys(self) -> int:
        free = self._engine.budget - self._engine.memory.used
        each = COPIES * 8 * self._words + RUN_BYTES
        return min(free // each, self._engine.max_allocation // (8 * self._words), MOST_ITEMS)

    def _count(self, low: int, high: int) -> KmerBlock:
        whole = high - low == 1 << self._kernels.prefix_bits
        parts = self._windows if whole else [self._kernels.select(windows, low, high) for windows in self._windows]
        size = sum(part.size for part in parts)
        if not size:
            return KmerBlock(np.zeros((self._words, 0), np.uint64), np.zeros(0, np.uint32))
        keys = self._engine.empty((self._words, size), np.uint64)
        first = 0
        for part in parts:
            self._kernels.write(part, keys, first)
            first += part.size
        del parts
        ordered = sort(self._engine, keys, bits=2 * self._options.k).keys
        del keys
        return self._kept(run_lengths(self._engine, ordered))

    def _kept(self, runs: Runs) -> KmerBlock:
        """The k-mers that the options ask for, on the host."""
        options, keys, counts = self._options, runs.keys, runs.counts
        if options.min_count > 1 or options.max_count < LARGEST_COUNTER:
            flags = self._flags(counts, runs.size)
            keys, counts = compact(self._engine, keys, flags), compact(self._engine, counts, flags)
        found: NDArray[np.uint32] = self._engine.download(counts)
        if options.counter_max < LARGEST_COUNTER:
            np.minimum(found, options.counter_max, out=found)
        return KmerBlock(self._engine.download(keys), found)

    def _flags(self, counts: DeviceArray, size: int) -> DeviceArray:
        flags = self._engine.empty(size, np.uint8)
        lanes = self._engine.tuning.local_size
        limits = np.uint32(self._options.min_count), np.uint32(min(self._options.max_count, LARGEST_COUNTER))
        shape = (-(-size // lanes) * lanes,), (lanes,)
        self._engine.launch(self._kernels.flag_counts, *shape, counts, np.uint64(size), *limits, flags)
        return flags


def split_prefixes(counts: NDArray[np.uint32], most: int) -> list[tuple[int, int]]:
    """Cut the prefixes into ranges of at most `most` k-mers each.

    Raises
    ------
    AllocationError
        One prefix has more.
    """
    if counts.max(initial=0) > most:
        raise AllocationError(
            f"{int(counts.max()):,} k-mers begin with the same letters, and memory holds {most:,}; raise --max-memory "
            f"(each k-mer takes about {readable_bytes(COPIES * 8 + RUN_BYTES)})"
        )
    before = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    ranges, low = [], 0
    while low < len(counts):
        high = int(np.searchsorted(before, before[low] + most, side="right")) - 1
        ranges.append((low, high))
        low = high
    return ranges
