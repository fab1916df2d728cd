"""Counting on CPU devices: k-mers dealt out to bins by prefix, each counted by a table in the processor's caches.

A first walk over the symbols counts the k-mers of each bin and work-item, so a second one can put every k-mer into its
place at once. As many bins are filled at a time as memory allows; each range of bins takes a walk.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from oclgenomics.kmers.counting.bin_plan import PREFIX_BITS, BinPlan
from oclgenomics.kmers.counting.bin_prefixes import PrefixCounts, PrefixSpan, prefix_ranges
from oclgenomics.kmers.counting.bin_tables import BinTables
from oclgenomics.kmers.counting.bin_walks import BinWalks
from oclgenomics.kmers.counting.bins import Bins
from oclgenomics.kmers.counting.gathering import Part
from oclgenomics.kmers.options import MAX_COUNTER, CountOptions
from oclgenomics.kmers.plan import DeviceLimits
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Engine
from oclgenomics.sequence import Symbols

__all__ = ["BinCounter"]


class BinCounter:
    """Counts the k-mers of streams of symbols by bins.

    Attributes
    ----------
    kmers : int
        K-mers so far, equal ones included.
    """

    def __init__(self, engine: Engine, options: CountOptions) -> None:
        self._engine, self._k = engine, options.k
        self._limits = DeviceLimits.of(engine)
        plan = self._plan(0)
        span = PrefixSpan(0, PREFIX_BITS - plan.first_bits, 1 << plan.first_bits)
        self._counts = PrefixCounts(span, np.zeros((plan.walkers, span.bins), np.uint32))
        self._walks = BinWalks(engine, options, plan.walkers)
        self.kmers = 0

    def _plan(self, kmers: int) -> BinPlan:
        return BinPlan(self._limits, self._k, kmers)

    def add(self, symbols: Symbols) -> None:
        """Find and count the k-mers of a stream."""
        counts = self._walks.add(symbols, self._counts.span).counts
        np.add(self._counts.counts, counts, out=self._counts.counts)
        self.kmers += int(counts.sum(dtype=np.int64))

    def count_prefixes(self) -> None:
        """Do nothing: the prefixes were counted as streams came."""

    @property
    def largest_prefix(self) -> int:
        """How many k-mers the bin has that has most."""
        return int(self._counts.sizes.max(initial=0))

    def room(self, free: int) -> int:
        """How many k-mers can be counted at a time in so many bytes."""
        return self._plan(self.kmers).room(free)

    def parts(self, most: int) -> Iterator[Part]:
        """Count all k-mers, at most `most` at a time.

        Raises
        ------
        AllocationError
            More k-mers begin with the same 16 letters.
        """
        plan = self._plan(self.kmers)
        tables = BinTables(self._engine, plan, max(1, most // plan.parts))
        coarse = self._counts.coarser(plan.first_bits - plan.head_bits)
        # Keys are in memory of the host, whose pages are larger, so k-mers are dealt out faster.
        with self._engine.shared(plan.keys_bytes(min(most, self.kmers)), np.uint8) as keys:
            for counts in prefix_ranges(coarse, most, plan, self._walks.count):
                if counts.span.holds_kmers(self._k):
                    yield from self._counted(counts)
                else:
                    self._walks.fill(counts, keys.device, plan.key_bytes)
                    yield from tables.parts(keys.device, _filled(counts, plan.head_bits))

    def _counted(self, counts: PrefixCounts) -> Iterator[Part]:
        """The k-mers of bins that are one k-mer each."""
        span, sizes = counts.span, counts.sizes
        there = np.flatnonzero(sizes)
        if len(there):
            kmers = (span.low >> span.shift) + there.astype(np.uint64)
            times = np.minimum(sizes[there], MAX_COUNTER).astype(np.uint32)
            runs = Runs(self._engine.upload(kmers[None]), self._engine.upload(times), len(there))
            yield Part(runs, int(sizes.sum()))


def _filled(counts: PrefixCounts, head_bits: int) -> Bins:
    """The bins of a range that have k-mers, now that these are in them."""
    span, sizes = counts.span, counts.sizes
    heads = (span.low + (np.arange(span.bins) << span.shift)) >> (PREFIX_BITS - head_bits)
    return Bins(counts.begins, sizes, np.full(span.bins, PREFIX_BITS - span.shift), heads)[sizes > 0]
