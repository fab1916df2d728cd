"""Matches, in any order, gathered into pairs of a piece and a pattern."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signatures.device.found import FoundPairs

__all__ = ["PairTally"]

SUM_BITS = 48  # of a rank, for the sum of qualities
LEAST_ROWS = 1 << 16  # that are joined at a time
LAST = np.uint64(0xFFFFFFFFFFFFFFFF)
Columns = Sequence[NDArray[np.uint64]]  # key, hits, first, rank, best


class PairTally:
    """The pairs of the matches it was given so far.

    Parameters
    ----------
    patterns : int
        How many there are.
    """

    def __init__(self, patterns: int) -> None:
        self._patterns = np.uint64(max(patterns, 1))
        self._joined: Columns = [np.zeros(0, np.uint64)] * 5
        self._waiting: list[Columns] = []
        self._rows = 0

    def add(
        self,
        piece: NDArray[np.uint32],
        pattern: NDArray[np.uint32],
        start: NDArray[np.uint32],
        mismatches: NDArray[np.uint32],
        quality_sum: NDArray[np.uint64],
    ) -> None:
        """Take some matches; arrays of one length."""
        key = piece * self._patterns + pattern
        rank = (mismatches.astype(np.uint64) + np.uint64(1) << np.uint64(SUM_BITS)) - quality_sum
        order = np.argsort(key)
        at = start.astype(np.uint64)[order]
        self._waiting.append(_by_pair(key[order], None, at, rank[order], at))
        self._rows += len(self._waiting[-1][0])
        if self._rows > max(LEAST_ROWS, len(self._joined[0])):
            self._join()

    def pairs(self) -> FoundPairs:
        """Return the pairs of all matches."""
        self._join()
        key, hits, first, _, best = self._joined
        columns = (key // self._patterns, key % self._patterns, hits, first, best)
        return FoundPairs(*(column.astype(np.uint32) for column in columns))

    def _join(self) -> None:
        parts = [self._joined, *self._waiting]
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        order = np.argsort(columns[0])
        self._joined = _by_pair(*(column[order] for column in columns))
        self._waiting, self._rows = [], 0


def _by_pair(
    key: NDArray[np.uint64],
    hits: NDArray[np.uint64] | None,
    first: NDArray[np.uint64],
    rank: NDArray[np.uint64],
    best: NDArray[np.uint64],
) -> Columns:
    """Join rows of one key, ordered by key, of a hit each if not given; of the best rank the leftmost start counts."""
    if not len(key):
        return [key] * 5
    heads = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    sizes = np.diff(heads, append=len(key))
    ranks = np.minimum.reduceat(rank, heads)
    equal = np.where(rank == np.repeat(ranks, sizes), best, LAST)
    sums = sizes.astype(np.uint64) if hits is None else np.add.reduceat(hits, heads)
    return [key[heads], sums, np.minimum.reduceat(first, heads), ranks, np.minimum.reduceat(equal, heads)]
