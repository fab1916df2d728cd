"""Which kernel scores which grid position, by the paper's rule or by the cost model; no device is touched."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.omega.cost import KERNEL_ONE, KERNEL_TWO, Work, cheapest_kernels, costs_of
from oclgenomics.omega.passes import TILE, Limits
from oclgenomics.omega.windows import Windows

__all__ = ["choose_kernels", "kernel_one_below", "work_item_load"]

KERNEL_ONE_WAVES = 32  # waves a compute unit holds at a time: Equation 4 of the paper
KERNEL_TWO_WAVES = 24  # waves a compute unit gets in Kernel II; section IV-C's empirical constant
MIN_LOAD = 16  # rows a work-item of Kernel II walks at least


def kernel_one_below(limits: Limits) -> int:
    """Scores per position below which Kernel I serves: compute units x warp x 32 (Equation 4)."""
    return limits.compute_units * limits.warp * KERNEL_ONE_WAVES


def work_item_load(scores: int, limits: Limits) -> int:
    """Rows a work-item of Kernel II walks for a position of so many scores."""
    return max(MIN_LOAD, -(-scores // (limits.compute_units * limits.warp * KERNEL_TWO_WAVES)))


def choose_kernels(
    windows: Windows, taken: NDArray[np.int64], scores: NDArray[np.int64], limits: Limits, *, dynamic: bool, tiles: bool
) -> NDArray[np.int64]:
    """The kernel of each position, int64: 1 or 2, or 3 for tiles.

    `dynamic` is the paper's choice: Kernel I below `kernel_one_below` scores, else Kernel II. Else the cost model's.
    """
    if dynamic:
        return np.where(scores < kernel_one_below(limits), KERNEL_ONE, KERNEL_TWO)

    def find_tiles() -> tuple[NDArray[np.int64], int]:
        columns, rows = _tiles_of(windows, taken)
        return columns * rows, _longest_queue(windows.first[taken] // TILE, columns)

    lefts = windows.inner_left[taken] - windows.first[taken] + 1
    rights = windows.last[taken] - windows.inner_right[taken] + 1
    work = Work(lefts, rights, scores, find_tiles)
    return cheapest_kernels(work, costs_of(limits.compute_units, cpu=limits.cpu), tiles=tiles)


def _longest_queue(begin: NDArray[np.int64], columns: NDArray[np.int64]) -> int:
    """Most windows that share a tile column, given their first and their number of them."""
    last = int((begin + columns).max()) + 1
    enter, leave = np.bincount(begin, minlength=last), np.bincount(begin + columns, minlength=last)
    return int(np.cumsum(enter - leave).max())


def _tiles_of(windows: Windows, taken: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Tile columns and tile rows that each window of `taken` touches."""
    columns = windows.inner_left[taken] // TILE - windows.first[taken] // TILE + 1
    return columns, windows.last[taken] // TILE - windows.inner_right[taken] // TILE + 1
