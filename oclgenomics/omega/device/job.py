"""One alignment's scan on a device: enqueues passes and blocks; does not read, print or decide.

Data flow of one block of rows: bits -> `pair_values` -> `suffix_rows` and `accumulate_columns` (region sums M) ->
`scan_one` and `scan_two` (a candidate a work-group) -> `best_omega` (the best so far of each grid position). Only one
row of results per grid position comes back.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from oclgenomics.omega.cost import KERNEL_ONE, KERNEL_TILES
from oclgenomics.omega.device.best_borders import BestBorders
from oclgenomics.omega.device.bit_planes import BitPlanes
from oclgenomics.omega.device.device_sites import DeviceSites
from oclgenomics.omega.device.kernels import PAIR_ROW, TILE_ROW, ScanKernels
from oclgenomics.omega.device.launches import Launches
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.plan import TILE, Block, Pass, Stretch, round_up
from oclgenomics.omega.score import EPSILON
from oclgenomics.runtime import Checkpoint, Engine
from oclgenomics.runtime.buffers import DeviceArray

__all__ = ["ScanJob", "work_bytes"]

WORK_BYTES = 256 << 20  # most memory for the candidates, and for the tiles' sums and peaks, of the windows at work
CANDIDATE_BYTES = 12
RESULT_BYTES = 28  # omega, both borders and both sums of a grid position
COLUMN_LANES = 128  # of `accumulate_columns` on GPUs
NARROW = 32  # left sides of fewer borders leave lanes of a row idle

Progress = Callable[[int, int], None]


def work_bytes(engine: Engine) -> int:
    """Bytes that candidates, and tiles' sums and peaks, may take each."""
    return min(WORK_BYTES, engine.budget // 16, engine.max_allocation)


class ScanJob:
    """One alignment's device state: kernels, results, and the buffers of the pass at work."""

    def __init__(
        self, engine: Engine, planes: BitPlanes, sites: DeviceSites, options: ScanOptions, scale: float, grid: int
    ) -> None:
        self.engine, self.planes, self.sites, self.scale = engine, planes, sites, scale
        self.compat = options.precision == "compat"
        self.sum_type = np.float32 if self.compat else np.int64
        self.border = options.border if options.border >= 0 else 1 << 30
        self.epsilon = EPSILON if self.compat else EPSILON * scale
        self.kernels = ScanKernels(engine, planes, options)
        self.launches = Launches(engine.device.compute_units, cpu=engine.tuning.cpu)
        self.best = engine.upload(np.zeros(grid, np.float32))
        self.best_i, self.best_j = (engine.upload(np.zeros(grid, np.int32)) for _ in range(2))
        self.within, self.cross = (engine.upload(np.zeros(grid, self.sum_type)) for _ in range(2))
        self.overflow = engine.upload(np.zeros(1, np.int32))

    def run(self, part: Pass, progress: Progress | None) -> None:
        """One walk along the genome."""
        engine = self.engine
        self.part = part
        self._enqueued: Checkpoint | None = None  # after the block before
        self.windows = engine.upload(part.table)
        last = part.blocks[-1]
        self.sums = engine.empty(part.sums_size, self.sum_type)
        self.carry = engine.empty(part.carry_size, self.sum_type)
        self.left = engine.empty(part.slots_size, self.sum_type)
        self.left_float = engine.empty(part.slots_size, np.float32)
        self.candidates: tuple[DeviceArray, ...] = ()
        tiled = any(stretch.kernel == KERNEL_TILES for block in part.blocks for stretch in block.stretches)
        self.tiles = _TileSpace(engine, part) if tiled else None
        for number, block in enumerate(part.blocks):
            self._sum(block)
            for start, stop in block.saves:
                self._save_left(block, start, stop)
            for stretch in block.stretches:
                self._score(block, stretch)
            if block is not last:
                self._carry(block, part.blocks[number + 1])
            if progress is not None:
                done = self._wait(block, last)
                progress(int((part.table[:, 4] < done).sum()), len(part.table))
        for array in (self.windows, self.sums, self.carry, self.left, self.left_float, *self.candidates):
            array.release()
        if self.tiles is not None:
            self.tiles.release()

    def _wait(self, block: Block, last: Block) -> int:
        """Wait until the block before this one has ended (on CPUs and at the end this one); the row after it.

        So there is always a block at work on a discrete device while the next one's sites are uploaded.
        """
        if self.engine.tuning.cpu or block is last:
            self.engine.finish()
            return block.row0 + block.rows
        if self._enqueued is not None:
            self._enqueued.wait()
        self._enqueued = self.engine.checkpoint()
        return block.row0

    def collect(self, bits: int) -> BestBorders | None:
        """Results of all passes; None if a sum outgrew its format, which makes them worthless."""
        arrays = (self.best, self.best_i, self.best_j, self.within, self.cross, self.overflow)
        omega, i, j, within, cross, overflow = map(self.engine.download, arrays)
        for array in arrays:
            array.release()
        return None if overflow[0] else BestBorders(omega, i, j, within, cross, bits)

    def _sum(self, block: Block) -> None:
        """Values of the block's pairs, then their region sums."""
        engine, part, m, k, s = self.engine, self.part, self.planes, self.kernels, self.sites
        layout = (block.row0, block.rows, block.col0, part.stride)
        bits, valid, site0 = s.planes(block)
        if not (self.compat and len(m.listed)):
            self._pair_values(block, bits, valid, site0)
        self._allele_values(block, bits, valid, site0)
        if self.compat:
            self._sum_tiles(block)
            return
        cpu = engine.tuning.cpu
        lanes = k.lanes("suffix_rows")
        scan = (self.sums, block.row0, block.col0, part.stride, part.band)
        engine.launch(k["suffix_rows"], (block.rows * lanes,), (lanes,), *scan)
        lanes = 1 if cpu else k.group("accumulate_columns", COLUMN_LANES)
        strips = -(-block.width // 64) if cpu else round_up(block.width, lanes)
        arrays = (self.sums, self.carry, self.overflow)
        engine.launch(k["accumulate_columns"], (strips,), (lanes,), *arrays, *layout, part.band, block.width)

    def _pair_values(self, block: Block, bits: DeviceArray, valid: DeviceArray, site0: int) -> None:
        """Values of all pairs of a block: some row tiles a launch, so that none is long."""
        engine, part, m, k, s = self.engine, self.part, self.planes, self.kernels, self.sites
        columns = min((part.band + TILE - 1) // TILE + 1, block.width // TILE)
        counts = (m.words, np.uint32(m.units), s.ones, s.weight, float(m.haplotypes), self.scale)
        layout = (block.row0, block.rows, block.col0, part.stride, site0)
        kernel, lanes = k["pair_values"], k.lanes("pair_values")
        tiles = -(-block.rows // TILE)
        at_once = self.launches.row_tiles(columns, m.words * m.counts)
        for first in range(0, tiles, at_once):
            if k.vector_width == 1:
                size = (PAIR_ROW * columns, lanes // PAIR_ROW * min(at_once, tiles - first))
                local = (PAIR_ROW, lanes // PAIR_ROW)
            else:
                rows = min(at_once * TILE, block.rows - first * TILE)
                size, local = (columns, -(-rows // k.rows_each)), (1, 1)
            engine.launch(kernel, size, local, bits, valid, *counts, self.sums, *layout, first)

    def _allele_values(self, block: Block, bits: DeviceArray, valid: DeviceArray, site0: int) -> None:
        """Pairs with a site of three or more states (all pairs in OmegaPlus' DNA mode)."""
        m, s, part = self.planes, self.sites, self.part
        if s.alleles is None or m.allele_bits is None:
            return
        rows = np.searchsorted(m.listed, [block.row0, block.row0 + block.rows])
        columns = np.searchsorted(m.listed, [block.col0, block.row0 + block.rows])
        roles = [(0, rows, part.band)] if self.compat else [(0, rows, part.band), (1, columns, block.rows)]
        for as_column, (low, high), away in roles:
            at_once = self.launches.listed_sites(away, m.words)
            for start in range(int(low), int(high), at_once):
                lanes = self.kernels.group("allele_values", 16)
                self.engine.launch(
                    self.kernels["allele_values"],
                    (round_up(away, lanes), min(at_once, int(high) - start)),
                    (lanes, 1),
                    *(bits, s.alleles, valid, m.words, s.first_row, s.row_count, s.listed),
                    *(start, as_column, self.scale, self.sums),
                    *(block.row0, block.rows, block.col0, part.stride, part.band, site0),
                )

    def _sum_tiles(self, block: Block) -> None:
        """OmegaPlus' recurrence, one diagonal of tiles after the other."""
        wave, part = 32, self.part
        lanes = 1 if self.engine.tuning.cpu else self.kernels.group("sum_tiles", wave)
        tiles = -(-block.rows // wave)
        for diagonal in range(min(-(-part.band // wave) + 1, block.width // wave)):
            layout = (block.row0, block.rows, block.col0, part.stride, part.band, diagonal)
            self.engine.launch(self.kernels["sum_tiles"], (tiles * lanes,), (lanes,), self.sums, self.carry, *layout)

    def _carry(self, block: Block, following: Block) -> None:
        layout = (block.row0, block.rows, block.col0, self.part.stride, self.part.band, following.col0)
        lanes = self.kernels.group("save_carry", TILE)
        size = (round_up(following.row0 - following.col0 + 1, lanes),)
        self.engine.launch(self.kernels["save_carry"], size, (lanes,), self.sums, self.carry, *layout)

    def _save_left(self, block: Block, start: int, stop: int) -> None:
        lanes = self.kernels.group("save_left_sums", 16)
        size = (round_up(self.part.left_stride, lanes), stop - start)
        slots = (self.left, self.left_float, self.part.left_stride)
        layout = (block.row0, block.col0, self.part.stride)
        self.engine.launch(
            self.kernels["save_left_sums"], size, (lanes, 1), self.sums, self.windows, start, *slots, *layout
        )
        if self.tiles is not None:
            size = (self.part.tiles_stride, stop - start)
            differences = (self.left, self.part.left_stride, self.windows, start)
            tiles = (self.tiles.left, self.part.tiles_stride)
            lanes = self.kernels.group("save_left_tiles", TILE)
            self.engine.launch(self.kernels["save_left_tiles"], size, (lanes, 1), *differences, *tiles)

    def _score(self, block: Block, stretch: Stretch) -> None:
        """Candidates of the windows of a stretch in this block, merged into the best so far."""
        k = self.kernels
        if stretch.kernel == KERNEL_TILES:
            self._score_tiles(block, stretch)
            return
        lanes = k.lanes("scan_one" if stretch.kernel == KERNEL_ONE else "scan_two")
        if stretch.kernel == KERNEL_ONE:
            lanes_i, columns, rows = lanes, -(-stretch.lefts * stretch.rows // lanes), 1
        else:
            lanes_i = lanes if stretch.lefts >= NARROW or lanes == 1 else 16
            columns = -(-stretch.lefts // (lanes_i * k.columns))
            rows = -(-stretch.rows // (stretch.load * (lanes // lanes_i)))
        room = work_bytes(self.engine) // (columns * rows * CANDIDATE_BYTES)
        at_once = max(1, min(room, self.launches.windows(stretch)))
        for start in range(stretch.start, stretch.stop, at_once):
            self._score_windows(block, stretch, start, min(start + at_once, stretch.stop), columns, rows, lanes_i)

    def _score_windows(
        self, block: Block, stretch: Stretch, start: int, stop: int, columns: int, rows: int, lanes_i: int
    ) -> None:
        engine, part, k = self.engine, self.part, self.kernels
        self._reserve(columns * rows * (stop - start))
        data = (self.sums, self.left, self.left_float, self.windows, start, part.left_stride)
        layout = (block.row0, block.rows, block.col0, part.stride)
        limits = (self.border, float(self.epsilon))
        if stretch.kernel == KERNEL_ONE:
            lanes = k.lanes("scan_one")
            size = (columns * lanes, 1, stop - start)
            engine.launch(k["scan_one"], size, (lanes, 1, 1), *data, *layout, *limits, *self.candidates)
        else:
            lanes = k.lanes("scan_two")
            size = (columns * lanes, rows, stop - start)
            engine.launch(
                k["scan_two"], size, (lanes, 1, 1), *data, *layout, *limits, lanes_i, stretch.load, *self.candidates
            )
        lanes = k.lanes("best_omega")
        engine.launch(
            k["best_omega"],
            ((stop - start) * lanes,),
            (lanes,),
            *(*self.candidates, columns * rows, self.sums, self.left, self.windows, start, part.left_stride),
            *(block.row0, block.col0, part.stride, self.best, self.best_i, self.best_j, self.within, self.cross),
        )

    def _score_tiles(self, block: Block, stretch: Stretch) -> None:
        """Tiles shared by all windows of a stretch, as many windows at once as the working memory holds."""
        assert self.tiles is not None
        each = round_up(block.rows, TILE) * 4 + stretch.tiles_i * stretch.tiles_j * 8
        at_once = max(1, min(work_bytes(self.engine) // each, self.launches.windows(stretch)))
        for start in range(stretch.start, stretch.stop, at_once):
            self._score_tile_windows(self.tiles, block, stretch, start, min(start + at_once, stretch.stop))

    def _score_tile_windows(self, tiles: _TileSpace, block: Block, stretch: Stretch, start: int, stop: int) -> None:
        engine, part, k = self.engine, self.part, self.kernels
        count = stop - start
        rows_stride = round_up(block.rows, TILE)
        tiles.reserve(count * rows_stride, count * stretch.tiles_i * stretch.tiles_j)
        layout = (block.row0, block.rows, block.col0, part.stride)
        rows = (tiles.right, rows_stride)
        size = (rows_stride, count)
        local = (k.group("save_right_tiles", TILE), 1)
        engine.launch(k["save_right_tiles"], size, local, self.sums, self.windows, start, *rows, *layout)
        columns = min((part.band + TILE - 1) // TILE + 1, block.width // TILE)
        lanes = k.lanes("scan_tiles")
        wide = min(TILE_ROW, lanes)
        engine.launch(
            k["scan_tiles"],
            (columns * wide, -(-block.rows // TILE) * (lanes // wide)),
            (wide, lanes // wide),
            *(self.sums, self.left, tiles.left, tiles.right, self.windows, start, stop, tiles.of_i, tiles.of_j),
            *(part.left_stride, part.tiles_stride, rows_stride, *layout, float(self.epsilon)),
            *(stretch.tiles_i, stretch.tiles_j, tiles.peaks),
        )
        lanes = k.lanes("best_tiles")
        engine.launch(
            k["best_tiles"],
            (count * lanes,),
            (lanes,),
            *(
                tiles.peaks,
                stretch.tiles_i,
                stretch.tiles_j,
                self.sums,
                self.left,
                self.left_float,
                self.windows,
                start,
            ),
            *(part.left_stride, *layout, float(self.epsilon)),
            *(self.best, self.best_i, self.best_j, self.within, self.cross),
        )

    def _reserve(self, count: int) -> None:
        """Room for so many candidates (omega, i, j)."""
        if self.candidates and self.candidates[0].size >= count:
            return
        for array in self.candidates:
            array.release()
        self.candidates = tuple(self.engine.empty(count, kind) for kind in (np.float32, np.int32, np.int32))


class _TileSpace:
    """Working memory of the tile kernel during a pass."""

    def __init__(self, engine: Engine, part: Pass) -> None:
        self._engine = engine
        self.of_i, self.of_j = engine.upload(part.windows_of_i), engine.upload(part.windows_of_j)
        self.left = engine.empty(part.slots * part.tiles_stride, np.float32)
        self.right = engine.empty(1, np.float32)
        self.peaks = engine.empty(2, np.float32)

    def reserve(self, right: int, peaks: int) -> None:
        """Room for so many right sums and so many pairs of bounds."""
        if self.right.size < right:
            self.right.release()
            self.right = self._engine.empty(right, np.float32)
        if self.peaks.size < 2 * peaks:
            self.peaks.release()
            self.peaks = self._engine.empty(2 * peaks, np.float32)

    def release(self) -> None:
        for array in (self.of_i, self.of_j, self.left, self.right, self.peaks):
            array.release()
