"""Features of a database that is larger than a device, in parts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify import plan
from oclgenomics.classify.database.database import Features
from oclgenomics.classify.targets import Targets

__all__ = ["feature_parts"]

FEATURES = 1 << 22  # or locations, that are looked at together
CELLS = 1 << 22  # of windows; locations are counted by cell


def feature_parts(features: Features, targets: Targets, limits: plan.IndexLimits) -> Iterator[Features]:
    """Split features by ranges of targets, such that an index of each part fits.

    The number of a feature's locations was limited when the database was built, so the parts have just the locations of
    the whole, and a read has the same best range in each target. Windows keep their numbers. `candidates.merged` puts
    together what is found in the parts.

    Parameters
    ----------
    features : Features
    targets : Targets
    limits : IndexLimits

    Yields
    ------
    Features
        One part after the other, made when it is asked for.

    Raises
    ------
    AllocationError
        A single target does not fit.
    """
    first = targets.first_window
    low, high = _locations_before(features.locations, first)
    for begin, end in plan.target_ranges(low, high, limits, targets.names):
        yield _between(features, int(first[begin]), int(first[end]))


def _locations_before(
    locations: NDArray[np.uint32], first: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many locations are before the windows `first`: at least, and at most; both exact if there are few windows."""
    shift = max(int(first[-1]) // CELLS, 0).bit_length()
    cells = (int(first[-1]) >> shift) + 1
    counts = np.zeros(cells, np.int64)
    for begin in range(0, len(locations), FEATURES):
        counts += np.bincount(locations[begin : begin + FEATURES] >> np.uint32(shift), minlength=cells)
    before = np.append(np.int64(0), np.cumsum(counts))
    return before[first >> shift], before[-(-first >> shift)]


def _between(features: Features, begin: int, end: int) -> Features:
    """The features with locations in windows begin .. end - 1, and those locations."""
    parts = [Features(features.keys[:0], features.counts[:0], features.locations[:0])]
    for piece in features.pieces(FEATURES, FEATURES):
        ends, inside = np.cumsum(piece.counts, dtype=np.int64), (piece.locations >= begin) & (piece.locations < end)
        up_to = np.append(np.int64(0), np.cumsum(inside))
        counts = (up_to[ends] - up_to[ends - piece.counts]).astype(piece.counts.dtype)
        there = counts > 0
        parts.append(Features(piece.keys[there], counts[there], piece.locations[inside]))
    return Features(
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.counts for part in parts]),
        np.concatenate([part.locations for part in parts]),
    )
