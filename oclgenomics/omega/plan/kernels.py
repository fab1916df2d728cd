"""Which kernel scores which grid position, by the paper's rule or by a cost model.

The time of the scoring kernels of a scan is taken as a sum over the kernels used. Each costs its buffers and launches
once; Kernels I and II then cost something for each position, for each of its scores, and for each place in the largest
window of their positions, whose size every launch has; the tile kernel for each position and each pair of tiles. The
windows that share a tile are walked one after the other, so that it cannot be faster than the longest such queue.

All kernels give the same results; only time is at stake.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from oclgenomics.omega.plan.windows import TILE, Windows

if TYPE_CHECKING:
    from oclgenomics.runtime import DeviceLimits


KERNEL_ONE, KERNEL_TWO, KERNEL_TILES = 1, 2, 3
KERNEL_ONE_WAVES = 32  # waves a compute unit holds at a time: Equation 4 of the paper
KERNEL_TWO_WAVES = 24  # waves a compute unit gets in Kernel II; section IV-C's empirical constant
MIN_LOAD = 16  # rows a work-item of Kernel II walks at least


@dataclass(frozen=True)
class ScoreCosts:
    """Nanoseconds of Kernel I or II: if used at all, for each position, for each score, and for each place."""

    use: float
    position: float
    score: float
    place: float


@dataclass(frozen=True)
class TileCosts:
    """Nanoseconds of the tile kernel: if used at all, for each position, each pair of tiles, and each window queued."""

    use: float
    position: float
    tile: float
    queue: float


@dataclass(frozen=True)
class Costs:
    """Costs on a device, fitted to `benchmarks/omega_kernels.py`."""

    one: ScoreCosts
    two: ScoreCosts
    tiles: TileCosts


@dataclass(frozen=True)
class Work:
    """Work of the grid positions at hand.

    Attributes
    ----------
    lefts, rights, scores : ndarray of int64, shape (positions,)
        Left borders, right borders, and pairs of them that are scored.
    find_tiles : callable
        Finds `tiles`; called only if somebody asks.
    """

    lefts: NDArray[np.int64]
    rights: NDArray[np.int64]
    scores: NDArray[np.int64]
    find_tiles: Callable[[], tuple[NDArray[np.int64], int]]

    @cached_property
    def tiles(self) -> tuple[NDArray[np.int64], int]:
        """Pairs of tiles of each position, int64 (positions,), and the most windows that share a tile."""
        return self.find_tiles()

    def only(self, chosen: NDArray[np.bool_]) -> Work:
        """The work of some positions, without the tiles."""
        return Work(self.lefts[chosen], self.rights[chosen], self.scores[chosen], self.find_tiles)


# NVIDIA H200 (132 compute units); PoCL, and for tiles Intel's runtime, on two cores
GPU_UNITS = 132
GPU_COSTS = Costs(
    ScoreCosts(50e3, 1.0, 8e-3, 2e-3), ScoreCosts(50e3, 12.0, 5.5e-3, 3e-4), TileCosts(200e3, 15.0, 2.6, 1100.0)
)
CPU_UNITS = 2
CPU_COSTS = Costs(
    ScoreCosts(50e3, 100.0, 4.0, 5.0), ScoreCosts(50e3, 300.0, 0.41, 0.007), TileCosts(300e3, 8000.0, 300.0, 0.0)
)


def costs_of(compute_units: int, *, cpu: bool) -> Costs:
    """Costs on a device of so many compute units: work shrinks with them, use and queues do not."""
    costs, units = (CPU_COSTS, CPU_UNITS) if cpu else (GPU_COSTS, GPU_UNITS)
    share = units / compute_units
    one, two = (
        ScoreCosts(each.use, share * each.position, share * each.score, share * each.place)
        for each in (costs.one, costs.two)
    )
    tiles = replace(costs.tiles, position=share * costs.tiles.position, tile=share * costs.tiles.tile)
    return Costs(one, two, tiles)


def cheapest_kernels(work: Work, costs: Costs, *, tiles: bool) -> NDArray[np.int64]:
    """The kernel of each position, int64 (positions,).

    Considered are each kernel alone, and the tile kernel with Kernel II for those positions at which that is cheaper.

    Parameters
    ----------
    work : Work
    costs : Costs
    tiles : bool
        Whether the tile kernel may be used.
    """
    count = len(work.scores)
    one, two = _score_cost(work, costs.one), _score_cost(work, costs.two)
    alone, least = (KERNEL_ONE, one) if one < two else (KERNEL_TWO, two)
    # a position has a pair of tiles at least; this spares small scans the look at their tiles
    if not tiles or least <= costs.tiles.use + count * (costs.tiles.position + costs.tiles.tile):
        return np.full(count, alone)
    full_enough = _tile_cost(work, costs.tiles) < costs.two.position + costs.two.score * work.scores
    choices = [np.full(count, alone), np.full(count, KERNEL_TILES), np.where(full_enough, KERNEL_TILES, KERNEL_TWO)]
    return min(choices, key=lambda kinds: scan_cost(kinds, work, costs))


def scan_cost(kinds: NDArray[np.int64], work: Work, costs: Costs) -> float:
    """Nanoseconds of a scan with these kernels, int64 (positions,)."""
    total = 0.0
    for kernel, each in ((KERNEL_ONE, costs.one), (KERNEL_TWO, costs.two)):
        chosen = kinds == kernel
        if chosen.any():
            total += _score_cost(work if chosen.all() else work.only(chosen), each)
    by_tiles = kinds == KERNEL_TILES
    if by_tiles.any():
        queue = costs.tiles.queue * work.tiles[1]
        total += costs.tiles.use + max(float(_tile_cost(work, costs.tiles)[by_tiles].sum()), queue)
    return total


def _tile_cost(work: Work, costs: TileCosts) -> NDArray[np.float64]:
    """Cost of the tile kernel at each position."""
    return costs.position + costs.tile * work.tiles[0].astype(np.float64)


def _score_cost(work: Work, costs: ScoreCosts) -> float:
    """Cost of Kernel I or II for all positions."""
    positions = len(work.scores)
    places = positions * int(work.lefts.max()) * int(work.rights.max())
    return costs.use + costs.position * positions + costs.score * int(work.scores.sum()) + costs.place * places


def kernel_one_below(limits: DeviceLimits) -> int:
    """Scores per position below which Kernel I serves: compute units x warp x 32 (Equation 4)."""
    return limits.compute_units * limits.warp * KERNEL_ONE_WAVES


def work_item_load(scores: int, limits: DeviceLimits) -> int:
    """Rows a work-item of Kernel II walks for a position of so many scores."""
    return max(MIN_LOAD, -(-scores // (limits.compute_units * limits.warp * KERNEL_TWO_WAVES)))


def choose_kernels(
    windows: Windows,
    taken: NDArray[np.int64],
    scores: NDArray[np.int64],
    limits: DeviceLimits,
    *,
    dynamic: bool,
    tiles: bool,
) -> NDArray[np.int64]:
    """The kernel of each position, int64: 1 or 2, or 3 for tiles.

    `dynamic` is the paper's choice: Kernel I below `kernel_one_below` scores, else Kernel II. Else the cost model's.
    """
    if dynamic:
        return np.where(scores < kernel_one_below(limits), KERNEL_ONE, KERNEL_TWO)

    def find_tiles() -> tuple[NDArray[np.int64], int]:
        begin = windows.first[taken] // TILE
        columns = windows.inner_left[taken] // TILE - begin + 1
        rows = windows.last[taken] // TILE - windows.inner_right[taken] // TILE + 1
        return columns * rows, _longest_queue(begin, columns)

    lefts = windows.inner_left[taken] - windows.first[taken] + 1
    rights = windows.last[taken] - windows.inner_right[taken] + 1
    work = Work(lefts, rights, scores, find_tiles)
    return cheapest_kernels(work, costs_of(limits.compute_units, cpu=limits.cpu), tiles=tiles)


def _longest_queue(begin: NDArray[np.int64], columns: NDArray[np.int64]) -> int:
    """Most windows that share a tile column, given their first and their number of them."""
    last = int((begin + columns).max()) + 1
    enter, leave = np.bincount(begin, minlength=last), np.bincount(begin + columns, minlength=last)
    return int(np.cumsum(enter - leave).max())
