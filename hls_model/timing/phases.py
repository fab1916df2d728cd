"""The cycles of passes, by what the hardware does in them; every level of timing returns these."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["PassPhases"]


@dataclass(frozen=True)
class PassPhases:
    """Cycles of each pass, int64 (passes,).

    Attributes
    ----------
    prefetch : ndarray
        RS into its buffer: from the first request to the last write.
    fill : ndarray
        From a column's first request to the issue of its first beat, summed over the columns (once if they overlap).
    stream : ndarray
        Issue of the beats at the initiation interval, as if data were always there.
    stall : ndarray
        Further cycles in which the issue waits for data.
    drain : ndarray
        From the last beat of a column to the next column's first request: the lanes run empty.
    """

    prefetch: NDArray[np.int64]
    fill: NDArray[np.int64]
    stream: NDArray[np.int64]
    stall: NDArray[np.int64]
    drain: NDArray[np.int64]

    @property
    def total(self) -> NDArray[np.int64]:
        """Cycles of each pass."""
        return self.prefetch + self.fill + self.stream + self.stall + self.drain
