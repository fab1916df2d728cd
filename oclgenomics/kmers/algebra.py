"""Union, intersection and difference of sets of k-mers, as a stream of blocks.

The sets are merged by ranges of keys: a range ends with the least of the last keys of the blocks at hand, so nothing
that comes later falls into it, and no more is in memory than some k-mers of each set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.kmers.arithmetic import sortable
from oclgenomics.kmers.options import LARGEST_COUNTER
from oclgenomics.kmers.sets import KmerBlock, KmerSet

__all__ = ["intersect", "subtract", "union"]

MOST_KMERS = 1 << 18  # of one set in one range


class _Range(NamedTuple):
    """The k-mers of all sets in a range of keys, in their order; equal ones are neighbours, of the first set first."""

    keys: NDArray[np.uint64]
    counts: NDArray[np.uint32]
    sources: NDArray[np.intp]
    starts: NDArray[np.intp]  # where a key differs from the one before
    sizes: NDArray[np.intp]  # how many sets have it


def union(sets: Sequence[KmerSet], counter_max: int = LARGEST_COUNTER) -> Iterator[KmerBlock]:
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

    def add(part: _Range) -> KmerBlock:
        sums = np.add.reduceat(part.counts, part.starts, dtype=np.uint64)
        return KmerBlock(part.keys[:, part.starts], np.minimum(sums, np.uint64(counter_max)).astype(np.uint32))

    return _merge(sets, add)


def intersect(sets: Sequence[KmerSet]) -> Iterator[KmerBlock]:
    """The k-mers that are in every set, with the least of their counts.

    Raises
    ------
    UsageError
        No set, or sets of several k, or of one strand and of both.
    """

    def meet(part: _Range) -> KmerBlock:
        common = part.sizes == len(sets)
        least = np.minimum.reduceat(part.counts, part.starts)
        return KmerBlock(part.keys[:, part.starts[common]], least[common])

    return _merge(sets, meet)


def subtract(sets: Sequence[KmerSet]) -> Iterator[KmerBlock]:
    """The k-mers of the first set that are in none of the others, with their counts.

    Raises
    ------
    UsageError
        No set, or sets of several k, or of one strand and of both.
    """

    def leave(part: _Range) -> KmerBlock:
        alone = part.starts[(part.sizes == 1) & (part.sources[part.starts] == 0)]
        return KmerBlock(part.keys[:, alone], part.counts[alone])

    return _merge(sets, leave)


def _merge(sets: Sequence[KmerSet], combine: Callable[[_Range], KmerBlock]) -> Iterator[KmerBlock]:
    if not sets:
        raise UsageError("no sets of k-mers were given")
    if len({each.k for each in sets}) > 1:
        lengths = ", ".join(str(each.k) for each in sets)
        raise UsageError(f"sets of k-mers have to be of one k, and these have {lengths}")
    if len({each.canonical for each in sets}) > 1:
        raise UsageError("some sets hold canonical k-mers and others those of one strand: count them in the same way")
    return (block for block in map(combine, _ranges(sets)) if len(block))


def _ranges(sets: Sequence[KmerSet]) -> Iterator[_Range]:
    cursors = [_Cursor(each) for each in sets]
    while running := [source for source, cursor in enumerate(cursors) if cursor.fill()]:
        bound = min(cursors[source].last for source in running)
        yield _in_order(running, [cursors[source].take_to(bound) for source in running])


def _in_order(running: list[int], parts: list[KmerBlock]) -> _Range:
    keys = np.hstack([part.keys for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    sources = np.repeat(running, [len(part) for part in parts])
    order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys)
    keys = keys[:, order]
    differs = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    starts = np.concatenate([[0], np.flatnonzero(differs) + 1])
    return _Range(keys, counts[order], sources[order], starts, np.diff(starts, append=len(counts)))


class _Cursor:
    """Where the merging has come to in one set."""

    def __init__(self, kmers: KmerSet) -> None:
        self._blocks = kmers.blocks()
        nothing = np.empty((1, 0), np.uint64)
        self._block, self._place = KmerBlock(nothing, np.empty(0, np.uint32)), 0
        self._sortable: NDArray[Any] = nothing[0]

    def fill(self) -> bool:
        """Get k-mers to hand; False when the set is at its end."""
        while self._place == len(self._block):
            block = next(self._blocks, None)
            if block is None:
                return False
            self._block, self._place, self._sortable = block, 0, sortable(block.keys)
        return True

    def _held(self) -> NDArray[Any]:
        return self._sortable[self._place : self._place + MOST_KMERS]

    @property
    def last(self) -> Any:
        """The last key at hand."""
        return self._held()[-1]

    def take_to(self, bound: Any) -> KmerBlock:
        """Take the k-mers at hand up to and with a key."""
        start = self._place
        self._place += int(np.searchsorted(self._held(), bound, side="right"))
        return KmerBlock(self._block.keys[:, start : self._place], self._block.counts[start : self._place])
