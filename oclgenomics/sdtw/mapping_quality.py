"""How clearly the best reference of a read stands out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_QUALITY", "UNKNOWN_QUALITY", "mapping_quality"]

MAX_QUALITY = 60
UNKNOWN_QUALITY = 255  # as PAF has it
FULL_GAPS = 10  # in the second-best cost


def mapping_quality(cost: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the mapping quality of each read: 60 times its gap in tenths of the second-best cost, 60 at most.

    The gap is what the best reference costs less than the second-best one, so a read whose best reference costs a tenth
    less or better still has 60, and one with two best references 0. Places within one reference are not compared.

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
