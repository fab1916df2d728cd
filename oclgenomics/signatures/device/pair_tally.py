"""Matches, in any order, gathered into pairs of a piece and a pattern."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signatures.device.found import FoundPairs

__all__ = ["PairTally"]

SUM_BITS = 48  # of a rank, for the sum of qualities
LEAST_ROWS = 1 << 16  # that are joined at a time
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
        at = start.astype(np.uint64)
        self._waiting.append(_by_pair((key, np.ones(len(key), np.uint64), at, rank, at)))
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
        self._joined = _by_pair([np.concatenate(column) for column in zip(*parts, strict=True)])
        self._waiting, self._rows = [], 0


def _by_pair(rows: Columns) -> Columns:
    """Join rows of one key, in the order of keys; of the best rank the leftmost start counts."""
    order = np.argsort(rows[0])
    key, hits, first, rank, best = (column[order] for column in rows)
    heads = np.flatnonzero(np.concatenate([key[:1] == key[:1], key[1:] != key[:-1]]))
    if not len(heads):
        return rows
    ranks = np.minimum.reduceat(rank, heads)
    beaten = rank != np.repeat(ranks, np.diff(heads, append=len(key)))
    best = np.where(beaten, np.uint64(0xFFFFFFFFFFFFFFFF), best)
    sums = np.add.reduceat(hits, heads)
    return [key[heads], sums, np.minimum.reduceat(first, heads), ranks, np.minimum.reduceat(best, heads)]
