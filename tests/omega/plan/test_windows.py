"""Grid positions and windows of all positions at once, against the oracle's one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.omega import reference
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.plan.windows import find_windows, grid_positions


@given(
    positions=st.lists(st.integers(1, 5000), min_size=4, max_size=60).map(sorted),
    grid=st.integers(2, 40),
    minwin=st.integers(0, 800),
    more=st.integers(0, 3000),
    minsnps=st.integers(1, 8),
    border=st.integers(-1, 6),
    compat=st.booleans(),
)
def test_windows_are_the_oracles(
    positions: list[int], grid: int, minwin: int, more: int, minsnps: int, border: int, compat: bool
) -> None:
    at = np.array(positions, np.int64)
    precision = "compat" if compat else "accurate"
    maxwin = max(minwin + more, 1)
    options = ScanOptions(grid=grid, minwin=minwin, maxwin=maxwin, minsnps=minsnps, border=border, precision=precision)
    windows = find_windows(at, options)
    np.testing.assert_array_equal(windows.at, reference.grid_positions(at, grid, compat=compat))
    scores = windows.scores(border)
    for p, position in enumerate(windows.at):
        expected = reference.window_at(at, position, minwin, maxwin, minsnps, compat=compat)
        assert windows.valid[p] == (expected is not None)
        if expected is None:
            assert scores[p] == 0
            continue
        found = (windows.centre[p], windows.first[p], windows.inner_left[p], windows.inner_right[p], windows.last[p])
        assert found == (expected.centre, expected.first, expected.inner_left, expected.inner_right, expected.last)
        lefts = range(expected.first, expected.inner_left + 1)
        assert scores[p] == sum(len(reference.right_range(expected, i, border)) for i in lefts)


def test_compat_grid_drifts_as_a_float32_running_sum() -> None:
    """On a chromosome of 249 Mb and 10,000 positions the running sum ends kilobases past the last site."""
    ends = np.array([10_177, 249_240_540])
    exact, drifting = grid_positions(ends, 10_000, compat=False), grid_positions(ends, 10_000, compat=True)
    assert exact[-1] == ends[-1]
    assert abs(drifting[-1] - ends[-1]) > 1000


def test_compat_narrows_windows_of_more_than_10000_sites() -> None:
    positions = np.arange(1, 24_001)
    compat = find_windows(positions, ScanOptions(grid=5, minwin=10, maxwin=20_000, precision="compat"))
    assert compat.span <= 10_000
    assert compat.maxwin < 20_000
    accurate = find_windows(positions, ScanOptions(grid=5, minwin=10, maxwin=20_000))
    assert (accurate.span, accurate.maxwin) == (24_000, 20_000)


@pytest.mark.parametrize("compat", [False, True])
def test_no_position_is_valid_among_too_few_sites(compat: bool) -> None:
    precision = "compat" if compat else "accurate"
    windows = find_windows(
        np.array([5, 9, 20, 31]), ScanOptions(grid=9, minwin=1, maxwin=50, minsnps=3, precision=precision)
    )
    assert not windows.valid.any()
    assert windows.span == 0
