"""The best borders of windows, from the sums of a block: one scorer for each family of kernels.

Kernels I and II write a candidate a work-group, of which `best_omega` takes a window's best. The tile kernel bounds the
omegas of each pair of tiles, and `best_tiles` evaluates the pairs whose bounds may hold the best. All give the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from oclgenomics.omega.cost import KERNEL_ONE
from oclgenomics.omega.device.best_borders import BestSoFar
from oclgenomics.omega.device.kernels import TILE_ROW
from oclgenomics.omega.device.pass_buffers import PassBuffers, TileBuffers
from oclgenomics.omega.device.setup import ScanSetup
from oclgenomics.omega.device.workspace import Workspace, work_bytes
from oclgenomics.omega.passes import TILE, Block, Pass, Stretch, round_up
from oclgenomics.runtime import DeviceArray

__all__ = ["CandidateScorer", "TileScorer"]

CANDIDATE_BYTES = 12
NARROW = 32  # left sides of fewer borders leave lanes of a row idle
NARROW_LANES = 16


@dataclass(frozen=True)
class _Groups:
    """Work-groups of Kernel I or II for a window, and how a group's lanes are laid out."""

    kernel: Literal["scan_one", "scan_two"]
    lanes: int
    lanes_i: int  # side by side along the left borders
    columns: int
    rows: int

    @property
    def count(self) -> int:
        return self.columns * self.rows


