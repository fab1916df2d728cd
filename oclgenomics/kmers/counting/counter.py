"""The counter: k-mers of some blocks, counted on the device in as many ranges of prefixes as it takes.

The packed symbols of the blocks stay in device memory (3/8 byte a letter, and on GPUs 1/4 for windows). Where not all
k-mers fit beside them, they are split by their prefixes into ranges that fit, and each is cut out of the symbols again.
`has_room` says when it is time to empty the counter and begin another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from oclgenomics.kmers.counting.bin_counter import BinCounter
from oclgenomics.kmers.counting.filtering import kept_runs
from oclgenomics.kmers.counting.gathering import Part, gather
from oclgenomics.kmers.counting.ranges import split_prefixes
from oclgenomics.kmers.counting.sort_counter import SortCounter
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.kmer_set import KmerBlock
from oclgenomics.kmers.options import CountOptions
from oclgenomics.primitives import Runs
from oclgenomics.primitives.keys import MAX_ITEMS
from oclgenomics.runtime import Engine
from oclgenomics.sequence import Symbols

__all__ = ["KmerCounter", "split_prefixes"]

SMALL_BYTES = 1 << 16  # for counts of tiles, totals of spans and their like
STREAM_BYTES = 1 << 18  # that are kept of a stream, beside a byte for each of its windows and half of one for the next
MAX_RANGES = 32  # each cuts all windows again: more would cost more than larger, hence fewer, runs save


class _Windows(Protocol):
    """Windows of all streams of symbols, by the prefix of their k-mers."""

    size: int

    def add(self, symbols: Symbols) -> None: ...

    def room(self, free: int) -> int: ...

    def largest_prefix(self) -> int: ...

    def parts(self, most: int) -> Iterator[Part]: ...


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
        self._windows: _Windows = (BinCounter if engine.tuning.cpu else SortCounter)(engine, options)

    @property
    def windows(self) -> int:
        """K-mers so far, equal ones included."""
        return self._windows.size

    def add(self, symbols: Symbols) -> None:
        """Take a stream of symbols; it has to stay as it is."""
        if symbols.size:
            self._windows.add(symbols)

    def has_room(self, symbols: Symbols) -> bool:
        """Whether a stream of symbols may be added, so that all can be counted in ranges that are few and fit.

        An empty counter takes any stream.
        """
        most = self._most_keys(STREAM_BYTES + symbols.size * 3 // 2)
        windows = self.windows + symbols.size
        if not self.windows or windows <= most:
            return True
        if windows > MAX_RANGES * most or self._engine.memory.used > self._engine.budget // 2:
            return False
        return self._windows.largest_prefix() + symbols.size <= most

    def block(self) -> KmerBlock:
        """Count what was added and bring it to the host as one block; see `runs`."""
        parts = self._parts(self._most_keys(), all_counts=False)
        return gather(self._engine, self._words, self.windows, parts)

    def runs(self, *, all_counts: bool = False) -> Iterator[Runs]:
        """Count what was added.

        Parameters
        ----------
        all_counts : bool
            Leave out nothing and stop no counter, whatever the options say.

        Yields
        ------
        Runs
            K-mers, uint64 (words, n), and their counts, uint32, in ascending order on the device; k-mers that the
            options leave out are not there. Whoever takes them lets go of them before asking for the next ones.

        Raises
        ------
        AllocationError
            The k-mers of a single prefix do not fit.
        """
        for part in self._parts(self._most_keys(), all_counts=all_counts):
            runs = part.runs
            del part
            if runs.size:
                yield runs
            del runs

    def _parts(self, most: int, *, all_counts: bool) -> Iterator[Part]:
        if not self.windows:
            return
        for part in self._windows.parts(most):
            kept = part if all_counts else Part(kept_runs(self._engine, self._options, part.runs), part.windows)
            del part
            yield kept
            del kept

    def _most_keys(self, reserved: int = 0) -> int:
        free = self._engine.budget - self._engine.memory.used - reserved
        largest = (self._engine.max_allocation - SMALL_BYTES) // (8 * self._words)
        return min(self._windows.room(free - SMALL_BYTES), largest, MAX_ITEMS)
