"""Thresholds and p-values against counting, the rates they promise, and detection of sweeps."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.errors import OclGenomicsError, UsageError
from oclgenomics.omega import Run, ScanOptions, detect_sweeps, find_thresholds, scan
from oclgenomics.omega.result import Scan
from oclgenomics.omega.significance.thresholds import (
    Maxima,
    Significance,
    detection,
    localisation,
    p_values,
    replicates_for,
    thresholds,
)
from oclgenomics.simulate import Haplotypes, Region, as_alignment, neutral_alignments
from oclgenomics.variation import ReadOptions, read_alignments

TESTS = __file__.rsplit("/", 3)[0]
SWEEPS = f"{TESTS}/data/omega/e_sweep50.ms.gz"


def maxima(omega, position=None) -> Maxima:
    omega = np.array(omega, np.float64)
    return Maxima(omega, np.full(len(omega), 5.0) if position is None else np.array(position, np.float64))


def test_the_threshold_is_the_rank_th_largest():
    (one, two) = thresholds(np.arange(1.0, 100.0), [0.05, 0.01])
    assert (one.omega, one.rank, one.expected_fpr) == (95.0, 5, 0.05)
    assert (two.omega, two.rank) == (99.0, 1)
    assert one.fpr_error == pytest.approx(math.sqrt(0.05 * 0.95 / 101))


def test_p_values_count_the_maxima_at_least_as_large():
    null = np.array([3.0, 1.0, 2.0, 2.0])
    assert p_values(np.array([0.5, 2.0, 2.5, 3.0, 9.0]), null).tolist() == [1.0, 0.8, 0.4, 0.4, 0.2]
    assert float(p_values(2.0, null)) == 0.8


@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=60),
    st.floats(0.01, 0.99),
    st.lists(st.integers(0, 9), max_size=10),
)
def test_above_the_threshold_is_a_p_value_at_most_the_rate(null, rate, omegas):
    values, omega = np.array(null, np.float64), np.array(omegas, np.float64)
    if replicates_for(rate) > len(null):
        with pytest.raises(UsageError, match="neutral replicates"):
            thresholds(values, [rate])
        return
    (found,) = thresholds(values, [rate])
    assert ((omega > found.omega) == (p_values(omega, values) <= rate + 1e-12)).all()


@pytest.mark.parametrize(("replicates", "rate"), [(19, 0.05), (99, 0.01), (999, 0.001), (9, 0.1), (1, 0.5)])
def test_fewest_replicates(replicates, rate):
    assert replicates_for(rate) == replicates
    assert thresholds(np.arange(float(replicates)), [rate])[0].rank == 1
    if replicates > 1:
        with pytest.raises(
            UsageError, match=f"at least {replicates} neutral replicates, better {10 * replicates + 9:,}"
        ):
            thresholds(np.arange(float(replicates - 1)), [rate])


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1, math.nan])
def test_a_rate_lies_between_0_and_1(rate):
    with pytest.raises(UsageError, match="between 0 and 1"):
        thresholds(np.arange(100.0), [rate])


@pytest.mark.parametrize(("replicates", "rate"), [(50, 0.1), (30, 0.05)])
def test_the_rate_over_many_sets_is_the_one_expected(replicates, rate, rng):
    null, fresh = rng.gumbel(size=(4000, replicates)), rng.gumbel(size=4000)
    found = [thresholds(row, [rate])[0] for row in null]
    share = np.mean([value > one.omega for value, one in zip(fresh, found, strict=True)])
    expected = found[0].expected_fpr
    assert expected <= rate
    assert abs(share - expected) < 4 * math.sqrt(expected / 4000)


def test_the_stated_error_is_that_of_the_rate_over_sets(rng):
    null = rng.random((4000, 60))
    found = [thresholds(row, [0.1])[0] for row in null]
    rates = np.array([1 - one.omega for one in found])  # of a uniform omega
    assert rates.std() == pytest.approx(found[0].fpr_error, rel=0.05)


def test_maxima_of_scans():
    def one(omega, valid, possible=True) -> Scan:
        grid = len(omega)
        return Scan("1", 1, np.arange(grid) * 10.0, np.array(omega), np.zeros(grid, np.int64),
                    np.zeros(grid, np.int64), np.array(valid, bool), 9, 4, {}, possible, 9)  # fmt: skip

    found = Maxima.of(iter([one([1.0, 3.0], [1, 1]), one([0.0, 0.0], [1, 1]), one([2.0], [0]), one([], [], False)]))
    assert found.omega.tolist() == [3.0, 0.0, 0.0, 0.0]
    assert found.position[0] == 10.0
    assert np.isnan(found.position[1:]).all()


def test_detection_and_distance():
    found = thresholds(np.arange(1.0, 20.0), [0.05, 0.5])
    sweeps = maxima([19.0, 25.0, 30.0, 0.0, 12.0], [100, 130, 300, np.nan, 90])
    strict, lenient = detection(sweeps, found, 100, within=30)
    assert (strict.detected, strict.detected_within, strict.rate) == (2, 1, 0.4)
    assert (lenient.detected, lenient.detected_within, lenient.rate_within) == (4, 3, 0.6)
    assert detection(sweeps, found, 100)[0].rate_within is None
    near = localisation(sweeps, 100, within=30)
    assert (near.found, near.within, near.mean, near.median) == (4, 3, 60.0, 20.0)
    assert near.quantiles[0.5] == 20.0
    nothing = localisation(maxima([0.0], [np.nan]), 100)
    assert (nothing.found, nothing.mean, nothing.within) == (0, None, None)


# Replicates


def test_alignments_are_those_that_a_file_would_hold(tmp_path):
    from oclgenomics.cli.main import main

    path = tmp_path / "n.ms"
    words = "simulate omega --samples 37 --replicates 3 --length 100000 --theta 30 --rho 20 --seed 8 -q -o"
    assert main([*words.split(), str(path)]) == 0
    region = Region(37, 100_000, 10_000, 30.0, 20.0)
    pairs = zip(neutral_alignments(region, 8, 3), read_alignments(path, ReadOptions(length=100_000)), strict=True)
    for ours, read in pairs:
        assert (ours.name, ours.haplotypes, ours.alphabet) == (read.name, read.haplotypes, read.alphabet)
        assert np.array_equal(ours.positions, read.positions)
        assert np.array_equal(ours.bits, read.bits)
        assert np.array_equal(ours.letters, read.letters)


def test_processes_do_not_change_the_replicates():
    region = Region(8, 20_000, 10_000, 8.0, 4.0)
    one, two = (list(neutral_alignments(region, 2, 12, jobs=count)) for count in (1, 2))
    assert [a.name for a in two] == [str(number) for number in range(1, 13)]
    for first, second in zip(one, two, strict=True):
        assert np.array_equal(first.positions, second.positions)
        assert np.array_equal(first.bits, second.bits)


def test_replicates_nobody_waits_for_are_given_up():
    replicates = neutral_alignments(Region(8, 20_000, 10_000, 8.0, 4.0), 2, 10_000, jobs=2)
    assert next(replicates).name == "1"
    replicates.close()
    with pytest.raises(UsageError, match=r"^jobs=0: at least 1 process is needed$"):
        next(neutral_alignments(Region(8, 20_000, 10_000, 8.0, 4.0), 2, 3, jobs=0))


def test_a_killed_process_is_told():
    replicates = neutral_alignments(Region(8, 20_000, 10_000, 8.0, 4.0), 2, 10_000, jobs=2)
    next(replicates)
    for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # one of another test that ends just now
            if "oclgenomics.simulate.haplotypes.workers" in Path(f"/proc/{pid}/cmdline").read_text():
                os.kill(int(pid), signal.SIGKILL)
    with pytest.raises(OclGenomicsError, match="was killed"):
        list(replicates)


def test_an_alignment_without_sites():
    empty = as_alignment(Haplotypes(np.zeros(0), iter([]), 40), 1000, 1)
    assert empty.bits.shape == (2, 0)
    assert empty.sites == 0


def test_growth_needs_msprime():
    region = Region(5, 1000, 10_000, 1.0, 1.0)
    with pytest.raises(UsageError, match="growth_rate needs engine='msprime'"):
        next(neutral_alignments(region, 1, 1, growth_rate=0.01))


def test_growth_by_msprime():
    pytest.importorskip("msprime")
    region = Region(20, 200_000, 10_000, 80.0, 80.0)
    sites = [
        np.mean([a.sites for a in neutral_alignments(region, 1, 20, engine="msprime", growth_rate=rate)])
        for rate in (0.0, 1e-3)
    ]
    assert sites[0] > 2 * sites[1]
    with pytest.raises(UsageError, match=r"growth_rate must be .*, not -1"):
        next(neutral_alignments(region, 1, 1, engine="msprime", growth_rate=-1.0))


# On a device


def test_neutral_replicates_are_detected_at_the_asked_rate(engine):
    options = ScanOptions(grid=20, minwin=5_000, maxwin=40_000)
    region = Region(20, 150_000, 10_000, 60.0, 60.0)
    found = Maxima.of(scan(neutral_alignments(region, 4, 300), options, engine=engine))
    (threshold,) = thresholds(found.omega[:150], [0.1])
    (counted,) = detection(Maxima(found.omega[150:], found.position[150:]), [threshold], 0)
    error = math.hypot(threshold.fpr_error, math.sqrt(0.1 * 0.9 / 150))
    assert abs(counted.rate - threshold.expected_fpr) < 3 * error
    p = p_values(found.omega[150:], found.omega[:150])
    assert 0.4 < p.mean() < 0.6


def test_most_sweeps_are_detected(engine):
    options = ScanOptions(grid=100, minwin=20_000, maxwin=100_000)
    region = Region(50, 1_000_000, 10_000, 340.0, 400.0)  # theta: sites of the sweeps over the harmonic number
    null = Maxima.of(scan(neutral_alignments(region, 1, 20), options, engine=engine))
    sweeps = Maxima.of(scan(SWEEPS, options, reading=ReadOptions(length=1_000_000), engine=engine))
    (counted,) = detection(sweeps, thresholds(null.omega, [0.05]), 600_000, within=50_000)
    assert counted.detected_within is not None
    assert counted.detected_within >= 8
    near = localisation(sweeps, 600_000)
    assert near.median is not None
    assert near.median < 20_000


def test_the_library_finds_what_the_maxima_say(engine):
    options = ScanOptions(grid=20, minwin=5_000, maxwin=40_000)
    region = Region(20, 150_000, 10_000, 60.0, 60.0)
    come: list[tuple[int, int | None]] = []
    read: list[str] = []
    found = find_thresholds(
        neutral_alignments(region, 4, 30), options, fpr=(0.1, 0.05), engine=engine,
        reading=ReadOptions(length=150_000), on_alignment=lambda alignment: read.append(alignment.name),
        run=Run(progress=lambda done, total: come.append((done, total))),
    )  # fmt: skip
    scans = list(scan(neutral_alignments(region, 4, 30), options, engine=engine))
    assert found.maxima.omega.tolist() == Maxima.of(scans).omega.tolist()
    assert found.thresholds == tuple(thresholds(found.maxima.omega, (0.1, 0.05)))
    assert (found.length, found.haplotypes, found.scan["grid"]) == (150_000, 20, 20)
    assert found.mean_sites == np.mean([one.sites for one in scans])
    assert come == [(number, None) for number in range(1, 31)]
    assert read == [str(number) for number in range(1, 31)]
    assert found.p_values(found.maxima.omega.max() + 1) == pytest.approx(1 / 31)
    with pytest.raises(UsageError, match=r"^fpr=0.01: needs at least 99 neutral replicates, better 999; there are 3$"):
        find_thresholds(neutral_alignments(region, 4, 3), options, fpr=(0.01,), engine=engine)


def test_results_are_short_and_plain(engine):
    options = ScanOptions(grid=20, minwin=20_000, maxwin=100_000)
    sweeps = detect_sweeps(
        SWEEPS, options, thresholds(np.arange(1.0, 40.0), (0.05, 0.1)), site=600_000, within=50_000, engine=engine,
        reading=ReadOptions(length=1_000_000),
    )  # fmt: skip
    assert [one["fpr"] for one in sweeps.records()] == [0.05, 0.1]
    assert sweeps.records()[0]["detected_within"] <= sweeps.records()[0]["detected"]
    found = Significance(
        {"grid": 20}, None, 4, 9.5, maxima([1.0, 0.0], [7.0, math.nan]), tuple(thresholds(np.arange(19.0), [0.05])),
        sweeps=sweeps,
    )  # fmt: skip
    assert found.maxima.records()[1] == {"replicate": 2, "omega": 0.0, "position": None}
    assert found.records()[0]["omega"] == 18.0
    for one in (found, found.maxima, sweeps):
        assert "\n" not in repr(one)
        assert len(repr(one)) < 120
        assert json.dumps(list(one.records()))
        with pytest.raises(FrozenInstanceError):
            one.scan = {}  # type: ignore[union-attr]


def test_tables_of_results(monkeypatch):
    for module in ("oclgenomics.app.frames", "oclgenomics.omega.significance.thresholds"):
        monkeypatch.setattr(f"{module}.to_frame", dict)
    found = Significance({}, None, 4, 9.5, maxima([1.0]), tuple(thresholds(np.arange(19.0), [0.05, 0.5])))
    assert found.to_frame()["omega"] == [18.0, 9.0]
    assert found.maxima.to_frame()["replicate"].tolist() == [1]
