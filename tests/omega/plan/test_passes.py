"""The plan: every score in exactly one block, kernels by workload, memory within its limits. No device is needed."""

from __future__ import annotations

import dataclasses
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.errors import AllocationError
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.plan import passes as launches, passes as plan
from oclgenomics.omega.plan.kernels import KERNEL_ONE, KERNEL_TILES, KERNEL_TWO, kernel_one_below
from oclgenomics.omega.plan.passes import (
    LAUNCH_NS,
    LEFT_BYTES,
    SUM_BYTES,
    TILE_BYTES,
    WINDOW_BYTES,
    WORD_NS,
    Launches,
    Pass,
    SiteUploads,
    Stretch,
    plan_passes,
)
from oclgenomics.omega.plan.windows import TILE, Windows, find_windows, round_up
from oclgenomics.runtime import DeviceLimits

GPU = DeviceLimits(budget=1 << 34, max_allocation=1 << 32, compute_units=132, warp=32, cpu=False)
CPU = DeviceLimits(budget=1 << 32, max_allocation=1 << 30, compute_units=2, warp=8, cpu=True)
ALL_STAY = SiteUploads()


def windows_of(sites: int, grid: int, maxwin: int, seed: int = 1) -> Windows:
    positions = np.sort(np.random.default_rng(seed).integers(1, 100_000, sites))
    return find_windows(positions, ScanOptions(grid=grid, minwin=100, maxwin=maxwin))


def scored_rows(passes: list[Pass]) -> dict[int, list[int]]:
    """Rows that the stretches of all blocks score, by grid position."""
    rows: dict[int, list[int]] = {}
    for part in passes:
        for block in part.blocks:
            for stretch in block.stretches:
                for window in part.table[stretch.start : stretch.stop]:
                    low, high = max(window[3], block.row0), min(window[4], block.row0 + block.rows - 1)
                    assert high - low + 1 <= stretch.rows
                    assert window[2] - window[1] + 1 <= stretch.lefts
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
            for stretch in block.stretches:
                for place in range(stretch.start, stretch.stop):
                    if max(part.table[place, 3], block.row0) <= part.table[place, 4]:
                        assert held[part.table[place, 5]] == place


@pytest.mark.parametrize("limits", [GPU, CPU])
def test_kernel_follows_the_workload(limits: DeviceLimits) -> None:
    """Equation 4 of the paper: Kernel I below compute units x warp x 32 scores, Kernel II from there on."""
    windows = windows_of(3000, 50, 20_000)
    scores = windows.scores(-1)
    for part in plan_passes(windows, 3000, limits, kernel="dynamic"):
        for block in part.blocks:
            for stretch in block.stretches:
                index = part.table[stretch.start : stretch.stop, 6]
                small = scores[index] < kernel_one_below(limits)
                assert small.all() if stretch.kernel == 1 else not small.any()


@pytest.mark.parametrize("budget", [800_000, 2_000_000, 20_000_000])
def test_blocks_and_slots_stay_within_the_budget(budget: int) -> None:
    windows = windows_of(5000, 200, 10_000)
    limits = DeviceLimits(budget, budget, 2, 8, cpu=True)
    passes = plan_passes(windows, 5000, limits)
    for part in passes:
        held = part.block_rows * part.stride * SUM_BYTES + part.slots * (
            part.left_stride * LEFT_BYTES + part.tiles_stride * TILE_BYTES
        )
        assert held <= budget or part.block_rows == TILE
    assert sorted(scored_rows(passes)) == np.flatnonzero(windows.valid).tolist()


