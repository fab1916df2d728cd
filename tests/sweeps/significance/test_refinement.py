"""Rows at closer positions: those of a scan with so fine a grid, around the rows that look like a sweep alone."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.products import examples
from helpers.sweep_sites import SEEDS, varying
from hypothesis import given, settings, strategies as st

from oclgenomics.cli.main import main
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.runtime import Device, Engine
from oclgenomics.sweeps import Scan, SweepOptions, find_peaks, find_thresholds, read_report, scan, sweep_parameters
from oclgenomics.sweeps.formats import write_peaks
from oclgenomics.sweeps.options import LOW, unrefined
from oclgenomics.sweeps.significance.thresholds import NullFacts, Significance, thresholds
from oclgenomics.sweeps.sites.used import SweepFacts, used_sites
from oclgenomics.variation import Alignment, ReadOptions, read_alignments
from oclgenomics.variation.bed import BedRegions

INPUTS = Path(__file__).parents[2] / "data" / "sweeps"
CLEAN, THREE = str(INPUTS / "phased_clean.vcf.gz"), str(INPUTS / "threechrom.vcf.gz")
STATISTICS = ("mu", "pi", "tajima_d", "h12", "lassi", "nsl")


def positions_by_hand(found: Scan, sites: np.ndarray, options: SweepOptions, step: float) -> list[float]:
    """Every multiple of `refine` within reach of a row beyond the quantile, or of the most extreme one."""
    quantile, margin = options.refine_quantile or 0.99, options.refine_margin
    chosen = set()
    for name in options.statistics:
        scores = [-value if name in LOW else value for value in found.values[name].tolist()]
        known = [score for score in scores if not math.isnan(score)]
        if known:
            limit = float(np.quantile(known, quantile))
            chosen |= {row for row, score in enumerate(scores) if score > limit} | {scores.index(max(known))}
    reach = step / 2 + (step if margin is None else margin)
    near = found.positions[sorted(chosen)]
    every = options.refine * np.arange(math.ceil(sites[0] / options.refine), math.floor(sites[-1] / options.refine) + 1)
    return [float(place) for place in every if (np.abs(near - place) <= reach).any()]


@settings(max_examples=examples(25), deadline=None)
@given(
    seed=SEEDS, sites=st.integers(0, 60), step=st.sampled_from([97, 150, 400]), fine=st.sampled_from([7, 25, 96]),
    quantile=st.sampled_from([None, 0.5]), margin=st.sampled_from([None, 0, 130]), window=st.sampled_from([None, 300]),
    excluded=st.booleans(),
)  # fmt: skip
def test_fine_rows_are_those_of_a_fine_grid(
    engine: Engine, seed: int, sites: int, step: int, fine: int, quantile: float | None, margin: int | None,
    window: int | None, excluded: bool,
) -> None:  # fmt: skip
    source = varying(np.random.default_rng(seed), sites, 12)
    how: dict[str, Any] = {
        "statistics": STATISTICS, "width": 6, "haplotype_window": 5, "haplotype_step": 2, "ehh_edge": "keep",
        "ehh_maf": 0.0,
    }  # fmt: skip
    regions = BedRegions({"1": np.array([200, 500])}, {"1": np.array([230, 620])}) if excluded else None
    options = SweepOptions(**how, step=step, window=window, refine=fine, refine_quantile=quantile, refine_margin=margin)
    check_fine_rows(engine, source, options, regions)


@pytest.mark.parametrize("clr_step", [None, 50, 5_000])
def test_clr_is_computed_at_fine_rows_unless_it_is_known_there(engine: Engine, clr_step: int | None) -> None:
    (source,) = read_alignments(CLEAN, ReadOptions(region="1:1-70000"))
    regions = BedRegions({"1": np.array([9_000])}, {"1": np.array([11_000])})
    options = SweepOptions(statistics=("clr",), clr_step=clr_step, step=10_000, refine=1_000, refine_quantile=0.5)
    check_fine_rows(engine, source, options, regions)


def check_fine_rows(engine: Engine, source: Alignment, options: SweepOptions, regions: BedRegions | None) -> None:
    """Compare a refined scan with one of the coarse grid and one of the fine grid."""
    step, fine = options.step or 0, options.refine or 0
    (found,) = scan(source, options, exclude=regions, engine=engine)
    bare = unrefined(options)
    (coarse,) = scan(source, bare, exclude=regions, engine=engine)
    own = None if options.clr_step is not None and options.clr_step > fine else options.clr_step
    everywhere = replace(bare, step=fine, window=options.window or step, clr_step=own)
    (whole,) = scan(source, everywhere, exclude=regions, engine=engine)
    assert coarse.fine is None
    assert found.fine is not None
    sites = used_sites(source, options, regions, None).positions
    expected = positions_by_hand(found, sites, options, step) if len(sites) else []
    assert found.fine.positions.tolist() == expected
    rows = np.searchsorted(whole.positions, expected)
    for name in coarse.values:
        np.testing.assert_array_equal(found.values[name], coarse.values[name])
        np.testing.assert_array_equal(found.fine.values[name], whole.values[name][rows], err_msg=name)
    for name in ("start", "end", "window_sites"):
        np.testing.assert_array_equal(getattr(found.fine, name), getattr(whole, name)[rows])


@pytest.mark.parametrize("kind", ["tsv", "json"])
def test_reports_hold_both_and_peaks_are_judged_by_the_coarse_ones(
    kind: str, engine: Engine, device: Device, tmp_path: Path
) -> None:
    line = ["sweeps", "scan", THREE, "--step", "20k", "--stat", "mu,pi,clr", "-q", "-d", str(device.index)]
    refined, plain = tmp_path / "refined", tmp_path / "plain"
    assert main([*line, "--format", kind, "--refine", "3k", "--refine-quantile", "0.7", "-o", str(refined)]) == 0
    assert main([*line, "--format", kind, "-o", str(plain)]) == 0
    expected = scan(
        THREE, SweepOptions(statistics=("mu", "pi", "clr"), step=20_000, refine=3_000, refine_quantile=0.7),
        engine=engine,
    )  # fmt: skip
    found, without = read_report(refined), read_report(plain)
    for one, other, bare in zip(found, expected, without, strict=True):
        assert one.fine is not None
        assert other.fine is not None
        assert bare.fine is None
        for ours, theirs in ((one, other), (one.fine, other.fine), (bare, other)):
            for name in ("positions", "start", "end", "window_sites"):
                np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name))
            for name, values in theirs.values.items():
                np.testing.assert_allclose(ours.values[name], values, rtol=1e-6)
    if kind == "tsv":
        rows = [row.split("\t") for row in refined.read_text().splitlines() if not row.startswith("#")]
        assert rows[0][5:8] == ["sites", "grid", "mu"]
        places = [(row[0], float(row[2]), row[6] == "fine") for row in rows[1:]]
        assert places == sorted(places)
    null = find_thresholds(
        THREE, SweepOptions(statistics=("mu", "pi", "clr"), step=20_000, refine=1_000), fpr=[0.5], engine=engine
    )
    assert all("refine" not in str(name) or value is None for name, value in null.scan.items())
    close = replace(null, data=replace(null.data, least_density=0.0, most_density=1.0))
    for statistic in ("pi", "clr"):
        ours, theirs = (find_peaks(one, statistic, threshold=close) for one in (found, without))
        assert ours.columns == (*theirs.columns, "fine_position", "fine_value")
        judged = [{name: record[name] for name in theirs.columns} for record in ours.records()]
        bare = [{name: record[name] for name in theirs.columns} for record in theirs.records()]
        assert judged == bare
        sign = -1 if statistic in LOW else 1
        assert judged
        for record in ours.records():
            (own,) = (one for one in found if one.name == record["chromosome"])
            assert own.fine is not None
            at, values = own.fine.positions, sign * own.fine.values[statistic]
            near = (at >= record["start"]) & (at <= record["end"] + 1)
            assert near.any()
            assert sign * record["fine_value"] == max(np.nanmax(values[near]), sign * record["value"])
    table = write_peaks(find_peaks(found, "pi", top=3), "bed", {}).splitlines()
    assert next(row for row in table if row.startswith("#chrom\t")).split("\t")[-2:] == ["finePosition", "fineValue"]


def test_p_values_are_of_the_coarse_row_and_positions_of_the_best_one() -> None:
    at, facts = 100.0 * np.arange(1, 6), SweepFacts(40, 101, False, 0.0, 0.0)
    options = sweep_parameters(SweepOptions(statistics=["clr"]))
    values = {"clr": np.array([0.0, 5.0, 0.0, 7.0, 0.0])}
    sites = np.full(5, 50)
    coarse = Scan("1", 1, at, at - 40, at + 40, sites, values, 101, 40, {}, facts, options)
    close = np.array([190.0, 210.0, 390.0])
    fine = replace(
        coarse,
        positions=close,
        start=close,
        end=close,
        window_sites=sites[:3],
        values={"clr": np.array([9.0, 6.0, 6.9])},
    )
    extremes = {"clr": np.array([1.0, 6.0, 8.0])}
    data = NullFacts(40, 40, False, 0.0, 0.0, 0.2, 1.0)
    null = Significance(options, 1_000, data, extremes, extremes, tuple(thresholds("clr", extremes["clr"], [0.75])))
    low, high = find_peaks([replace(coarse, fine=fine)], "clr", threshold=null).peaks
    assert (low.value, low.p_value, low.fine_position, low.fine_value) == (5.0, 0.75, 190.0, 9.0)
    assert (high.value, high.p_value, high.fine_position, high.fine_value) == (7.0, 0.5, 400.0, 7.0)


def test_a_region_without_fine_rows_has_no_fine_position(engine: Engine) -> None:
    (found,) = scan(CLEAN, SweepOptions(statistics=("clr",), step=10_000, refine=1_000, refine_margin=0), engine=engine)
    every = find_peaks([found], "clr", threshold=-1.0).peaks
    assert len(every) == 1
    lone = sorted(find_peaks([found], "clr", top=6).peaks, key=lambda one: -one.value)
    assert [peak.fine_position is None for peak in lone] == [False] + [True] * (len(lone) - 1)
    assert len(lone) > 1


def test_rows_beyond_thresholds_are_refined(
    engine: Engine, device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, null = str(tmp_path / "x.tsv"), str(tmp_path / "null.json")
    line = ["sweeps", "scan", CLEAN, "--step", "10k", "--stat", "mu,pi", "-d", str(device.index)]
    assert main([*line, "-o", place, "-q"]) == 0
    made = f"sweeps threshold --scan {place} --length 150k --replicates 19 --seed 1 --jobs 1 --fpr 0.1,0.9 --json -q"
    assert main([*made.split(), "-d", str(device.index), "-o", null]) == 0
    record = json.loads(Path(null).read_text())
    limits = {one["statistic"]: one["value"] for one in record["thresholds"] if one["fpr"] == 0.9}
    capsys.readouterr()
    assert main([*line, "--refine", "500", "--refine-margin", "0", "--threshold", null, "-o", place]) == 0
    assert "fine rows" in capsys.readouterr().err
    (found,) = read_report(place)
    passing = (found.values["mu"] > limits["mu"]) | (found.values["pi"] < limits["pi"])
    assert 0 < passing.sum() < len(passing)
    assert found.fine is not None
    distance = np.abs(found.fine.positions[:, None] - found.positions[passing])
    assert distance.min(axis=1).max() <= 5_000
    assert (distance.min(axis=0) <= 500).all()
    other = [*line, "--refine", "500", "--threshold", null, "-w", "20", "-o", str(tmp_path / "none.tsv")]
    assert main(other) == 2
    assert "scanned with --width 50" in capsys.readouterr().err
    assert not (tmp_path / "none.tsv").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"refine": 0, "step": 5}, "refine=0: give a number of bp"),
        ({"refine": 5, "step": 5}, "refine=5 is not closer than step=5"),
        ({"refine": 5}, "refine adds positions to those of a grid"),
        ({"refine": 5, "grid": 9, "precision": "compat"}, "RAiSD has one grid"),
        ({"refine": 5, "step": 9, "refine_quantile": 1.0}, "refine_quantile=1.0: it lies between 0 and 1"),
        ({"refine": 5, "step": 9, "refine_margin": -1}, "refine_margin=-1: give a number of bp"),
        ({"step": 9, "refine_margin": 1}, "refine_margin has no effect without refine"),
        ({"step": 9, "refine_quantile": 0.9}, "refine_quantile has no effect without refine"),
    ],
)
def test_options_that_make_no_sense(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        SweepOptions(**change)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--step 5k --refine 1k --format raisd", "--format raisd has no place for fine rows"),
        ("--step 5k --refine 1k --refine-quantile 0.9 --threshold x.json", "x.json: no such file"),
        ("--refine 1k", "--refine adds positions to those of a grid; give --step or --grid"),
    ],
)
def test_what_the_command_refuses(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweeps", "scan", CLEAN, *words.split()]) in (2, 3)
    assert message in capsys.readouterr().err


def test_thresholds_without_refinement_are_refused(engine: Engine) -> None:
    null = find_thresholds(THREE, SweepOptions(statistics=("pi",), step=20_000), fpr=[0.5], engine=engine)
    with pytest.raises(ParameterError, match="has no effect without refine"):
        scan(CLEAN, SweepOptions(step=20_000), thresholds=null, engine=engine)
