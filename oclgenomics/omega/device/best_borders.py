"""The best borders that a device found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["BestBorders"]


@dataclass
class BestBorders:
    """Best borders of all grid positions: SNP indices, and the sums there.

    Attributes
    ----------
    omega : ndarray, float32 (grid,)
        0 where nothing was found.
    i, j : ndarray, int32 (grid,)
    within, cross : ndarray (grid,)
        LS + RS and X: int64 with `bits` fraction bits, or float32 in compat precision.
    bits : int
    """

    omega: NDArray[np.float32]
    i: NDArray[np.int32]
    j: NDArray[np.int32]
    within: NDArray[np.int64] | NDArray[np.float32]
    cross: NDArray[np.int64] | NDArray[np.float32]
    bits: int

    def split(self, sites: Sequence[int]) -> list[BestBorders]:
        """Cut the results of alignments of so many sites, laid end to end, with as many grid positions each."""
        arrays = [np.split(values, len(sites)) for values in (self.omega, self.i, self.j, self.within, self.cross)]
        starts = np.cumsum([0, *sites[:-1]], dtype=np.int32)
        return [
            BestBorders(omega, i - start, j - start, within, cross, self.bits)
            for omega, i, j, within, cross, start in zip(*arrays, starts, strict=True)
        ]

    @staticmethod
    def nothing(grid: int) -> BestBorders:
        """No position has a window."""
        index, sums = np.zeros(grid, np.int32), np.zeros(grid, np.int64)
        return BestBorders(np.zeros(grid, np.float32), index, index, sums, sums, 0)
