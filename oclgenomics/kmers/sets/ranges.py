"""Sets of k-mers side by side, in ranges of keys.

A range ends with the least of the last keys of the blocks at hand, so nothing that comes later falls into it, and no
more is in memory than some k-mers of each set.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.database.reader import KmerDatabase
from oclgenomics.kmers.kmer_set import KmerBlock, KmerSet

__all__ = ["KmerRange", "RangeBlocks", "ranges_of"]

MAX_KMERS = 1 << 18  # of one set in one range
LEAD_BITS = 64


class RangeBlocks(NamedTuple):
    """The k-mers of a range, as they lie in their sets.

    Attributes
    ----------
    k : int
    sources : list of int
        Sets that may have some.
    blocks : list of KmerBlock
        What each of them has.
    """

    k: int
    sources: list[int]
    blocks: list[KmerBlock]


def ranges_of(sets: Sequence[KmerSet], pool: Executor, ahead: int, most: int | None = None) -> Iterator[RangeBlocks]:
    """Cut sets of one k into ranges, in ascending order.

    Parameters
    ----------
    sets : sequence of KmerSet
    pool : Executor
        Reads databases.
    ahead : int
        Sections of each database that are read ahead.
    most : int, optional
        K-mers of one set in one range; 2^18 if not given.
    """
    cursors = [_Cursor(each, pool, ahead, MAX_KMERS if most is None else most) for each in sets]
    while running := [source for source, cursor in enumerate(cursors) if cursor.fill()]:
        bound = min(cursors[source].last for source in running)
        yield RangeBlocks(sets[0].k, running, [cursors[source].take_to(bound) for source in running])


class KmerRange:
    """All k-mers in a range of keys in their order; equal ones are neighbours, those of the first set first.

    Attributes
    ----------
    keys : ndarray, uint64 (words, n)
    counts : ndarray, uint32 (n,)
    starts : ndarray, intp (m,)
        Where a key differs from the one before it.
    """

    def __init__(self, held: RangeBlocks) -> None:
        keys = np.hstack([block.keys for block in held.blocks])
        self._held, self._order = held, _order(keys, held.k)
        self.keys = np.take(keys, self._order, axis=1)
        self.counts = np.concatenate([block.counts for block in held.blocks]).take(self._order)
        differs = self.keys[0, 1:] != self.keys[0, :-1]
        for word in self.keys[1:]:
            differs |= word[1:] != word[:-1]
        self.starts = np.concatenate([[0], np.flatnonzero(differs) + 1])

    @property
    def sizes(self) -> NDArray[np.intp]:
        """How many sets have each distinct key, intp (m,)."""
        return np.diff(self.starts, append=len(self.counts))

    @property
    def sources(self) -> NDArray[np.intp]:
        """The set of each key, intp (n,)."""
        return np.repeat(self._held.sources, [len(block) for block in self._held.blocks]).take(self._order)

    def distinct(self, which: NDArray[np.bool_] | slice = slice(None)) -> NDArray[np.uint64]:
        """Distinct keys, or some of them."""
        return np.take(self.keys, self.starts[which], axis=1)


def _order(keys: NDArray[np.uint64], k: int) -> NDArray[np.intp]:
    """What sorts keys that are a few ascending runs, stably.

    NumPy's stable sort merges runs, but of one word: so the first 64 bits decide, and where keys that agree in them are
    out of order, these are sorted by all words.
    """
    lead = _lead(keys, k)
    order: NDArray[np.intp] = np.argsort(lead, kind="stable")
    if len(keys) > 1:
        ordered, lead = np.take(keys, order, axis=1), lead.take(order)
        falls = _falls(ordered)
        if len(falls):
            groups = np.cumsum(np.concatenate([[False], lead[1:] != lead[:-1]]))
            wrong = np.zeros(int(groups[-1]) + 1, bool)
            wrong[groups[falls]] = True
            members = np.flatnonzero(wrong[groups])
            order[members] = order[members][np.lexsort(ordered[:, members])]
    return order


def _lead(keys: NDArray[np.uint64], k: int) -> NDArray[np.uint64]:
    """The first 64 bits of keys of 2 k bits, or all of them where there are fewer."""
    in_last = 2 * k - LEAD_BITS * (len(keys) - 1)
    if len(keys) == 1 or in_last == LEAD_BITS:
        lead: NDArray[np.uint64] = keys[-1]
    else:
        lead = (keys[-1] << np.uint64(LEAD_BITS - in_last)) | (keys[-2] >> np.uint64(in_last))
    return lead


def _falls(keys: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Where a key is less than the one before it."""
    less = keys[0, 1:] < keys[0, :-1]
    for word in keys[1:]:
        less &= word[1:] == word[:-1]
        less |= word[1:] < word[:-1]
    return np.flatnonzero(less) + 1


class _Cursor:
    """Where the merging has come to in one set."""

    def __init__(self, kmers: KmerSet, pool: Executor, ahead: int, most: int) -> None:
        self._most = most
        self._blocks = kmers.blocks_ahead(pool, ahead) if isinstance(kmers, KmerDatabase) else kmers.blocks()
        self._block, self._place = KmerBlock(np.empty((1, 0), np.uint64), np.empty(0, np.uint32)), 0

    def fill(self) -> bool:
        """Get k-mers to hand; False when the set is at its end."""
        while self._place == len(self._block):
            block = next(self._blocks, None)
            if block is None:
                return False
            self._block, self._place = block, 0
        return True

    def _key(self, place: int) -> tuple[int, ...]:
        return tuple(self._block.keys[::-1, place].tolist())

    @property
    def _end(self) -> int:
        return min(len(self._block), self._place + self._most)

    @property
    def last(self) -> tuple[int, ...]:
        """The last key at hand, its most significant word first."""
        return self._key(self._end - 1)

    def take_to(self, bound: tuple[int, ...]) -> KmerBlock:
        """Take the k-mers at hand up to and with a key."""
        start = self._place
        self._place = bisect_right(range(self._end), bound, start, key=self._key)
        return KmerBlock(self._block.keys[:, start : self._place], self._block.counts[start : self._place])
