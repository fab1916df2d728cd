"""One scan on a device: enqueues passes and blocks; does not read, print or decide.

Data flow of one block of rows: bits -> `pair_values` -> `suffix_rows` and `accumulate_columns` (region sums M) ->
`scan_one` and `scan_two` (a candidate a work-group) -> `best_omega` (the best so far of each grid position), or
`scan_tiles` -> `best_tiles`. Only one row of results per grid position comes back.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from oclgenomics.omega.cost import KERNEL_TILES
from oclgenomics.omega.device.best_borders import BestBorders, BestSoFar
from oclgenomics.omega.device.pair_values import PairValues
from oclgenomics.omega.device.pass_buffers import pass_buffers, tile_buffers
from oclgenomics.omega.device.region_sums import RegionSums
from oclgenomics.omega.device.scorers import CandidateScorer, TileScorer
from oclgenomics.omega.device.setup import ScanSetup
from oclgenomics.omega.passes import Block, Pass
from oclgenomics.runtime import Checkpoint, Engine

__all__ = ["Progress", "run_passes"]

Progress = Callable[[int, int], None]
"""Is given the grid positions done, and all there are."""


def run_passes(setup: ScanSetup, passes: list[Pass], grid: int, progress: Progress | None) -> BestBorders | None:
    """Run all passes of a scan over `grid` positions; None where a sum outgrew its format."""
    best = BestSoFar(setup.engine, grid, setup.sum_type)
    done = 0
    for walk in passes:
        _run_pass(setup, walk, best, None if progress is None else _after(progress, done, grid))
        done += len(walk.table)
    return best.collect(1.0 / setup.scale)


def _run_pass(setup: ScanSetup, walk: Pass, best: BestSoFar, progress: Progress | None) -> None:
    """One walk along the genome."""
    pace = _Pace(setup.engine)
    with ExitStack() as stack:
        buffers = stack.enter_context(pass_buffers(setup.engine, walk, setup.sum_type))
        tiles = stack.enter_context(tile_buffers(setup.engine, walk))
        values = PairValues(setup, walk, buffers.sums)
        sums = RegionSums(setup, walk, buffers, tiles, best.overflow)
        candidates = CandidateScorer(setup, walk, buffers, best)
        stack.callback(candidates.release)
        by_tiles = None if tiles is None else TileScorer(setup, walk, buffers, tiles, best)
        if by_tiles is not None:
            stack.callback(by_tiles.release)
        for block, following in zip(walk.blocks, (*walk.blocks[1:], None), strict=True):
            values.enqueue(block)
            sums.enqueue(block)
            for start, stop in block.saves:
                sums.save_left_sums(block, start, stop)
            for stretch in block.stretches:
                scorer = by_tiles if by_tiles is not None and stretch.kernel == KERNEL_TILES else candidates
                scorer.score(block, stretch)
            if following is not None:
                sums.save_carry(block, following)
            if progress is not None:
                end = pace.wait(block, last=following is None)
                progress(int((walk.table[:, 4] < end).sum()), len(walk.table))


class _Pace:
    """Keeps the host one block ahead of a device with memory of its own, while it tells the progress.

    So there is always a block at work while the next one's sites are uploaded.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._before: Checkpoint | None = None  # after the block before

    def wait(self, block: Block, *, last: bool) -> int:
        """Wait until the block before this one has ended, on CPUs and at the end this one; return the row after it."""
        if self._engine.tuning.cpu or last:
            self._engine.finish()
            return block.row0 + block.rows
        if self._before is not None:
            self._before.wait()
        self._before = self._engine.checkpoint()
        return block.row0


def _after(progress: Progress, done: int, total: int) -> Progress:
    """Progress of one pass as progress of the whole scan."""
    return lambda positions, _: progress(done + positions, total)
