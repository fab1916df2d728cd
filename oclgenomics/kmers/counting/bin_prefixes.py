"""K-mers by the first 32 bits of theirs: how many each bin of prefixes has, and ranges of bins that fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.counting.bin_plan import PREFIX_BITS, BinPlan
from oclgenomics.kmers.plan import no_room, split_prefixes

__all__ = ["PrefixCounts", "PrefixSpan", "prefix_ranges"]


@dataclass(frozen=True)
class PrefixSpan:
    """Prefixes of 32 bits from `low` on, in so many bins of 2 ^ shift each."""

    low: int
    shift: int
    bins: int

    @property
    def high(self) -> int:
        """The prefix behind the last one."""
        return self.low + (self.bins << self.shift)

    def cut(self, first: int, end: int) -> PrefixSpan:
        """Bins `first` to `end` - 1."""
        return PrefixSpan(self.low + (first << self.shift), self.shift, end - first)

    def divided(self, bits: int) -> PrefixSpan:
        """The same prefixes, each bin divided into 2 ^ bits."""
        return PrefixSpan(self.low, self.shift - bits, self.bins << bits)

    def holds_kmers(self, k: int) -> bool:
        """Whether a bin is one k-mer."""
        return PREFIX_BITS - self.shift >= 2 * k


@dataclass(frozen=True)
class PrefixCounts:
    """How many k-mers the bins of a span have.

    Attributes
    ----------
    span : PrefixSpan
    counts : ndarray, uint32 (walkers, bins)
        K-mers of each work-item.
    """

    span: PrefixSpan
    counts: NDArray[np.uint32]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """K-mers of each bin, int64 (bins,)."""
        sizes: NDArray[np.int64] = self.counts.sum(axis=0, dtype=np.int64)
        return sizes

    @property
    def begins(self) -> NDArray[np.int64]:
        """Where each bin begins if they lie one after the other, int64 (bins,)."""
        sizes = self.sizes
        return np.cumsum(sizes) - sizes

    @property
    def places(self) -> NDArray[np.uint32]:
        """Where each work-item's k-mers of a bin begin, uint32 (walkers, bins)."""
        places = self.begins + np.cumsum(self.counts, axis=0, dtype=np.int64) - self.counts
        return places.astype(np.uint32)

    def cut(self, first: int, end: int) -> PrefixCounts:
        """Bins `first` to `end` - 1."""
        return PrefixCounts(self.span.cut(first, end), self.counts[:, first:end])

    def coarser(self, bits: int) -> PrefixCounts:
        """Join 2 ^ bits bins to one."""
        counts = self.counts.reshape(len(self.counts), -1, 1 << bits).sum(axis=2, dtype=np.uint32)
        return PrefixCounts(PrefixSpan(self.span.low, self.span.shift + bits, counts.shape[1]), counts)


def prefix_ranges(
    counts: PrefixCounts, most: int, plan: BinPlan, count: Callable[[PrefixSpan], PrefixCounts]
) -> Iterator[PrefixCounts]:
    """Cut bins into ranges of at most `most` k-mers; bins that have more are divided by their next bits.

    Parameters
    ----------
    counts : PrefixCounts
        Bins that are one k-mer each are a single range, however many there are of it.
    most : int
    plan : BinPlan
    count : callable
        Counts the k-mers of finer bins.

    Raises
    ------
    AllocationError
        More k-mers begin with the same 16 letters.
    """
    if counts.span.holds_kmers(plan.k):
        yield counts
        return
    sizes = counts.sizes
    start = 0
    for heavy in [*np.flatnonzero(sizes > most).tolist(), len(sizes)]:
        for first, end in split_prefixes(sizes[start:heavy], most):
            yield counts.cut(start + first, start + end)
        start = heavy + 1
        if heavy < len(sizes):
            span = counts.span.cut(heavy, heavy + 1)
            bits = plan.finer_bits(span.shift)
            if not bits:
                raise no_room(int(sizes[heavy]), most)
            yield from prefix_ranges(count(span.divided(bits)), most, plan, count)
