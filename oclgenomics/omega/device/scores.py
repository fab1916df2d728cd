"""The best borders of windows, from the sums of a block: one scorer for each family of kernels; and what comes back.

Kernels I and II write a candidate a work-group, of which `best_omega` takes a window's best. The tile kernel bounds the
omegas of each pair of tiles, and `best_tiles` evaluates the pairs whose bounds may hold the best. All give the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.omega.device.kernels import TILE_ROW, PassAtWork, Workspace, work_bytes
from oclgenomics.omega.plan.kernels import KERNEL_ONE
from oclgenomics.omega.plan.passes import Block, Stretch
from oclgenomics.omega.plan.windows import TILE, round_up
from oclgenomics.runtime import Engine

RESULT_BYTES = 28  # omega, both borders and both sums of a grid position
CANDIDATE_BYTES = 12  # scored_t of kernels_cl/omega/candidate.clh
NARROW = 32  # left sides of fewer borders leave lanes of a row idle
NARROW_LANES = 16


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

    def split(self, sites: Sequence[int], positions: Sequence[int]) -> list[BestBorders]:
        """Cut the results of alignments of so many sites and grid positions, laid end to end."""
        ends = np.cumsum(positions[:-1])
        arrays = [np.split(values, ends) for values in (self.omega, self.i, self.j, self.within, self.cross)]
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
        By the names that kernels give them: the best, each of shape (grid,), and `overflow`, int32 (1,).
    """

    def __init__(self, engine: Engine, grid: int, sum_type: type[np.generic]) -> None:
        kinds: dict[str, type[np.generic]] = {
            "best": np.float32, "best_i": np.int32, "best_j": np.int32, "within": sum_type, "cross": sum_type
        }  # fmt: skip
        self._engine = engine
        self.arrays = {name: engine.upload(np.zeros(grid, kind)) for name, kind in kinds.items()}
        self.arrays["overflow"] = engine.upload(np.zeros(1, np.int32))

    def collect(self, unit: float) -> BestBorders | None:
        """Bring the results, sums being multiples of `unit`, and give the memory back; None if one outgrew them."""
        omega, i, j, within, cross, overflow = map(self._engine.download, self.arrays.values())
        for array in self.arrays.values():
            array.release()
        return None if overflow[0] else BestBorders(omega, i, j, within, cross, unit)


class CandidateScorer:
    """Kernels I and II.

    Parameters
    ----------
    work : PassAtWork
    """

    def __init__(self, work: PassAtWork) -> None:
        self._work = work
        self._candidates = Workspace(work.setup.engine, np.uint8)

    def score(self, block: Block, stretch: Stretch) -> None:
        """Merge the candidates of a stretch's windows in this block into the best so far."""
        work, setup = self._work, self._work.setup
        kernel = "scan_one" if stretch.kernel == KERNEL_ONE else "scan_two"
        lanes, best_lanes = setup.kernels.lanes(kernel), setup.kernels.lanes("best_omega")
        lanes_i = lanes if stretch.lefts >= NARROW or lanes == 1 else NARROW_LANES  # side by side along left borders
        if stretch.kernel == KERNEL_ONE:
            columns, rows = -(-stretch.lefts * stretch.rows // lanes), 1
        else:
            columns = -(-stretch.lefts // (lanes_i * setup.kernels.columns))
            rows = -(-stretch.rows // (stretch.load * (lanes // lanes_i)))
        groups = columns * rows  # of a window
        room = work_bytes(setup.engine) // (groups * CANDIDATE_BYTES)
        at_once = max(1, min(room, setup.launches.windows(stretch)))
        for start in range(stretch.start, stretch.stop, at_once):
            count = min(at_once, stretch.stop - start)
            (candidates,) = self._candidates.reserve(CANDIDATE_BYTES * groups * count)
            found = {"candidates": candidates, "window0": start}
            size = (columns * lanes, rows, count)
            work.launch(kernel, size, (lanes, 1, 1), block, **found, lanes_i=lanes_i, load=stretch.load)
            work.launch("best_omega", (count * best_lanes,), (best_lanes,), block, **found, groups=groups)

    def release(self) -> None:
        """Give the memory of the candidates back."""
        self._candidates.release()


class TileScorer:
    """The tile kernel, which all windows that share a tile use at once.

    Parameters
    ----------
    work : PassAtWork
    """

    def __init__(self, work: PassAtWork) -> None:
        self._work = work
        self._right = Workspace(work.setup.engine, np.float32)
        self._peaks = Workspace(work.setup.engine, np.float32)

    def score(self, block: Block, stretch: Stretch) -> None:
        """Merge the best of a stretch's windows in this block into the best so far, as many as memory allows."""
        work, setup = self._work, self._work.setup
        kernels, pairs, rows_stride = setup.kernels, stretch.tiles_i * stretch.tiles_j, round_up(block.rows, TILE)
        columns, rows = min((work.walk.band + TILE - 1) // TILE + 1, block.width // TILE), -(-block.rows // TILE)
        lanes, best_lanes = kernels.lanes("scan_tiles"), kernels.lanes("best_tiles")
        wide = min(TILE_ROW, lanes)
        size = (rows, block.width // TILE) if setup.engine.tuning.cpu else (columns * wide, rows * (lanes // wide))
        room = work_bytes(setup.engine) // (rows_stride * 4 + pairs * 8)
        at_once = max(1, min(room, setup.launches.windows(stretch)))
        for start in range(stretch.start, stretch.stop, at_once):
            count = min(at_once, stretch.stop - start)
            (right,), (peaks,) = self._right.reserve(count * rows_stride), self._peaks.reserve(2 * count * pairs)
            known = {
                "window0": start, "window_end": start + count, "right_tiles": right, "rows_stride": rows_stride,
                "tiles_i": stretch.tiles_i, "tiles_j": stretch.tiles_j, "peaks": peaks,
            }  # fmt: skip
            right_lanes = kernels.group("save_right_tiles", TILE)
            work.launch("save_right_tiles", (rows_stride, count), (right_lanes, 1), block, **known)
            work.launch("scan_tiles", size, (wide, lanes // wide), block, **known)
            work.launch("best_tiles", (count * best_lanes,), (best_lanes,), block, **known)

    def release(self) -> None:
        """Give the memory of right sums and peaks back."""
        self._right.release()
        self._peaks.release()