def buffers_of(part: Pass, uploads: SiteUploads) -> dict[str, int]:
    """Bytes of what a pass allocates."""
    width = max(round_up(b.row0 + b.rows, TILE) - b.col0 for b in part.blocks)
    return {
        "sums": part.sums_size * SUM_BYTES,
        "carry": part.carry_size * SUM_BYTES,
        "left": part.slots_size * SUM_BYTES,
        "left_float": part.slots_size * (LEFT_BYTES - SUM_BYTES),
        "tiles": part.slots * part.tiles_stride * TILE_BYTES,
        "windows": part.table.nbytes,
        "windows_of_tiles": part.windows_of_i.nbytes + part.windows_of_j.nbytes,
        **{f"plane {number}": width * uploads.site_bytes // uploads.buffers for number in range(uploads.buffers)},
    }


def check_buffers(
    windows: Windows, sites: int, limits: DeviceLimits, uploads: SiteUploads = ALL_STAY, **options: Any
) -> list[Pass]:
    """Every buffer of every pass has room, and so have all of them together, or not even a tile of rows has.

    Returns the passes; none in the latter case.
    """
    options |= {"uploads": uploads}
    try:
        passes = plan_passes(windows, sites, limits, tiles=True, **options)
    except AllocationError:
        with pytest.raises(AllocationError):
            plan_passes(windows, sites, limits, tiles=True, block_rows=TILE, **options)
        return []
    for part in passes:
        rows = max(block.rows for block in part.blocks)
        assert part.sums_size >= (rows - 1) * part.stride + max(block.width for block in part.blocks)
        sizes = buffers_of(part, uploads)
        assert max(sizes.values()) <= limits.max_allocation, sizes
        assert sum(sizes.values()) <= limits.budget, sizes
    assert sorted(scored_rows(passes)) == np.flatnonzero(windows.valid).tolist()
    return passes


@given(
    sites=st.integers(200, 6000),
    grid=st.sampled_from([2, 40, 3000]),
    maxwin=st.sampled_from([1000, 10_000, 100_000]),
    max_allocation=st.integers(20_000, 2_000_000),
    budget=st.sampled_from([1, 4, 1000]),
    cpu=st.booleans(),
    words=st.sampled_from([0, 3, 200]),
    kernel=st.sampled_from(["auto", "tiles"]),
)
def test_no_buffer_is_larger_than_the_device_gives(
    sites: int, grid: int, maxwin: int, max_allocation: int, budget: int, cpu: bool, words: int, kernel: str
) -> None:
    limits = DeviceLimits(budget * max_allocation, max_allocation, 24, 16, cpu)
    check_buffers(windows_of(sites, grid, maxwin), sites, limits, SiteUploads(8 * words, 2), kernel=kernel)


@pytest.mark.each_value
@pytest.mark.parametrize("mebibytes", [128, 256, 512, 1024])
@pytest.mark.parametrize(("sites", "maxwin"), [(100_000, 10_000), (400_000, 2000)])
@pytest.mark.parametrize("grid", [50, 2000])
def test_no_buffer_of_a_large_scan_is_larger_than_the_device_gives(
    mebibytes: int, sites: int, maxwin: int, grid: int
) -> None:
    limits = DeviceLimits(mebibytes << 22, mebibytes << 20, 24, 16, cpu=False)
    assert check_buffers(windows_of(sites, grid, maxwin), sites, limits)


@pytest.mark.parametrize("tiles", [1, 2, 5])
def test_blocks_that_just_do_not_fit_one_buffer_are_smaller(tiles: int) -> None:
    """Rows a stride apart take a little more than rows x stride, for the last one reaches further."""
    windows, limits = windows_of(6000, 40, 5000), DeviceLimits(1 << 30, 1 << 30, 24, 16, cpu=False)
    (whole,) = plan_passes(windows, 6000, limits)
    for rows, expected in ((tiles * TILE, (tiles - 1) * TILE), (tiles * TILE + 1, tiles * TILE)):
        narrow = dataclasses.replace(limits, max_allocation=rows * whole.stride * SUM_BYTES)
        if expected:
            check_buffers(windows, 6000, narrow)
            assert {part.block_rows for part in plan_passes(windows, 6000, narrow)} == {expected}
        else:
            with pytest.raises(AllocationError, match="in one buffer"):
                plan_passes(windows, 6000, narrow)


def test_a_table_of_windows_larger_than_one_buffer_is_cut() -> None:
    windows, limits = windows_of(20_000, 40_000, 500), DeviceLimits(1 << 30, 1 << 20, 24, 16, cpu=False)
    tables = [part.table for part in plan_passes(windows, 20_000, limits)]
    assert max(table.nbytes for table in tables) == 1 << 20


@pytest.mark.parametrize("most", [1, 10, 40])
def test_a_table_of_windows_that_does_not_fit_is_cut(most: int) -> None:
    windows, limits = windows_of(300, 100, 10_000), DeviceLimits(1 << 23, 1 << 23, 2, 8, cpu=True)
    assert [len(part.table) for part in plan_passes(windows, 300, limits)] == [windows.valid.sum()]
    with mock.patch.object(plan, "TABLE_SHARE", limits.budget // (most * WINDOW_BYTES)):
        assert {len(part.table) for part in plan_passes(windows, 300, limits)[:-1]} == {most}


def test_a_window_that_cannot_fit_is_refused_in_one_line() -> None:
    windows = windows_of(5000, 20, 50_000)
    with pytest.raises(AllocationError, match="raise max_memory, narrow maxwin or choose another device") as error:
        plan_passes(windows, 5000, DeviceLimits(100_000, 100_000, 2, 8, cpu=True))
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
            stretch.kernel
            for p in plan_passes(windows, 20_000, GPU, tiles=allowed)
            for b in p.blocks
            for stretch in b.stretches
        }
        for allowed in (False, True)
    }
    assert 3 in kernels[True]
    assert 3 not in kernels[False]


