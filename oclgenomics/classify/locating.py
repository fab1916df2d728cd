"""All windows that reads hit, found on the host for those who ask."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.database.database import Database
from oclgenomics.classify.hashes import NO_FEATURE, mix
from oclgenomics.classify.located_hits import LocatedHits

__all__ = ["locate"]


def locate(database: Database, sketches: NDArray[np.uint32], first: NDArray[np.uint32]) -> LocatedHits:
    """Find the windows that reads hit.

    Parameters
    ----------
    database : Database
    sketches : ndarray, uint32 (windows, sketchlen)
    first : ndarray, uint32 (reads + 1,)
        The row of the first window of each read, and the row behind the last one.
    """
    ends = first.astype(np.int64)
    rows = sketches[ends[0] : ends[-1]]
    there = rows != NO_FEATURE
    read = np.repeat(np.arange(len(first) - 1), ends[1:] - ends[:-1])
    reads, keys = np.repeat(read, there.sum(axis=1)), mix(rows[there])
    windows, found = _looked_up(database, keys)
    reads = np.repeat(reads, found)
    order = np.lexsort((windows, reads))
    reads, windows = reads[order], windows[order]
    heads = np.flatnonzero(np.append(True, (np.diff(reads) != 0) | (np.diff(windows) != 0))[: len(reads)])
    starts = np.searchsorted(reads[heads], np.arange(len(first)))
    first_window = database.targets.first_window
    targets = np.searchsorted(first_window, windows[heads], "right") - 1
    inside = windows[heads] - first_window[targets]
    hits = np.diff(np.append(heads, len(reads)))
    return LocatedHits(starts.astype(np.int64), *(array.astype(np.uint32) for array in (targets, inside, hits)))


def _looked_up(database: Database, keys: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The locations of all keys, one list behind the other, and how many each one has."""
    features = database.features
    if not len(features):
        return np.zeros(0, np.int64), np.zeros(len(keys), np.int64)
    at = np.minimum(np.searchsorted(features.keys, keys), len(features) - 1)
    counts = np.where(features.keys[at] == keys, features.counts[at], 0).astype(np.int64)
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    places = np.repeat(features.starts[at] - (ends - counts), counts) + np.arange(total)
    return features.locations[places].astype(np.int64), counts
