"""Trip counts are those of the scan's own windows, and bad workloads are refused in one line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from hls_model import Config, ModelError, Workload, load, simulate
from hls_model.timing.passes import split
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.plan.windows import find_windows

SORTED = st.lists(st.integers(1, 3_000), min_size=2, max_size=120).map(sorted)


@settings(max_examples=400, deadline=None)
@given(SORTED, st.integers(2, 40), st.integers(1, 400), st.integers(0, 1500), st.integers(2, 8))
def test_trip_counts_are_those_of_the_scan(
    positions: list[int], grid: int, minwin: int, wider: int, minsnps: int
) -> None:
    sites = np.array(positions, np.int64)
    options = ScanOptions(grid=grid, minwin=minwin, maxwin=minwin + wider, minsnps=minsnps)
    windows = find_windows(sites, options)
    workload = Workload.from_positions(sites, grid=grid, minwin=minwin, maxwin=minwin + wider, minsnps=minsnps)
    assert workload.left.tolist() == np.where(windows.valid, windows.inner_left - windows.first + 1, 0).tolist()
    assert workload.right.tolist() == np.where(windows.valid, windows.last - windows.inner_right + 1, 0).tolist()
    assert (workload.left * workload.right).tolist() == windows.scores(-1).tolist()
    assert workload.first[windows.valid].tolist() == windows.first[windows.valid].tolist()
    assert workload.last[windows.valid].tolist() == windows.last[windows.valid].tolist()
    assert workload.omegas == windows.scores(-1).sum()


# 28.4 S^2 scores for S SNPs: what the paper's speedups of omega, LD and both together imply.
@pytest.mark.parametrize(("snps", "omegas"), [(13_000, 4.798e9), (15_000, 6.398e9), (5_000, 7.11e8)])
def test_uniform_workloads_have_the_scores_that_the_paper_implies(snps: int, omegas: float) -> None:
    workload = Workload.uniform(snps)
    assert workload.omegas == pytest.approx(omegas, rel=0.006)
    assert workload.ld_scores == snps**2
    assert len(workload.left) == 1000


def test_a_single_position_is_itself() -> None:
    workload = Workload.single(7, 11)
    assert (workload.omegas, workload.snps) == (77, 20)
    assert workload.last - workload.first + 1 == 20
    assert workload.widest_side == 12  # a side of 2 SNPs, and 10 longer ones


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 300)), max_size=6),
    st.integers(1, 16),
    st.integers(1, 4),
    st.sampled_from(["software", "masked"]),
    st.sampled_from(["per_position", "none"]),
    st.integers(1, 100),
)
def test_passes_cover_every_score_once(
    trips: list[tuple[int, int]], lanes: int, rounds: int, remainder: str, prefetch: str, room: int
) -> None:
    left, right = (np.array([trip[side] for trip in trips], np.int64) for side in (0, 1))
    workload = Workload(left, right, np.zeros_like(left), left + right - 1, left - 1, 1)
    config = Config(unroll=lanes * rounds, physical_lanes=lanes, rs_buffer_words=max(room, lanes)).but(
        remainder=remainder, rs_prefetch=prefetch
    )
    passes = split(workload, config)
    assert (passes.hardware_omegas + passes.software_omegas).tolist() == (left * right).tolist()
    in_passes = np.zeros_like(left)
    np.add.at(in_passes, passes.position, passes.columns * passes.beats * lanes)
    spare = in_passes - passes.hardware_omegas
    assert (spare >= 0).all()
    assert (spare < np.maximum(left, 1) * lanes).all()
    if remainder == "software":
        assert not spare.any()
    if prefetch == "per_position":
        assert (passes.beats * lanes <= config.rs_buffer_words).all()
    assert (passes.beats > 0).all()
    assert (np.diff(passes.position) >= 0).all()


def test_transfers_count_what_the_host_has_to_send() -> None:
    workload = Workload.uniform(400, grid=50)
    sent = {
        mode: simulate(workload, load("u200").but(host_transfer=mode)).transfer_bytes
        for mode in ("none", "incremental", "full")
    }
    assert sent["none"] == 0
    pairs = {
        (i, j)
        for first, last in zip(workload.first.tolist(), workload.last.tolist(), strict=True)
        for i in range(first, last + 1)
        for j in range(i)
        if j >= first
    }
    assert sent["incremental"] == 4 * len(pairs)
    left, right = workload.left, workload.right
    assert sent["full"] == 4 * int((left * right + left + right)[left * right > 0].sum())


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Workload.single(-1, 3), "trip counts are -1 and 3; they have to be 0 or more"),
        (lambda: Workload.uniform(1), "1 SNPs on 100000 bp; a scan needs 2 SNPs and 1 bp at least"),
        (lambda: Workload.uniform(5, length=0), "5 SNPs on 0 bp"),
        (lambda: Workload.uniform(5, grid=1), "grid 1, minsnps 2, minwin 1000, maxwin 20000; take grid"),
        (lambda: Workload.uniform(5, minwin=9, maxwin=3), "minwin 9, maxwin 3; take grid"),
        (lambda: from_list([3, 2]), "positions have to be in ascending order"),
        (lambda: from_list([3]), "positions have to be a list of 2 or more whole numbers, in bp"),
        (lambda: from_list([1.5, 2.5]), "positions have to be a list of 2 or more whole numbers, in bp"),
        (lambda: Workload(*np.zeros((5, 1), np.int64) - 1, 1), "a trip count is negative"),
        (lambda: Workload(*(np.zeros(n, np.int64) for n in (1, 2, 1, 1, 1)), 1), "one entry for each grid position"),
    ],
)
def test_bad_workloads_are_refused_in_one_line(build: object, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        build()  # type: ignore[operator]
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def from_list(positions: list[float]) -> Workload:
    return Workload.from_positions(np.array(positions), grid=5, minwin=1, maxwin=5)