def test_left_sums_of_windows_that_do_not_fit_one_buffer_take_more_passes() -> None:
    """Memory is plenty for the left sums of all windows that overlap, but one buffer of the device is not."""
    windows, limits = windows_of(1500, 2000, 100_000), DeviceLimits(1 << 34, 1 << 30, 24, 16, cpu=False)
    (whole,) = plan_passes(windows, 1500, limits, tiles=True)
    largest = max(whole.left_stride * SUM_BYTES, whole.tiles_stride * TILE_BYTES)
    for slots in (100, 101):
        narrow = dataclasses.replace(limits, max_allocation=slots * largest + largest - 1)
        passes = plan_passes(windows, 1500, narrow, tiles=True)
        assert max(part.slots for part in passes) == slots < whole.slots
        check_buffers(windows, 1500, narrow)


STRETCH = Stretch(KERNEL_TWO, 0, 1000, lefts=5000, rows=5000, load=16, tiles_i=80, tiles_j=80)


@pytest.mark.parametrize("units", [8, 132])
@pytest.mark.parametrize("words", [1, 2000])
def test_a_launch_of_pair_values_takes_a_tenth_of_a_second_or_one_row_of_tiles(units: int, words: int) -> None:
    tiles = Launches(units, cpu=False).row_tiles(100, words)
    each = 100 * TILE * TILE * words * WORD_NS / units
    assert tiles >= 1
    assert (tiles - 1) * each < LAUNCH_NS < (tiles + 1) * each


@pytest.mark.parametrize("kernel", [KERNEL_ONE, KERNEL_TWO, KERNEL_TILES])
def test_smaller_devices_and_larger_windows_get_fewer_windows_a_launch(kernel: int) -> None:
    stretch = dataclasses.replace(STRETCH, kernel=kernel)
    larger = dataclasses.replace(stretch, lefts=50_000, rows=50_000, tiles_i=800, tiles_j=800)
    small, large = Launches(8, cpu=False), Launches(132, cpu=False)
    assert 1 <= small.windows(stretch) < large.windows(stretch) <= launches.MAX_WINDOWS
    assert 1 <= large.windows(larger) < large.windows(stretch)
    assert large.windows(dataclasses.replace(stretch, lefts=1, rows=1, tiles_i=1, tiles_j=1)) == launches.MAX_WINDOWS


def test_sites_of_many_states_are_cut_by_their_partners() -> None:
    small = Launches(8, cpu=False)
    assert small.listed_sites(10_000, 200) == pytest.approx(small.listed_sites(100, 200) / 100, abs=1)
    assert small.listed_sites(1 << 20, 2000) == 1


def test_launches_on_cpus_are_not_cut() -> None:
    cpu = Launches(2, cpu=True)
    assert min(cpu.row_tiles(10_000, 10_000), cpu.listed_sites(10_000, 10_000)) > 1 << 30
    assert cpu.windows(STRETCH) == launches.MAX_WINDOWS
