"""Which sites are used, where windows lie, and how much goes through the device at a time."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from helpers.alignments import make_alignment, make_multiallelic
from helpers.sweep_sites import SEEDS, varying
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import UsageError
from oclgenomics.sweeps import plan
from oclgenomics.sweeps.options import SweepOptions
from oclgenomics.sweeps.plan import Mask, used_sites
from oclgenomics.variation import ReadOptions, read_alignments
from oclgenomics.variation.bed import BedRegions

STATES = np.array([[0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0], [0, 1, 1, 0], [1, 1, 1, 0]], np.uint8)
ALL = np.ones((5, 4), bool)
COMPAT = SweepOptions(precision="compat")


def seen(*missing: tuple[int, int]) -> np.ndarray:
    observed = ALL.copy()
    for site, haplotype in missing:
        observed[site, haplotype] = False
    return observed


def test_sites_that_do_not_vary_or_are_rare_are_left_out() -> None:
    alignment = make_alignment(STATES, np.arange(10, 15))
    used = used_sites(alignment, SweepOptions(maf=0.3), None, None)
    assert used.positions.tolist() == [13.0]
    assert used.discarded == {"monomorphic": 2, "maf": 2}
    assert (used.derived.tolist(), used.observed.tolist()) == ([2], [4])


def test_missing_states() -> None:
    alignment = make_alignment(STATES, np.arange(10, 15), seen((2, 1), (3, 0), (4, 3)))
    half = used_sites(alignment, SweepOptions(max_missing=0.25), None, None)
    assert half.discarded == {"monomorphic": 4}  # site 2 without its only derived state, site 4 without the other one
    assert half.facts.missing == 0.25
    strict = used_sites(alignment, SweepOptions(max_missing=0.2), None, None)
    assert strict.discarded == {"monomorphic": 4, "missing": 1}
    dropped = used_sites(alignment, SweepOptions(missing="drop"), None, None)
    assert dropped.discarded == {"missing": 3, "monomorphic": 2}
    assert used_sites(alignment, COMPAT, None, None).discarded == dropped.discarded


def test_masks_are_dropped_where_the_sites_left_are_complete() -> None:
    used = used_sites(make_alignment(STATES, np.arange(10, 15), seen((0, 0))), SweepOptions(), None, None)
    assert used.planes.valid is None


def test_sites_of_several_alleles_are_left_out() -> None:
    alignment = make_multiallelic(np.array([[0, 1, 2, 0], [0, 1, 1, 0]]), np.array([5, 9]))
    used = used_sites(alignment, SweepOptions(), None, None)
    assert used.positions.tolist() == [9.0]
    assert used.discarded == {"several alternative alleles": 1}


def test_half_missing_genotypes_are_missing_and_compat_refuses_unphased_ones() -> None:
    alignment = make_alignment(STATES, np.arange(10, 15), seen((3, 0)), unphased=True)
    used = used_sites(alignment, SweepOptions(max_missing=0.5), None, None)
    assert used.planes.genotypes
    assert used.positions.tolist() == [12.0, 13.0, 14.0]
    assert used.observed.tolist() == [4, 2, 4]
    with pytest.raises(UsageError, match="compat' needs phased haplotypes"):
        used_sites(alignment, COMPAT, None, None)


def test_the_records_of_raisd_and_the_region_that_it_takes(tmp_path: Path) -> None:
    head = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\n"
    lines = (("3", "A", "G", "PASS"), ("5", "C", "T", "q10"), ("7", "C", "T,G", "PASS"), ("90", "C", "CT", "PASS"))
    rows = [f"1\t{pos}\t.\t{ref}\t{alt}\t.\t{mark}\tAF=1\tGT\t0|1\t1|0\n" for pos, ref, alt, mark in lines]
    (tmp_path / "x.vcf").write_text(head + "".join(rows))
    (one,) = read_alignments(tmp_path / "x.vcf", ReadOptions(records="raisd"))
    assert one.skipped == {"not a SNP": 1, "several alternative alleles": 1}
    used = used_sites(one, COMPAT, None, None)
    assert (used.positions.tolist(), used.length, used.total) == ([3.0, 5.0], 90.0, 2)
    (usual,) = read_alignments(tmp_path / "x.vcf")
    assert (usual.positions.tolist(), usual.last_record) == ([], 0)


def regions(*pairs: tuple[int, int]) -> BedRegions:
    return BedRegions.of([("1", *pair) for pair in pairs], "x.bed")


def test_excluded_regions_take_sites_and_bp() -> None:
    alignment = make_alignment(STATES[[2, 3, 4, 2, 3]], np.array([10, 20, 30, 40, 50]))
    exclude = regions((15, 20), (44, 49))
    used = used_sites(alignment, SweepOptions(on_exclude="drop"), exclude, None)
    assert used.positions.tolist() == [10.0, 30.0, 40.0, 50.0]
    assert used.length == 40.0 - 10
    assert used.facts.masked == pytest.approx(10 / 41)
    kept = used_sites(alignment, SweepOptions(on_exclude="zero"), exclude, None)
    assert (kept.sites, kept.length) == (5, 40.0)


PAIRS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=5)


@settings(max_examples=60, deadline=None)
@given(pairs=PAIRS, first=st.integers(1, 70), size=st.integers(0, 30))
def test_bp_of_regions_are_counted_one_by_one(pairs: list[tuple[int, int]], first: int, size: int) -> None:
    found = regions(*((start, start + length) for start, length in pairs))
    mask, last = Mask.of(found, "1", SweepOptions()), first + size
    covered = {bp for start, length in pairs for bp in range(start + 1, start + length + 1)}
    ends = np.array([float(first)]), np.array([float(last)])
    assert mask.between(*ends)[0] == len(set(range(first + 1, last + 1)) - covered)
    assert mask.touched(*ends)[0] == bool(covered & set(range(first, last + 1)))


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
