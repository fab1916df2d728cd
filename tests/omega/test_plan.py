"""The plan: every score in exactly one block, kernels by workload, memory within its limits. No device is needed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oclgenomics.errors import AllocationError
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.plan import LEFT_BYTES, SUM_BYTES, TILE, TILE_BYTES, Limits, Pass, kernel_one_below, plan_passes
from oclgenomics.omega.windows import Windows, find_windows

GPU = Limits(budget=1 << 34, max_allocation=1 << 32, compute_units=132, warp=32, cpu=False)
CPU = Limits(budget=1 << 32, max_allocation=1 << 30, compute_units=2, warp=8, cpu=True)


def windows_of(sites: int, grid: int, maxwin: int, seed: int = 1) -> Windows:
    positions = np.sort(np.random.default_rng(seed).integers(1, 100_000, sites))
    return find_windows(positions, ScanOptions(grid=grid, minwin=100, maxwin=maxwin))


def scored_rows(passes: list[Pass]) -> dict[int, list[int]]:
    """Rows that the runs of all blocks score, by grid position."""
    rows: dict[int, list[int]] = {}
    for part in passes:
        for block in part.blocks:
            for run in block.runs:
                for window in part.table[run.start : run.stop]:
                    low, high = max(window[3], block.row0), min(window[4], block.row0 + block.rows - 1)
                    assert high - low + 1 <= run.rows
                    assert window[2] - window[1] + 1 <= run.lefts
                    rows.setdefault(int(window[6]), []).extend(range(low, high + 1))
    return rows


@given(
    sites=st.integers(4, 900),
    grid=st.integers(2, 60),
    maxwin=st.integers(200, 100_000),
    block_rows=st.sampled_from([None, 64, 100, 256]),
    chunk=st.sampled_from([None, 1, 7]),
    kernel=st.sampled_from(["auto", "dynamic", "1", "2", "tiles"]),
)
def test_every_right_border_is_scored_once(
    sites: int, grid: int, maxwin: int, block_rows: int | None, chunk: int | None, kernel: str
) -> None:
    windows = windows_of(sites, grid, maxwin)
    passes = plan_passes(windows, sites, CPU, kernel=kernel, tiles=True, chunk_positions=chunk, block_rows=block_rows)
    rows = scored_rows(passes)
    assert sorted(rows) == np.flatnonzero(windows.valid).tolist()
    for p, found in rows.items():
        assert sorted(found) == list(range(windows.inner_right[p], windows.last[p] + 1))


@given(sites=st.integers(10, 600), grid=st.integers(2, 50), block_rows=st.sampled_from([64, 128]))
def test_left_sums_are_saved_before_use_and_slots_not_taken_twice(sites: int, grid: int, block_rows: int) -> None:
    windows = windows_of(sites, grid, 30_000)
    for part in plan_passes(windows, sites, CPU, block_rows=block_rows):
        held: dict[int, int] = {}
        for block in part.blocks:
            assert block.row0 % TILE == block.col0 % TILE == 0
            for start, stop in block.saves:
                for place in range(start, stop):
                    centre, slot = part.table[place, 0], part.table[place, 5]
                    assert block.row0 <= centre < block.row0 + block.rows
                    previous = held.get(slot)
                    assert previous is None or part.table[previous, 4] < block.row0
                    held[slot] = place
            for run in block.runs:
                for place in range(run.start, run.stop):
                    if max(part.table[place, 3], block.row0) <= part.table[place, 4]:
                        assert held[part.table[place, 5]] == place


@pytest.mark.parametrize("limits", [GPU, CPU])
def test_kernel_follows_the_workload(limits: Limits) -> None:
    """Equation 4 of the paper: Kernel I below compute units x warp x 32 scores, Kernel II from there on."""
    windows = windows_of(3000, 50, 20_000)
    scores = windows.scores(-1)
    for part in plan_passes(windows, 3000, limits, kernel="dynamic"):
        for block in part.blocks:
            for run in block.runs:
                index = part.table[run.start : run.stop, 6]
                small = scores[index] < kernel_one_below(limits)
                assert small.all() if run.kernel == 1 else not small.any()


@pytest.mark.parametrize("budget", [800_000, 2_000_000, 20_000_000])
def test_blocks_and_slots_stay_within_the_budget(budget: int) -> None:
    windows = windows_of(5000, 200, 10_000)
    limits = Limits(budget, budget, 2, 8, cpu=True)
    passes = plan_passes(windows, 5000, limits)
    for part in passes:
        held = part.block_rows * part.stride * SUM_BYTES + part.slots * (
            part.left_stride * LEFT_BYTES + part.tiles_stride * TILE_BYTES
        )
        assert held <= budget or part.block_rows == TILE
    assert sorted(scored_rows(passes)) == np.flatnonzero(windows.valid).tolist()


def test_a_window_that_cannot_fit_is_refused_in_one_line() -> None:
    windows = windows_of(5000, 20, 50_000)
    with pytest.raises(AllocationError, match="raise --max-memory, narrow --maxwin") as error:
        plan_passes(windows, 5000, Limits(100_000, 100_000, 2, 8, cpu=True))
    assert "\n" not in str(error.value)


def test_nothing_to_scan_is_no_pass() -> None:
    assert plan_passes(windows_of(4, 5, 300), 4, CPU) == []


@given(sites=st.integers(200, 900), grid=st.integers(2, 60), maxwin=st.integers(5_000, 60_000))
def test_tiles_know_the_windows_that_share_them(sites: int, grid: int, maxwin: int) -> None:
    for part in plan_passes(windows_of(sites, grid, maxwin), sites, CPU, kernel="tiles", tiles=True):
        for place, (_, first, inner_left, inner_right, last, *_) in enumerate(part.table):
            for tile_i in range(len(part.windows_of_i)):
                for tile_j in range(tile_i, len(part.windows_of_j)):
                    shares = first < (tile_i + 1) * TILE and inner_left >= tile_i * TILE
                    shares &= inner_right < (tile_j + 1) * TILE and last >= tile_j * TILE
                    of_i, of_j = part.windows_of_i[tile_i], part.windows_of_j[tile_j]
                    assert shares == (max(of_i[0], of_j[0]) <= place < min(of_i[1], of_j[1]))


def test_tiles_serve_where_they_are_allowed_and_full() -> None:
    windows = windows_of(20_000, 100, 20_000)
    kernels = {
        allowed: {
            run.kernel for p in plan_passes(windows, 20_000, GPU, tiles=allowed) for b in p.blocks for run in b.runs
        }
        for allowed in (False, True)
    }
    assert 3 in kernels[True]
    assert 3 not in kernels[False]
