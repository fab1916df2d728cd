"""Where windows and rows lie, and how much goes through the device at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from helpers.alignments import make_alignment
from helpers.sweep_sites import PAIRS, SEEDS, regions, varying
from hypothesis import given, settings, strategies as st

from oclgenomics.sweeps import plan
from oclgenomics.sweeps.options import SweepOptions
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.used import used_sites

STATES = np.array([[0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0], [0, 1, 1, 0], [1, 1, 1, 0]], np.uint8)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, pairs=PAIRS, size=st.integers(1, 50), split=st.booleans(), opened=st.none() | PAIRS,
       least=st.sampled_from([0.0, 0.25, 0.5, 1.0]))  # fmt: skip
def test_windows_of_bp_hold_the_sites_within_them(
    seed: int, pairs: list[tuple[int, int]], size: int, split: bool, opened: list[tuple[int, int]] | None, least: float
) -> None:
    rng = np.random.default_rng(seed)
    options = SweepOptions(on_exclude="split" if split else "drop", statistics=["pi"], min_accessible=least)
    exclude = regions(*((start, start + length) for start, length in pairs))
    accessible = None if opened is None else regions(*((start, start + length) for start, length in opened))
    alignment = make_alignment(STATES[rng.choice([2, 3, 4], 12)], np.sort(rng.choice(np.arange(1, 70), 12, False)))
    used = used_sites(alignment, options, exclude, None, accessible=accessible)
    both = (pairs, opened or [])
    covered, reached = ({bp for s, length in some for bp in range(s + 1, s + length + 1)} for some in both)
    lost = set() if opened is None else set(range(100)) - reached
    assert used.positions.tolist() == [bp for bp in alignment.positions.tolist() if bp not in covered | lost]
    if not used.sites:
        return
    mask = Mask.of(exclude, "1", options, accessible)
    first, last = int(used.positions[0]), int(used.positions[-1])
    assert used.length == len(set(range(first + 1, last + 1)) - covered - lost)
    assert mask.distance(used.positions[:1], used.positions[-1:])[0] == len(set(range(first + 1, last + 1)) - covered)
    at = np.arange(first, last + 1).astype(np.float64)
    found = plan.bp_windows(used, at, float(2 * size), options, mask)
    for row, centre in enumerate(at.astype(int).tolist()):
        bp = set(range(max(centre - size, first), min(centre + size, last + 1)))
        if split:
            below = max((one for one in covered if one <= centre), default=-1)
            above = min((one for one in covered if one >= centre), default=1000)
            bp = {one for one in bp if below < one < above}
        inside = [s for s, place in enumerate(used.positions) if place in bp]
        assert list(range(found.first[row], found.stop[row])) == inside
        assert found.length[row] == len(bp - covered - lost)
        whole = min(centre + size, last + 1) - max(centre - size, first)
        assert found.known[row] == (found.length[row] > 0 and found.length[row] >= least * whole)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, grid=st.integers(2, 30), step=st.integers(1, 40), gridded=st.booleans())
def test_grids_and_the_highest_value_around_each_position(seed: int, grid: int, step: int, gridded: bool) -> None:
    rng = np.random.default_rng(seed)
    options = SweepOptions(grid=grid) if gridded else SweepOptions(step=step)
    used = used_sites(varying(rng, 20, 8), options, None, None)
    if used.sites < 2 or used.positions[0] == used.positions[-1]:
        return
    at, size = plan.grid_positions(used, options)
    assert used.positions[0] <= at[0]
    assert at[-1] <= used.positions[-1]
    np.testing.assert_allclose(np.diff(at), size)
    middles = (used.positions[1:] + used.positions[:-1]) / 2
    values = np.where(rng.random(len(middles)) < 0.2, np.nan, rng.integers(0, 4, len(middles)))
    best = plan.highest_in_bins(middles, values, at, size)
    for row, place in enumerate(at):
        near = [i for i, x in enumerate(middles) if place - size / 2 <= x < place + size / 2 - 1e-9]
        near = [i for i in near if not math.isnan(values[i])]
        if best[row] >= 0 and abs(middles[best[row]] - (place + size / 2)) < 1e-6:
            continue  # on the border, which rounding gives to either
        assert best[row] == (min(near, key=lambda i: (-values[i], i)) if near else -1)


@pytest.mark.parametrize(("sites", "width", "most"), [(6, 6, 6), (7, 6, 6), (20, 6, 9), (20, 6, 100), (11, 10, 10)])
def test_blocks_have_every_window_once(sites: int, width: int, most: int) -> None:
    blocks = list(plan.blocks_of(sites, width, most))
    assert all(width <= end - begin <= most or end - begin == sites for begin, end in blocks)
    windows = [first for begin, end in blocks for first in range(begin, end - width + 1)]
    assert windows == list(range(sites - width + 1))


def test_flags_have_a_bit_for_each_site_of_half_a_window() -> None:
    assert [plan.flag_words(width) for width in (6, 64, 66, 128, 130, 2048)] == [1, 1, 2, 2, 4, 32]


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, count=st.integers(0, 12), rows=st.integers(0, 6), low=st.booleans())
def test_values_of_other_positions_on_rows(seed: int, count: int, rows: int, low: bool) -> None:
    rng = np.random.default_rng(seed)
    at = np.sort(rng.choice(np.arange(1.0, 60.0), count, replace=False))
    values = np.where(rng.random(count) < 0.2, np.nan, rng.integers(0, 9, count).astype(float))
    grid, step = 5.0 + 8.0 * np.arange(rows), 8.0
    between, binned = (plan.on_rows(at, values, grid, one, low=low) for one in (None, step))
    for place, linear, found in zip(grid.tolist(), between.tolist(), binned.tolist(), strict=True):
        left, right = at <= place, at >= place
        line = math.nan
        if left.any() and right.any():
            a, b = np.flatnonzero(left)[-1], np.flatnonzero(right)[0]
            share = 0.0 if a == b else (place - at[a]) / (at[b] - at[a])
            line = values[a] + share * (values[b] - values[a])
        assert linear == pytest.approx(line, nan_ok=True)
        near = values[(at >= place - step / 2) & (at < place + step / 2) & ~np.isnan(values)]
        best = (near.min() if low else near.max()) if len(near) else line
        assert found == pytest.approx(best, nan_ok=True)
