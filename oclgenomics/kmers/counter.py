"""The counter: k-mers of all blocks, counted on the device in as many ranges of prefixes as it takes.

The packed symbols of the whole input stay in device memory (3/8 byte a letter, and on GPUs 1/4 for windows). Where not
all k-mers fit beside them, they are split by their prefixes into ranges that fit, and each is cut out of the symbols
again. So what comes out of a range is final: nothing is written to disk, and nothing merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from oclgenomics.kmers.bins import BinnedWindows
from oclgenomics.kmers.filtering import kept_runs
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.prefixed import PrefixedWindows
from oclgenomics.kmers.ranges import split_prefixes
from oclgenomics.kmers.sets import KmerBlock
from oclgenomics.primitives import Runs
from oclgenomics.primitives.keys import MOST_ITEMS
from oclgenomics.runtime import Engine
from oclgenomics.sequence import Symbols

__all__ = ["KmerCounter", "split_prefixes"]

SMALL_BYTES = 1 << 16  # for counts of tiles, totals of spans and their like


class _Windows(Protocol):
    """Windows of all streams of symbols, by the prefix of their k-mers."""

    size: int

    def add(self, symbols: Symbols) -> None: ...

    def room(self, free: int) -> int: ...

    def parts(self, most: int) -> Iterator[Runs]: ...


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
        self._windows: _Windows = (BinnedWindows if engine.tuning.cpu else PrefixedWindows)(engine, options)

    @property
    def windows(self) -> int:
        """K-mers so far, equal ones included."""
        return self._windows.size

    def add(self, symbols: Symbols) -> None:
        """Take a stream of symbols; it has to stay as it is."""
        if symbols.size:
            self._windows.add(symbols)

    def blocks(self) -> Iterator[KmerBlock]:
        """Count what was added and bring it to the host; see `runs`."""
        for runs in self.runs():
            block = KmerBlock(self._engine.download(runs.keys), self._engine.download(runs.counts))
            del runs
            yield block

    def runs(self) -> Iterator[Runs]:
        """Count what was added.

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
        if not self.windows:
            return
        for part in self._windows.parts(self._most_keys()):
            runs = kept_runs(self._engine, self._options, part)
            del part
            if runs.size:
                yield runs
            del runs

    def _most_keys(self) -> int:
        free = self._engine.budget - self._engine.memory.used
        largest = self._engine.max_allocation // (8 * self._words)
        return min(self._windows.room(free - SMALL_BYTES), largest, MOST_ITEMS)
