"""nSL and iHS of selscan 3.0.0, their oracle, how scores are normalised, and windows of them on the rows of a scan."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from helpers.sweep_sites import states_of, varying

from oclgenomics.cli.main import main
from oclgenomics.runtime import Device, Engine
from oclgenomics.sweeps import Scan, SweepOptions, scan
from oclgenomics.sweeps.reference_ehh import Rules, core_score
from oclgenomics.sweeps.statistics.ehh import SiteScores, normalised, score_bins, windows_of_scores
from oclgenomics.variation import Alignment, ReadOptions, read_alignments
from oclgenomics.variation.bed import BedRegions

TESTS = Path(__file__).parents[2]
INPUTS, REPORTS = TESTS / "data" / "sweeps", TESTS / "golden" / "sweeps"
# name: score, unphased, what becomes of sites at the edge
RUNS = {
    "p.nsl": ("nsl", False, "drop"), "pi.ihs": ("ihs", False, "keep"), "pu.nsl": ("nsl", True, "drop"),
    "pu.ihs": ("ihs", True, "drop"),
}  # fmt: skip


def golden(name: str) -> list[list[str]]:
    rows = gzip.decompress((REPORTS / f"selscan.{name}.out.gz").read_bytes()).decode().splitlines()
    return [row.split("\t") for row in rows[1:]]


def clean(*, unphased: bool) -> Alignment:
    (one,) = read_alignments(INPUTS / "phased_clean.vcf.gz", ReadOptions(records="raisd"))
    if not unphased:
        return one
    states, _ = states_of(one)
    return Alignment.from_genotypes(one.positions, states.reshape(len(states), -1, 2), phased=False)


def printed(value: float) -> set[str]:
    """What selscan may print: its sums are off in the last bits, which counts where the exact digits end halfway."""
    return {f"{value * (1 + off):g}" for off in (-1e-12, 0, 1e-12)}


@pytest.mark.parametrize("name", RUNS)
def test_scores_are_those_of_selscan(name: str, engine: Engine) -> None:
    score, unphased, edge = RUNS[name]
    (found,) = scan(clean(unphased=unphased), SweepOptions(statistics=[score], ehh_edge=edge), engine=engine)  # type: ignore[list-item,arg-type]
    scores: SiteScores = found.details[score]
    columns = (scores.positions, scores.frequency, scores.first, scores.second, scores.score)
    rows = golden(name)
    assert len(rows) == len(scores.score)
    for row, *values in zip(rows, *(column.tolist() for column in columns), strict=True):
        for word, value in zip(row[2:], values, strict=True):
            assert word in printed(value)


@pytest.mark.parametrize("name", RUNS)
def test_the_oracle_is_selscan(name: str) -> None:
    score, unphased, edge = RUNS[name]
    states, _ = states_of(clean(unphased=False))
    positions = clean(unphased=False).positions
    counts = states.sum(axis=1)
    keep = np.minimum(counts, 80 - counts) / 80 >= 0.05
    sites = (states[keep, ::2] + states[keep, 1::2] if unphased else states[keep]).tolist()
    at = positions[keep].tolist()
    rules = Rules(score, unphased=unphased, keep_edge=edge == "keep")
    known = {row[2]: row[4:] for row in golden(name)}
    for core in range(3, len(at), 41 if score == "nsl" else 139):
        found = core_score(sites, at, core, rules)
        row = known.get(str(at[core]))
        assert isinstance(found, str) == (row is None)
        if row is not None:
            assert [float(word) for word in row] == pytest.approx(found, rel=6e-6)


def test_selscans_format(device: Device, tmp_path: Path) -> None:
    line = ["sweeps", "scan", str(INPUTS / "phased_clean.vcf.gz"), "--stat", "mu,nsl", "--precision", "compat", "-q"]
    line += ["--format", "selscan", "-d", str(device.index)]
    assert main([*line, "-o", str(tmp_path / "plain")]) == 0
    assert main([*line, "--all", "-o", str(tmp_path / "all")]) == 0
    theirs = gzip.decompress((REPORTS / "selscan.p.nsl.out.gz").read_bytes()).decode().splitlines()
    ours = (tmp_path / "plain").read_text().splitlines()
    differing = [row for row, other in zip(ours, theirs, strict=True) if row != other]
    assert differing == ["1\t.\t214420\t0.2\t151.512\t32.2932\t0.671338"]  # 151.5125, of which selscan has a bit more
    rows = [row.split("\t") for row in (tmp_path / "all").read_text().splitlines()]
    assert rows[0][7:] == ["norm_nsl", "crit"]
    assert ["\t".join(row[:7]) for row in rows] == ours
    assert {(abs(float(row[7])) >= 2, row[8]) for row in rows[1:]} == {(False, "0"), (True, "1")}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "--stat mu --format selscan",
            "--format selscan holds either nsl or ihs; give one of them with --stat, not mu",
        ),
        ("--stat nsl,ihs --format selscan", "give one of them with --stat, not nsl,ihs"),
        ("--stat nsl --all", "--all has no effect without --format raisd or selscan"),
        ("--stat nsl --ehh-maf 0.6", "a minor allele frequency lies between 0 and 0.5"),
        ("--stat nsl --ehh-max-gap 0", "--ehh-max-gap 0: give a number of bp, 1 or more"),
        ("--stat nsl --ehh-edge skip", "choose one of drop, keep"),
    ],
)
def test_wrong_options_are_refused(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweeps", "scan", str(INPUTS / "phased_clean.vcf.gz"), *words.split()]) == 2
    assert message in capsys.readouterr().err


def made_scores(frequency: list[float], score: list[float], stretch: list[int] | None = None) -> SiteScores:
    count = len(score)
    nothing, number = np.zeros(count), np.arange(1.0, count + 1)
    return SiteScores(
        number, np.array(frequency), nothing, nothing, np.array(score, np.float64), np.array(score, np.float64),
        np.array(stretch or [1] * count), {},
    )  # fmt: skip


def test_scores_are_normalised_by_those_of_all_alignments_with_such_frequencies() -> None:
    rng = np.random.default_rng(1)
    frequency = np.repeat([0.1, 0.105, 0.2, 0.21, 0.22, 0.9], [30, 10, 8, 5, 30, 3])
    score = rng.normal(frequency * 10, 1 + frequency)
    halves = [made_scores(frequency[i::2].tolist(), score[i::2].tolist()) for i in (0, 1)]
    bins = score_bins(halves)
    found = np.empty(len(score))
    for i in (0, 1):
        found[i::2] = normalised(halves[i], bins).normalised
    # 0.1 and 0.105 are one bin of 40, 0.2 takes all from 0.18 to 0.22, 0.21 from 0.2 to 0.22, 0.9 from 0.22
    groups = {
        0.1: (0.1, 0.11),
        0.105: (0.1, 0.11),
        0.2: (0.18, 0.23),
        0.21: (0.2, 0.23),
        0.22: (0.22, 0.23),
        0.9: (0.22, 1),
    }
    for value in np.unique(frequency):
        low, high = groups[float(value)]
        like = score[(frequency >= low) & (frequency < high)]
        ours = score[frequency == value]
        assert found[frequency == value] == pytest.approx((ours - like.mean()) / like.std(ddof=1))


@pytest.mark.parametrize("scores", [[], [1.0], [2.0, 2.0, 2.0]])
def test_scores_that_do_not_vary_are_not_normalised(scores: list[float]) -> None:
    one = made_scores([0.5] * len(scores), scores)
    assert np.isnan(normalised(one, score_bins([one])).normalised).all()
    assert np.isnan(score_bins([])["mean"]).all()


def test_windows_are_means_of_25_scores_on_one_side_of_a_gap() -> None:
    values = np.random.default_rng(2).normal(0, 1, 60)
    values[7] = np.nan
    scores = made_scores([0.5] * 60, values.tolist(), [1] * 40 + [2] * 20)
    at, found = windows_of_scores(scores)
    known = np.flatnonzero(~np.isnan(values))
    assert len(at) == 59 - 24
    for first in range(len(at)):
        own = known[first : first + 25]
        assert at[first] == (own[0] + own[-1] + 2) / 2
        value = np.abs(values[own]).mean() if own[-1] < 40 or own[0] >= 40 else np.nan
        assert found[first] == pytest.approx(value, nan_ok=True)
    assert len(windows_of_scores(made_scores([0.5] * 24, [1.0] * 24))[0]) == 0


def scanned(options: SweepOptions, engine: Engine, exclude: BedRegions | None = None) -> list[Scan]:
    rng = np.random.default_rng(3)
    return list(
        scan(
            [varying(rng, 300, 16), varying(rng, 5, 16), varying(rng, 260, 16)], options, exclude=exclude, engine=engine
        )
    )


def test_rows_have_what_the_windows_around_them_have(engine: Engine) -> None:
    options = SweepOptions(statistics=["nsl", "ihs", "pi"], ehh_edge="keep", step=500)
    found = scanned(options, engine)
    assert list(found[0].values) == ["pi", "nsl", "ihs"]
    pooled = score_bins([one.details["nsl"] for one in found])
    for one in found:
        scores = one.details["nsl"]
        assert np.array_equal(normalised(scores, pooled).normalised, scores.normalised, equal_nan=True)
        at, values = windows_of_scores(scores)
        for row, value in zip(one.positions, one.values["nsl"], strict=True):
            near = values[(at >= row - 250) & (at < row + 250)]
            if len(near):
                assert value == np.nanmax(near)
    assert not np.isnan(found[2].values["ihs"]).all()
    assert np.isnan(found[1].values["nsl"]).all()


def test_a_region_parts_walks_and_windows(engine: Engine) -> None:
    options = SweepOptions(statistics=["nsl"], ehh_edge="keep", step=500)
    exclude = BedRegions({"1": np.array([7_000])}, {"1": np.array([7_100])})
    (one, *_) = scanned(options, engine, exclude)
    assert one.details["nsl"].unscored["excluded region"] > 10
    assert set(np.unique(one.details["nsl"].stretch)) == {1, 2}
