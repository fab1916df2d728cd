"""Ranges of keys, so that what several lists of features have in one range fits into memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.database.database import Features
from oclgenomics.errors import AllocationError

__all__ = ["FeatureList", "cut_ranges"]

MAX_KEY = 1 << 32
STEP = 1 << 12  # features whose locations are summed up beforehand


class FeatureList:
    """Features of which ranges of keys are taken.

    Parameters
    ----------
    features : Features
    """

    def __init__(self, features: Features) -> None:
        self._features = features
        self._before = np.zeros(-(-len(features) // STEP) + 1, np.int64)
        if len(features):
            sums = np.add.reduceat(features.counts, np.arange(0, len(features), STEP), dtype=np.int64)
            np.cumsum(sums, out=self._before[1:])

    def place(self, key: int) -> tuple[int, int]:
        """Return how many features have smaller keys, and how many locations these have."""
        before = len(self._features) if key >= MAX_KEY else int(np.searchsorted(self._features.keys, np.uint32(key)))
        step = before // STEP
        counts: NDArray[np.integer] = self._features.counts[step * STEP : before]
        return before, int(self._before[step]) + int(counts.sum(dtype=np.int64))

    def cut(self, low: int, high: int) -> Features:
        """Return the features with keys from `low` to `high` - 1."""
        first, begin = self.place(low)
        last, end = self.place(high)
        whole = self._features
        return Features(whole.keys[first:last], whole.counts[first:last], whole.locations[begin:end])


def cut_ranges(lists: Sequence[FeatureList], most: int) -> list[tuple[int, int]]:
    """Cut all keys into ranges, in each of which all lists together have at most so many locations.

    Parameters
    ----------
    lists : sequence of FeatureList
    most : int

    Returns
    -------
    list of (int, int)
        The first key of each range and the one behind its last; ascending. Together they hold all keys.

    Raises
    ------
    AllocationError
        One key has more.
    """
    found = []
    todo = [(0, MAX_KEY)]
    while todo:
        low, high = todo.pop()
        locations = sum(each.place(high)[1] - each.place(low)[1] for each in lists)
        if locations <= most:
            found.append((low, high))
        elif high - low == 1:
            raise AllocationError(
                f"a feature has {locations:,} locations, and there is room for {most:,}; raise `max_memory`"
            )
        else:
            middle = (low + high) // 2
            todo += [(middle, high), (low, middle)]
    return found
