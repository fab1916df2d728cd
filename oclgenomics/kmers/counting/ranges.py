"""Ranges of prefixes whose k-mers fit into memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import AllocationError

__all__ = ["no_room", "split_prefixes"]


def no_room(count: int, most: int) -> AllocationError:
    """Return the error for more k-mers with one prefix than memory holds."""
    return AllocationError(
        f"{count:,} k-mers begin with the same letters, and there is room for {most:,}; raise --max-memory"
    )


def split_prefixes(counts: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """Cut the prefixes into ranges of at most `most` k-mers each; ranges without any are left out.

    Raises
    ------
    AllocationError
        One prefix has more.
    """
    if counts.max(initial=0) > most:
        raise no_room(int(counts.max()), most)
    before = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    ranges, low = [], 0
    while low < len(counts):
        high = int(np.searchsorted(before, before[low] + most, side="right")) - 1
        if before[high] > before[low]:
            ranges.append((low, high))
        low = high
    return ranges