class CandidateScorer:
    """Kernels I and II.

    Parameters
    ----------
    setup : ScanSetup
    walk : Pass
    buffers : PassBuffers
    best : BestSoFar
        Where the best borders go.
    """

    def __init__(self, setup: ScanSetup, walk: Pass, buffers: PassBuffers, best: BestSoFar) -> None:
        self._setup, self._walk, self._buffers, self._best = setup, walk, buffers, best
        self._candidates = Workspace(setup.engine, np.float32, np.int32, np.int32)

    def score(self, block: Block, stretch: Stretch) -> None:
        """Merge the candidates of a stretch's windows in this block into the best so far."""
        groups = self._groups(stretch)
        room = work_bytes(self._setup.engine) // (groups.count * CANDIDATE_BYTES)
        at_once = max(1, min(room, self._setup.launches.windows(stretch)))
        for start in range(stretch.start, stretch.stop, at_once):
            count = min(at_once, stretch.stop - start)
            omega, i, j = self._candidates.reserve(groups.count * count)
            candidates = {"candidate_omega": omega, "candidate_i": i, "candidate_j": j}
            self._find_candidates(block, stretch, groups, start, count, candidates)
            self._keep_best(block, groups, start, count, candidates)

    def release(self) -> None:
        """Give the memory of the candidates back."""
        self._candidates.release()

    def _groups(self, stretch: Stretch) -> _Groups:
        kernels = self._setup.kernels
        if stretch.kernel == KERNEL_ONE:
            lanes = kernels.lanes("scan_one")
            return _Groups("scan_one", lanes, lanes, -(-stretch.lefts * stretch.rows // lanes), 1)
        lanes = kernels.lanes("scan_two")
        lanes_i = lanes if stretch.lefts >= NARROW or lanes == 1 else NARROW_LANES
        columns = -(-stretch.lefts // (lanes_i * kernels.columns))
        rows = -(-stretch.rows // (stretch.load * (lanes // lanes_i)))
        return _Groups("scan_two", lanes, lanes_i, columns, rows)

    def _find_candidates(
        self,
        block: Block,
        stretch: Stretch,
        groups: _Groups,
        start: int,
        count: int,
        candidates: dict[str, DeviceArray],
    ) -> None:
        setup, walk, buffers = self._setup, self._walk, self._buffers
        shape = {"lanes_i": groups.lanes_i, "load": stretch.load} if groups.kernel == "scan_two" else {}
        setup.engine.launch(
            setup.kernels[groups.kernel],
            (groups.columns * groups.lanes, groups.rows, count),
            (groups.lanes, 1, 1),
            sums=buffers.sums,
            left=buffers.left,
            left_float=buffers.left_float,
            windows=buffers.windows,
            window0=start,
            left_stride=walk.left_stride,
            **block.layout,
            stride=walk.stride,
            border=setup.border,
            epsilon=setup.epsilon,
            **shape,
            **candidates,
        )

    def _keep_best(
        self, block: Block, groups: _Groups, start: int, count: int, candidates: dict[str, DeviceArray]
    ) -> None:
        setup, walk, buffers = self._setup, self._walk, self._buffers
        lanes = setup.kernels.lanes("best_omega")
        setup.engine.launch(
            setup.kernels["best_omega"],
            (count * lanes,),
            (lanes,),
            **candidates,
            candidates=groups.count,
            sums=buffers.sums,
            left=buffers.left,
            windows=buffers.windows,
            window0=start,
            left_stride=walk.left_stride,
            row0=block.row0,
            col0=block.col0,
            stride=walk.stride,
            epsilon=setup.epsilon,
            **self._best.arrays,
        )


class TileScorer:
    """The tile kernel, which all windows that share a tile use at once.

    Parameters
    ----------
    setup, walk, buffers, best
        As `CandidateScorer`.
    tiles : TileBuffers
    """

    def __init__(self, setup: ScanSetup, walk: Pass, buffers: PassBuffers, tiles: TileBuffers, best: BestSoFar) -> None:
        self._setup, self._walk, self._buffers, self._tiles, self._best = setup, walk, buffers, tiles, best
        self._right = Workspace(setup.engine, np.float32)
        self._peaks = Workspace(setup.engine, np.float32)

    def score(self, block: Block, stretch: Stretch) -> None:
        """Merge the best of a stretch's windows in this block into the best so far, as many as memory allows."""
        pairs = stretch.tiles_i * stretch.tiles_j
        rows_stride = round_up(block.rows, TILE)
        room = work_bytes(self._setup.engine) // (rows_stride * 4 + pairs * 8)
        at_once = max(1, min(room, self._setup.launches.windows(stretch)))
        for start in range(stretch.start, stretch.stop, at_once):
            count = min(at_once, stretch.stop - start)
            (right,) = self._right.reserve(count * rows_stride)
            (peaks,) = self._peaks.reserve(2 * count * pairs)
            self._save_right(block, start, count, right, rows_stride)
            self._find_peaks(block, stretch, start, count, right, rows_stride, peaks)
            self._keep_best(block, stretch, start, count, peaks)

    def release(self) -> None:
        """Give the memory of right sums and peaks back."""
        self._right.release()
        self._peaks.release()

    def _save_right(self, block: Block, start: int, count: int, right: DeviceArray, rows_stride: int) -> None:
        setup = self._setup
        setup.engine.launch(
            setup.kernels["save_right_tiles"],
            (rows_stride, count),
            (setup.kernels.group("save_right_tiles", TILE), 1),
            sums=self._buffers.sums,
            windows=self._buffers.windows,
            window0=start,
            right_tiles=right,
            rows_stride=rows_stride,
            **block.layout,
            stride=self._walk.stride,
        )

    def _find_peaks(
        self,
        block: Block,
        stretch: Stretch,
        start: int,
        count: int,
        right: DeviceArray,
        rows_stride: int,
        peaks: DeviceArray,
    ) -> None:
        setup, walk, buffers, tiles = self._setup, self._walk, self._buffers, self._tiles
        columns = min((walk.band + TILE - 1) // TILE + 1, block.width // TILE)
        lanes = setup.kernels.lanes("scan_tiles")
        wide = min(TILE_ROW, lanes)
        setup.engine.launch(
            setup.kernels["scan_tiles"],
            (columns * wide, -(-block.rows // TILE) * (lanes // wide)),
            (wide, lanes // wide),
            sums=buffers.sums,
            left=buffers.left,
            left_tiles=tiles.left_tiles,
            right_tiles=right,
            windows=buffers.windows,
            window0=start,
            window_end=start + count,
            windows_of_i=tiles.windows_of_i,
            windows_of_j=tiles.windows_of_j,
            left_stride=walk.left_stride,
            tiles_stride=walk.tiles_stride,
            rows_stride=rows_stride,
            **block.layout,
            stride=walk.stride,
            epsilon=setup.epsilon,
            tiles_i=stretch.tiles_i,
            tiles_j=stretch.tiles_j,
            peaks=peaks,
        )

    def _keep_best(self, block: Block, stretch: Stretch, start: int, count: int, peaks: DeviceArray) -> None:
        setup, walk, buffers = self._setup, self._walk, self._buffers
        lanes = setup.kernels.lanes("best_tiles")
        setup.engine.launch(
            setup.kernels["best_tiles"],
            (count * lanes,),
            (lanes,),
            peaks=peaks,
            tiles_i=stretch.tiles_i,
            tiles_j=stretch.tiles_j,
            sums=buffers.sums,
            left=buffers.left,
            left_float=buffers.left_float,
            windows=buffers.windows,
            window0=start,
            left_stride=walk.left_stride,
            **block.layout,
            stride=walk.stride,
            epsilon=setup.epsilon,
            **self._best.arrays,
        )
