"""The best reference of a read, and how clearly it stands out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_QUALITY", "UNKNOWN_QUALITY", "best_reference", "mapping_quality", "of_reference"]

MAX_QUALITY = 60
UNKNOWN_QUALITY = 255  # as PAF has it
FULL_GAPS = 10  # in the second-best cost


def best_reference(cost: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the number of the reference of the lowest cost, the first of equals.

    Parameters
    ----------
    cost : ndarray, float64, (reads, references)
        NaN where a read has none.

    Returns
    -------
    ndarray, int64, (reads,)
        -1 for a read without costs.
    """
    none = np.isnan(cost)
    best: NDArray[np.int64] = np.where(none, np.inf, cost).argmin(axis=1)
    return np.where(none.all(axis=1), -1, best)


def of_reference(values: NDArray[Any], reference: NDArray[np.int64]) -> NDArray[Any]:
    """Take from an array (reads, references) what is of one reference each; for -1, of any."""
    taken: NDArray[Any] = np.take_along_axis(values, np.maximum(reference, 0)[:, None], axis=1)[:, 0]
    return taken


def mapping_quality(cost: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the mapping quality of each read: 60 times its gap in tenths of the second-best cost, 60 at most.

    The gap is what the best reference costs less than the second-best one, so a read whose best reference costs a tenth
    less or better still has 60, and one with two best references 0. Places within one reference are not compared. A
    second-best cost of 0 or below, as a bonus may give, counts as 1.

    Parameters
    ----------
    cost : ndarray, float64, (reads, references)
        NaN where a read has none.

    Returns
    -------
    ndarray, int64, (reads,)
        0 to 60, rounded down; 255 with one reference, and for reads without costs, for which nothing is known.
    """
    if cost.shape[1] < 2:
        return np.full(len(cost), UNKNOWN_QUALITY, np.int64)
    best, second = np.partition(cost, 1, axis=1)[:, :2].T
    known = ~np.isnan(second)
    quality = np.full(len(cost), UNKNOWN_QUALITY, np.int64)
    gap = MAX_QUALITY * FULL_GAPS * (second[known] - best[known])
    quality[known] = np.minimum(gap // np.where(second[known] > 0, second[known], 1), MAX_QUALITY)
    return quality
