"""The counter: windows of all blocks, cut, sorted and run-length encoded on the device, in as many ranges as it takes.

The packed symbols of the whole input stay in device memory (3/8 byte a letter). Where all k-mers fit beside them they
are sorted at once; else the k-mers are split by their prefixes into ranges of about equal numbers, and each is cut out
of the symbols again. So what comes out of a range is final: nothing is written to disk, and nothing merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import AllocationError
from oclgenomics.kmers.bins import BinnedWindows
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.options import LARGEST_COUNTER, CountOptions
from oclgenomics.kmers.prefixed import PrefixedWindows
from oclgenomics.kmers.sets import KmerBlock
from oclgenomics.primitives import Runs, compact, run_lengths
from oclgenomics.primitives.keys import MOST_ITEMS
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence import Symbols

__all__ = ["KmerCounter", "split_prefixes"]

RUN_BYTES = 16  # of what each k-mer may leave: a place and a count, and their scans


class _Windows(Protocol):
    """Windows of all streams of symbols, by the prefix of their k-mers."""

    size: int
    copies: int  # of the k-mers while they are put in order
    prefixes: int

    def add(self, symbols: Symbols) -> None: ...

    def prefix_counts(self) -> NDArray[np.int64]: ...

    def ordered(self, low: int, high: int) -> tuple[DeviceArray, int]: ...


class KmerCounter:
    """Counts the k-mers of streams of symbols.

    Parameters
    ----------
    engine : Engine
    options : CountOptions
    """

    def __init__(self, engine: Engine, options: CountOptions) -> None:
        self._engine, self._options = engine, options
        self._words = key_words(options.k)
        binned = engine.tuning.cpu and self._words == 1
        self._windows: _Windows = (BinnedWindows if binned else PrefixedWindows)(engine, options)

    @property
    def windows(self) -> int:
        """K-mers so far, equal ones included."""
        return self._windows.size

    def add(self, symbols: Symbols) -> None:
        """Take a stream of symbols; it has to stay as it is."""
        if symbols.size:
            self._windows.add(symbols)

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
        for runs in self.runs():
            block = self._kept(runs)
            del runs
            if len(block):
                yield block

    def runs(self) -> Iterator[Runs]:
        """Count what was added, and leave it on the device: all k-mers, by range.

        Raises
        ------
        AllocationError
            As `blocks`.
        """
        if not self.windows:
            return
        most = self._most_keys()
        everything = [(0, self._windows.prefixes)]
        ranges = everything if self.windows <= most else split_prefixes(self._windows.prefix_counts(), most)
        for low, high in ranges:
            keys, size = self._windows.ordered(low, high)
            yield run_lengths(self._engine, keys, size=size)
            del keys

    def _most_keys(self) -> int:
        free = self._engine.budget - self._engine.memory.used
        each = self._windows.copies * 8 * self._words + RUN_BYTES + 8 * self._words
        return min(free // each, self._engine.max_allocation // (8 * self._words), MOST_ITEMS)

    def _kept(self, runs: Runs) -> KmerBlock:
        """The k-mers that the options ask for, on the host."""
        options, keys, counts = self._options, runs.keys, runs.counts
        if options.min_count > 1 or options.max_count < LARGEST_COUNTER:
            flags = self._flags(counts, runs.size)
            keys, counts = compact(self._engine, keys, flags), compact(self._engine, counts, flags)
        found: NDArray[np.uint32] = self._engine.download(counts)
        if options.counter_max < LARGEST_COUNTER:
            np.minimum(found, options.counter_max, out=found)
        return KmerBlock(self._engine.download(keys).reshape(self._words, -1), found)

    def _flags(self, counts: DeviceArray, size: int) -> DeviceArray:
        flags = self._engine.empty(size, np.uint8)
        lanes = self._engine.tuning.local_size
        limits = np.uint32(self._options.min_count), np.uint32(min(self._options.max_count, LARGEST_COUNTER))
        shape = (-(-size // lanes) * lanes,), (lanes,)
        kernel = self._engine.kernel("kmers/flag_counts.cl", "flag_counts")
        self._engine.launch(kernel, *shape, counts, np.uint64(size), *limits, flags)
        return flags


def split_prefixes(counts: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """Cut the prefixes into ranges of at most `most` k-mers each; ranges without any are left out.

    Raises
    ------
    AllocationError
        One prefix has more.
    """
    if counts.max(initial=0) > most:
        raise AllocationError(
            f"{int(counts.max()):,} k-mers begin with the same letters, and there is room for {most:,}; "
            "raise --max-memory"
        )
    before = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    ranges, low = [], 0
    while low < len(counts):
        high = int(np.searchsorted(before, before[low] + most, side="right")) - 1
        if before[high] > before[low]:
            ranges.append((low, high))
        low = high
    return ranges
