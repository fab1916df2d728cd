"""The best borders of all grid positions: on the device while a scan goes on, and what comes back of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import Engine

__all__ = ["RESULT_BYTES", "BestBorders", "BestSoFar"]

RESULT_BYTES = 28  # omega, both borders and both sums of a grid position


@dataclass(frozen=True)
class BestBorders:
    """Best borders of all grid positions: SNP indices, and the sums there.

    Attributes
    ----------
    omega : ndarray, float32 (grid,)
        0 where nothing was found.
    i, j : ndarray, int32 (grid,)
    within, cross : ndarray (grid,)
        LS + RS and X: int64, multiples of `unit`, or float32 in compat precision.
    unit : float
    """

    omega: NDArray[np.float32]
    i: NDArray[np.int32]
    j: NDArray[np.int32]
    within: NDArray[np.int64] | NDArray[np.float32]
    cross: NDArray[np.int64] | NDArray[np.float32]
    unit: float

    def split(self, sites: Sequence[int]) -> list[BestBorders]:
        """Cut the results of alignments of so many sites, laid end to end, with as many grid positions each."""
        arrays = [np.split(values, len(sites)) for values in (self.omega, self.i, self.j, self.within, self.cross)]
        starts = np.cumsum([0, *sites[:-1]], dtype=np.int32)
        return [
            BestBorders(omega, i - start, j - start, within, cross, self.unit)
            for omega, i, j, within, cross, start in zip(*arrays, starts, strict=True)
        ]

    @staticmethod
    def nothing(grid: int) -> BestBorders:
        """No position has a window."""
        index, sums = np.zeros(grid, np.int32), np.zeros(grid, np.int64)
        return BestBorders(np.zeros(grid, np.float32), index, index, sums, sums, 1.0)


class BestSoFar:
    """Best borders on the device, and whether a sum outgrew its format.

    Parameters
    ----------
    engine : Engine
    grid : int
        Grid positions.
    sum_type : NumPy type
        Of the sums: int64, or float32 in compat precision.

    Attributes
    ----------
    arrays : dict of str to DeviceArray
        By the names that kernels give them, each of shape (grid,).
    overflow : DeviceArray, int32 (1,)
    """

    def __init__(self, engine: Engine, grid: int, sum_type: type[np.generic]) -> None:
        kinds: dict[str, type[np.generic]] = {
            "best": np.float32, "best_i": np.int32, "best_j": np.int32, "within": sum_type, "cross": sum_type
        }  # fmt: skip
        self._engine = engine
        self.arrays = {name: engine.upload(np.zeros(grid, kind)) for name, kind in kinds.items()}
        self.overflow = engine.upload(np.zeros(1, np.int32))

    def collect(self, unit: float) -> BestBorders | None:
        """Bring the results, sums being multiples of `unit`, and give the memory back; None if one outgrew them."""
        arrays = (*self.arrays.values(), self.overflow)
        omega, i, j, within, cross, overflow = map(self._engine.download, arrays)
        for array in arrays:
            array.release()
        return None if overflow[0] else BestBorders(omega, i, j, within, cross, unit)
