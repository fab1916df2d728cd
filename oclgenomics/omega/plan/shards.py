"""What the scan of each position costs, by which `oclgenomics.app.alignment_jobs` deals positions out to pieces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.omega.plan.windows import Windows

GRAIN = 1 << 25  # omegas and pairs of sites, some milliseconds: what costs no more is not cut
MAX_COST = 1 << 62


def position_costs(windows: Windows, border: int) -> NDArray[np.int64]:
    """What the scan of each position costs: its omegas, and the pairs of sites that no position before it needs.

    Parameters
    ----------
    windows : Windows
    border : int
        As in `ScanOptions.tried_border`.

    Returns
    -------
    ndarray of int64, shape (grid,)
        At least 1; small enough to be summed.
    """
    last = np.maximum.accumulate(np.where(windows.valid, windows.last, -1))
    before = np.concatenate([[-1], last[:-1]])
    rows = windows.last - np.maximum(before, windows.first - 1)
    pairs = np.where(windows.valid, rows * (windows.last - windows.first), 0)
    most: NDArray[np.int64] = np.minimum(1 + windows.scores(border) + pairs, MAX_COST // max(1, len(windows.at)))
    return most


def least_range(windows: Windows) -> int:
    """The least cost of a range: the pairs of sites of a window are computed by both neighbours of a cut."""
    return max(GRAIN, windows.span**2)
