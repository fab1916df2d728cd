"""A database whose features do not fit a device, in parts: ranges of targets.

Caps and filters were applied when the database was built, so parts have all candidates that the whole has.
"""

from __future__ import annotations

import numpy as np

from oclgenomics.classify.database.database import Features
from oclgenomics.classify.plan import MAX_LOCATIONS_OF_INDEX, batches, index_bytes
from oclgenomics.classify.targets import Targets
from oclgenomics.errors import AllocationError

__all__ = ["features_of", "target_ranges"]


def target_ranges(features: Features, targets: Targets, room: int, largest: int) -> list[tuple[int, int]]:
    """Cut targets into ranges whose features fit; one if all fit together.

    Parameters
    ----------
    features : Features
    targets : Targets
    room, largest : int
        Bytes of all buffers of a part's index, and of the largest one.

    Returns
    -------
    list of (begin, end)

    Raises
    ------
    AllocationError
        A single target does not fit.
    """
    windows, count = int(targets.windows.sum()), len(targets)
    if _fits(len(features), len(features.locations), windows, count, room, largest):
        return [(0, count)]
    of_target = np.searchsorted(targets.first_window, features.locations, "right") - 1
    ends = np.cumsum(np.bincount(of_target, minlength=count))
    most = _most_locations(len(features), windows, count, room, largest)
    ranges = list(batches(ends, most))
    before = np.append(0, ends)
    for begin, end in ranges:
        if before[end] - before[begin] > most:
            raise AllocationError(
                f"the features of {targets.names[begin]} alone do not fit into {room:,} bytes; raise `max_memory`"
            )
    return ranges


def features_of(features: Features, targets: Targets, begin: int, end: int) -> Features:
    """Return the features in targets `begin` to `end` - 1, and their locations there."""
    first = targets.first_window
    inside = (features.locations >= first[begin]) & (features.locations < first[end])
    before = np.append(0, np.cumsum(inside, dtype=np.int64))
    starts = features.starts
    counts = (before[starts[1:]] - before[starts[:-1]]).astype(features.counts.dtype)
    found = counts > 0
    return Features(features.keys[found], counts[found], features.locations[inside])


def _fits(features: int, locations: int, windows: int, targets: int, room: int, largest: int) -> bool:
    needed, buffer = index_bytes(features, locations, windows, targets)
    return needed <= room and buffer <= largest and locations <= MAX_LOCATIONS_OF_INDEX


def _most_locations(features: int, windows: int, targets: int, room: int, largest: int) -> int:
    """The most locations of a part that fits whatever features they are of."""
    low, high = 0, MAX_LOCATIONS_OF_INDEX
    while low < high:
        middle = (low + high + 1) // 2
        if _fits(min(features, middle), middle, windows, targets, room, largest):
            low = middle
        else:
            high = middle - 1
    return low
