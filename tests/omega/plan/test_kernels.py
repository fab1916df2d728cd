"""The cost model's choice: by its own numbers never dearer than one kernel alone, and the right one near crossovers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.plan.kernels import (
    KERNEL_ONE,
    KERNEL_TILES,
    KERNEL_TWO,
    Work,
    cheapest_kernels,
    costs_of,
    scan_cost,
)
from oclgenomics.omega.plan.passes import plan_passes
from oclgenomics.omega.plan.windows import find_windows
from oclgenomics.runtime import DeviceLimits

GPU, CPU = costs_of(132, cpu=False), costs_of(2, cpu=True)
LIMITS = {
    "gpu": DeviceLimits(budget=1 << 34, max_allocation=1 << 32, compute_units=132, warp=32, cpu=False),
    "cpu": DeviceLimits(budget=1 << 32, max_allocation=1 << 30, compute_units=2, warp=8, cpu=True),
}


def square_windows(side: int, positions: int) -> Work:
    """Windows of so many sites on each side, all of which is scored; each tile is shared by two of them."""
    lefts = np.full(positions, side)
    tiles = np.full(positions, (side + 64) ** 2 // 64**2)  # what windows at any place touch on average
    return Work(lefts, lefts, lefts * lefts, lambda: (tiles, 2))


def kernels_of(sites: int, grid: int, side: int, limits: DeviceLimits, tiles: bool = True) -> set[int]:
    """Kernels of the plan of a scan of sites one bp apart."""
    windows = find_windows(np.arange(1, sites + 1), ScanOptions(grid=grid, minwin=0, maxwin=side, minsnps=2))
    passes = plan_passes(windows, sites, limits, tiles=tiles)
    return {one.kernel for walk in passes for block in walk.blocks for one in block.stretches}


@given(
    sizes=st.lists(st.tuples(st.integers(1, 3000), st.integers(1, 3000)), min_size=1, max_size=40),
    repeat=st.sampled_from([1, 10, 300]),
    queue=st.integers(1, 500),
    costs=st.sampled_from([GPU, CPU]),
    tiles=st.booleans(),
)
def test_no_kernel_alone_is_cheaper(sizes: list[tuple[int, int]], repeat: int, queue: int, costs, tiles: bool) -> None:
    lefts, rights = np.array(sizes * repeat).T
    work = Work(lefts, rights, lefts * rights, lambda: ((lefts // 64 + 1) * (rights // 64 + 1), queue))
    kinds = cheapest_kernels(work, costs, tiles=tiles)
    assert len(kinds) == len(lefts)
    assert tiles or KERNEL_TILES not in kinds
    for kernel in (KERNEL_ONE, KERNEL_TWO, KERNEL_TILES)[: 3 if tiles else 2]:
        assert scan_cost(kinds, work, costs) <= scan_cost(np.full(len(lefts), kernel), work, costs)


@pytest.mark.parametrize(
    ("costs", "side", "kernel"),
    [
        # Kernel I starts faster on a GPU and scores more slowly; on a CPU only a handful of scores are its own
        (GPU, 8, KERNEL_ONE),
        (GPU, 40, KERNEL_ONE),
        (GPU, 80, KERNEL_TWO),
        (GPU, 150, KERNEL_TWO),
        (CPU, 3, KERNEL_ONE),
        (CPU, 8, KERNEL_TWO),
        (CPU, 60, KERNEL_TWO),
        # tiles pay where windows fill them
        (GPU, 500, KERNEL_TILES),
        (CPU, 500, KERNEL_TILES),
    ],
)
def test_the_choice_near_each_crossover(costs, side: int, kernel: int) -> None:
    assert set(cheapest_kernels(square_windows(side, 1000), costs, tiles=True)) == {kernel}


@pytest.mark.parametrize("costs", [GPU, CPU])
@pytest.mark.parametrize("positions", [30, 1000, 20_000])
def test_the_choice_changes_where_the_costs_cross(costs, positions: int) -> None:
    """From small windows to large ones: the kernel changes only where two are equally dear, and ends with tiles."""
    kernel, changes = KERNEL_ONE, []
    for side in range(2, 1500, 3):
        work, before = square_windows(side, positions), kernel
        (kernel,) = set(cheapest_kernels(work, costs, tiles=True).tolist())
        if side > 2 and kernel != before:
            changes.append((before, kernel))
            alone = [scan_cost(np.full(positions, each), work, costs) for each in (before, kernel)]
            assert alone[0] == pytest.approx(alone[1], rel=0.2)
    assert kernel == KERNEL_TILES
    assert KERNEL_TILES not in {before for before, _ in changes[:1]}
    assert len(changes) <= 5  # whole tiles make a step or two of it


@pytest.mark.parametrize("where", ["gpu", "cpu"])
def test_plans_take_the_cheapest(where: str) -> None:
    limits = LIMITS[where]
    assert kernels_of(20_000, 1000, 2500, limits) == {KERNEL_TILES}
    assert kernels_of(20_000, 1000, 2500, limits, tiles=False) == {KERNEL_TWO}
    assert kernels_of(20_000, 1000, 60, limits) <= {KERNEL_ONE, KERNEL_TWO}
    assert KERNEL_TILES not in kernels_of(300, 1000, 120, limits)  # a few tiles that all windows queue for


def test_a_larger_device_makes_work_cheaper_and_leaves_the_rest() -> None:
    small, large = costs_of(66, cpu=False), costs_of(132, cpu=False)
    assert small.two.score == 2 * large.two.score
    assert small.tiles.tile == 2 * large.tiles.tile
    assert small.tiles.use == large.tiles.use
    assert small.tiles.queue == large.tiles.queue
