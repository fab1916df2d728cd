"""All windows of targets in which features of reads were found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["LocatedHits"]


@dataclass(frozen=True)
class LocatedHits:
    """Windows that reads hit, those of a read in ascending order of target and window.

    Attributes
    ----------
    starts : ndarray, int64 (reads + 1,)
        The windows of read i are those from starts[i] on, before starts[i + 1].
    targets, windows : ndarray, uint32 (hit windows,)
        Windows are counted from 0 in each target.
    hits : ndarray, uint32 (hit windows,)
        Features of the read in that window.
    """

    starts: NDArray[np.int64]
    targets: NDArray[np.uint32]
    windows: NDArray[np.uint32]
    hits: NDArray[np.uint32]
