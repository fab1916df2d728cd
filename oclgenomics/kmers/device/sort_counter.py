"""Counting on GPUs, and right on any device: k-mers cut out of packed symbols, sorted, and equal ones counted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.device.dealing import DealKernels
from oclgenomics.kmers.device.filtering import Kept, kept_runs
from oclgenomics.kmers.device.gathering import Part
from oclgenomics.kmers.device.kmer_starts import KmerStarts, StartKernels
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plan import DeviceLimits, SortPlan, kmers_at_a_time, split_prefixes
from oclgenomics.primitives import Runs, count_equal, key_prefix
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence import Symbols

__all__ = ["SortCounter"]


class SortCounter:
    """Counts the k-mers of streams of symbols: they are cut out, sorted and counted on the device.

    Attributes
    ----------
    kmers : int
        K-mers so far, equal ones included.
    prefixes : int
        Prefixes that ranges are made of.
    """

    def __init__(self, engine: Engine, options: CountOptions) -> None:
        self._engine, self._k = engine, options.k
        self._limits = DeviceLimits.of(engine)
        self._kernels, self._dealing = StartKernels(engine, options), DealKernels(engine, options)
        self._streams: list[KmerStarts] = []
        self.kmers, self.prefixes = 0, 1 << self._kernels.prefix_bits
        self._counts, self._counted = np.zeros(self.prefixes, np.int64), 0  # of the prefixes of the first streams

    def add(self, symbols: Symbols) -> None:
        """Find the k-mers of a stream."""
        self._streams.append(self._kernels.find(symbols))
        self.kmers += self._streams[-1].size

    def count_prefixes(self) -> None:
        """Count the prefixes of the streams that came since the last time."""
        if self._counted == len(self._streams):
            return
        counts = self._engine.empty(self.prefixes, np.uint32)
        self._engine.fill(counts, 0)
        for starts in self._streams[self._counted :]:
            self._kernels.count_prefixes(starts, counts)
        self._counted = len(self._streams)
        self._counts += self._engine.download(counts)

    def prefix_counts(self) -> NDArray[np.int64]:
        """How many k-mers have each prefix, int64 (prefixes,)."""
        self.count_prefixes()
        return self._counts

    @property
    def largest_prefix(self) -> int:
        """How many k-mers the prefix has that has most; those that were not counted by prefix may all be of it."""
        uncounted = sum(starts.size for starts in self._streams[self._counted :])
        return int(self._counts.max(initial=0)) + uncounted

    def room(self, free: int) -> int:
        """How many k-mers can be counted at a time in so many bytes."""
        return SortPlan(self._k, sum(len(starts.starts) for starts in self._streams)).room(free)

    def parts(self, free: int, kept: Kept) -> Iterator[Part]:
        """Count all k-mers in so many bytes, and yield those that are kept.

        Raises
        ------
        AllocationError
            There is no room for those of a single prefix.
        """
        most = kmers_at_a_time(self._limits, self._k, self.room(free))
        for runs, kmers in self.ranges(most):
            part = Part(kept_runs(self._engine, kept, runs), kmers)
            del runs
            yield part
            del part

    def ranges(self, most: int) -> Iterator[tuple[Runs, int]]:
        """Count all k-mers, at most `most` at a time; yield those that differ, and how many there are in all.

        Raises
        ------
        AllocationError
            The k-mers of a single prefix are more.
        """
        if self.kmers <= most:
            yield self.runs(0, self.prefixes), self.kmers
            return
        counts = self.prefix_counts()
        for low, high in split_prefixes(counts, most):
            yield self.runs(low, high), int(counts[low:high].sum())

    def runs(self, low: int, high: int) -> Runs:
        """Count the k-mers with prefixes `low` to `high` - 1; they stay on the device."""
        whole = high - low == self.prefixes
        chosen = self._streams if whole else [self._kernels.select(starts, low, high) for starts in self._streams]
        bits = 2 * self._k
        prefix = key_prefix(sum(starts.size for starts in chosen), bits)
        if prefix is not None and self._dealing.suit(chosen):
            return count_equal(self._engine, [self._dealing.deal(chosen, prefix)], bits=bits, ordered=1)
        return count_equal(self._engine, [self._written(chosen)], bits=bits)

    def _written(self, streams: list[KmerStarts]) -> DeviceArray:
        """The k-mers of streams in their order, uint64 (words, n)."""
        keys = self._engine.empty((key_words(self._k), sum(starts.size for starts in streams)), np.uint64)
        first = 0
        for starts in streams:
            self._kernels.write(starts, keys, first)
            first += starts.size
        return keys
