"""Union, intersection and difference of sets of k-mers, as a stream of blocks, by ranges that threads merge."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.io.threads import usable_cores
from oclgenomics.kmers.kmer_set import KmerBlock, KmerSet
from oclgenomics.kmers.options import MAX_COUNTER
from oclgenomics.kmers.sets.ranges import KmerRange, RangeBlocks, ranges_of

__all__ = ["check_one_kind", "intersect", "over_ranges", "subtract", "union"]

Result = TypeVar("Result")

MAX_THREADS = 8  # more wait for the one that cuts ranges


class _Kind(Protocol):
    @property
    def k(self) -> int: ...

    @property
    def canonical(self) -> bool: ...


def union(sets: Sequence[KmerSet], counter_max: int = MAX_COUNTER) -> Iterator[KmerBlock]:
    """All k-mers that are in any set, with the sums of their counts.

    Parameters
    ----------
    sets : sequence of KmerSet
    counter_max : int
        Sums stop here.

    Raises
    ------
    UsageError
        No set, or sets of several k, or of one strand and of both.
    """

    def add(some: KmerRange) -> KmerBlock:
        sums = np.minimum(_sums(some.counts, some.starts), np.uint64(counter_max))
        return KmerBlock(some.distinct(), sums.astype(np.uint32))

    return _merge(sets, add)


def intersect(sets: Sequence[KmerSet]) -> Iterator[KmerBlock]:
    """The k-mers that are in every set, with the least of their counts.

    Raises
    ------
    UsageError
        No set, or sets of several k, or of one strand and of both.
    """

    def meet(some: KmerRange) -> KmerBlock:
        common = some.sizes == len(sets)
        least = np.minimum.reduceat(some.counts, some.starts)
        return KmerBlock(some.distinct(common), least[common])

    return _merge(sets, meet)


def subtract(sets: Sequence[KmerSet]) -> Iterator[KmerBlock]:
    """The k-mers of the first set that are in none of the others, with their counts.

    Raises
    ------
    UsageError
        No set, or sets of several k, or of one strand and of both.
    """

    def leave(some: KmerRange) -> KmerBlock:
        alone = (some.sizes == 1) & (some.sources[some.starts] == 0)
        return KmerBlock(some.distinct(alone), some.counts[some.starts[alone]])

    return _merge(sets, leave)


def over_ranges(
    sets: Sequence[KmerSet], combine: Callable[[KmerRange], Result], most: int | None = None
) -> Iterator[Result]:
    """Make something of each range of keys of some sets, in threads; results come in ascending order.

    Parameters
    ----------
    sets : sequence of KmerSet
    combine : callable
    most : int, optional
        K-mers of one set in one range.

    Raises
    ------
    UsageError
        No set, or sets of several k, or of one strand and of both.
    """
    if not sets:
        raise UsageError("no sets of k-mers were given")
    check_one_kind(sets)
    return _combined(sets, combine, most)


def check_one_kind(sets: Sequence[_Kind]) -> None:
    """Refuse sets, or sets to be counted by some options, that do not hold k-mers of one kind.

    Raises
    ------
    UsageError
        They are of several k, or of one strand and of both.
    """
    if len({each.k for each in sets}) > 1:
        lengths = ", ".join(str(each.k) for each in sets)
        raise UsageError(f"sets of k-mers have to be of one k, and these have {lengths}")
    if len({each.canonical for each in sets}) > 1:
        raise UsageError("some sets hold canonical k-mers and others those of one strand: count them in the same way")


def _merge(sets: Sequence[KmerSet], combine: Callable[[KmerRange], KmerBlock]) -> Iterator[KmerBlock]:
    blocks = over_ranges(sets, combine)
    return (block for block in blocks if len(block))


def _combined(sets: Sequence[KmerSet], combine: Callable[[KmerRange], Result], most: int | None) -> Iterator[Result]:
    def merge(held: RangeBlocks) -> Result:
        return combine(KmerRange(held))

    threads = min(MAX_THREADS, usable_cores())
    pool = ThreadPoolExecutor(threads, "merge-kmers")
    coming: deque[Future[Result]] = deque()
    try:
        for held in ranges_of(sets, pool, -(-2 * threads // len(sets)), most):
            coming.append(pool.submit(merge, held))
            if len(coming) > threads:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _sums(counts: NDArray[np.uint32], starts: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Sums of the counts from each start to the next one, exact."""
    ends = np.cumsum(counts, dtype=np.uint64).take(np.append(starts[1:], len(counts)) - 1)
    sums = ends.copy()
    sums[1:] -= ends[:-1]
    return sums
