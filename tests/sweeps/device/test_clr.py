"""CLR on the device against SweepFinder2 and the oracle: missing states, folded sites, gaps, maps, small launches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.alignments import make_alignment
from helpers.products import examples
from helpers.sweep_sites import SEEDS
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import DeviceError
from oclgenomics.runtime import Engine
from oclgenomics.sweeps import SweepOptions, scan
from oclgenomics.sweeps.device import clr as device
from oclgenomics.sweeps.device.clr import Clr, ClrScorer, ClrValues
from oclgenomics.sweeps.reference_clr import CompositeLikelihood
from oclgenomics.sweeps.statistics.clr import (
    BP_PER_CM,
    VALUE_BITS,
    ClrSites,
    SiteClasses,
    background,
    best_alphas,
    read_spectrum,
)
from oclgenomics.variation.bed import BedRegions
from oclgenomics.variation.recombination_map import read_recombination_map

GOLDEN = Path(__file__).parents[2] / "golden" / "sweeps"


def sites_of(positions: np.ndarray, derived: np.ndarray, observed: np.ndarray, places: np.ndarray) -> ClrSites:
    first, stop = np.zeros(len(places), np.int64), np.full(len(places), len(positions), np.int64)
    counts = derived.astype(np.int32), observed.astype(np.int32)
    return ClrSites(positions, *counts, places, places, first, stop)


def random_sites(seed: int, count: int, haplotypes: int, missing: float) -> ClrSites:
    """Sites in clusters, with places on, between and beyond them."""
    rng = np.random.default_rng(seed)
    observed = np.maximum(haplotypes - rng.binomial(haplotypes, missing, count), 2)
    derived = rng.integers(1, observed)
    gaps = np.exp(rng.uniform(-3, 9, count))
    positions = np.cumsum(gaps)
    inside = rng.uniform(0, positions[-1], 2)
    places = np.array([positions[count // 2], positions[-1] + 50.0, *inside])
    return sites_of(positions, derived, observed, np.sort(places))


@pytest.mark.parametrize("name", ["sweep40_1", "missing", "folded", "map"])
def test_values_are_those_of_sweepfinder2(engine: Engine, name: str) -> None:
    sites, expected = (np.loadtxt(GOLDEN / f"sweepfinder2.{name}.{kind}", skiprows=1) for kind in ("freq", "out"))
    spectrum = read_spectrum(GOLDEN / f"sweepfinder2.{name}.spect")
    one, unit = sites_of(sites[:, 0], sites[:, 1], sites[:, 2], expected[:, 0]), 1.0
    if name == "map":
        genetic = read_recombination_map(GOLDEN / "sweepfinder2.map.rec")
        one = sites_of(BP_PER_CM * genetic.at("1", one.sites), one.derived, one.observed, one.at)
        one, unit = replace(one, at=BP_PER_CM * genetic.at("1", expected[:, 0])), BP_PER_CM
    ratios, alphas = ClrScorer(engine).scan(one, spectrum, folded=name == "folded")
    np.testing.assert_allclose(ratios, expected[:, 1], rtol=0, atol=1e-6)
    clear = expected[:, 1] > 0.05
    assert clear.sum() >= 8
    np.testing.assert_allclose(unit * alphas[clear], expected[clear, 2], rtol=4e-4)
    own = background(SiteClasses.among(one.derived, one.observed, folded=name == "folded"))
    pairs = slice(1, -1), (slice(-2, 0, -1) if name == "folded" else slice(1, -1))
    ours, theirs = (sum(each[part] for part in pairs) for each in (own, spectrum))
    np.testing.assert_allclose(ours, theirs, atol=3e-5)


@settings(max_examples=examples(8), deadline=None)
@given(
    seed=SEEDS, count=st.integers(1, 14), haplotypes=st.integers(2, 9), missing=st.sampled_from([0.0, 0.3]),
    folded=st.booleans(), most_tasks=st.sampled_from([1, 30, 1000]),
)  # fmt: skip
def test_the_best_ratios_are_those_of_the_oracle(
    engine: Engine, seed: int, count: int, haplotypes: int, missing: float, folded: bool, most_tasks: int
) -> None:
    """The oracle searches among ratios of the device: of several that are as good, rounding decides which it takes."""
    one = random_sites(seed, count, haplotypes, missing)
    rng = np.random.default_rng(seed)
    size = int(one.observed.max())
    spectrum = np.concatenate([[0.0], rng.dirichlet(np.ones(size - 1)), [0.0]])
    counts = list(zip(one.derived.tolist(), one.observed.tolist(), strict=True))
    oracle = CompositeLikelihood(one.sites.tolist(), counts, spectrum.tolist(), folded=folded)
    expected: list[tuple[float, float]] = []

    def search(low: np.ndarray, high: np.ndarray, least: np.ndarray, scores: Any) -> tuple[np.ndarray, np.ndarray]:
        for index, place in enumerate(one.at.tolist()):

            def ratio(alpha: float, place: float = place, index: int = index) -> float:
                (value,) = scores(np.array([index]), np.array([[alpha]]))[0] / 2.0**VALUE_BITS
                assert value == pytest.approx(oracle.ratio(alpha, place), rel=1e-6, abs=1e-6)
                return float(value)

            beyond = np.abs(one.sites - place).mean() < 0.01  # all sites are as near as one can be
            expected.append((np.nan, np.nan) if beyond else oracle.best(place, ratio))
        return best_alphas(low, high, least, scores)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device, "best_alphas", search)
        ratios, alphas = ClrScorer(engine, most_tasks=most_tasks).scan(one, spectrum, folded=folded)
    if expected:
        np.testing.assert_allclose(np.transpose([ratios, alphas]), expected, rtol=1e-9)
    else:
        assert np.isnan(ratios).all()


def test_ratios_of_any_alpha_are_those_of_the_oracle(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    one = random_sites(11, 40, 16, 0.1)
    rng = np.random.default_rng(11)
    spectrum = np.concatenate([[0.0], rng.dirichlet(np.ones(15)), [0.0]])
    alphas = np.exp(rng.uniform(np.log(1e-5), np.log(1e3), (len(one.at), 9)))
    found: list[np.ndarray] = []

    def tried(*given: Any) -> tuple[np.ndarray, np.ndarray]:
        found.append(given[-1](np.arange(len(one.at)), alphas) / 2.0**VALUE_BITS)
        return alphas[:, 0], alphas[:, 0]

    monkeypatch.setattr(device, "best_alphas", tried)
    ClrScorer(engine).scan(one, spectrum, folded=False)
    counts = list(zip(one.derived.tolist(), one.observed.tolist(), strict=True))
    oracle = CompositeLikelihood(one.sites.tolist(), counts, spectrum.tolist())
    expected = [[oracle.ratio(alpha, place) for alpha in row] for place, row in zip(one.at, alphas, strict=True)]
    np.testing.assert_allclose(found[0], expected, rtol=1e-7, atol=4e-7)
    assert np.count_nonzero(expected) > 20


@pytest.mark.parametrize("most_tasks", [1, 7, 26])
def test_launches_of_any_size_have_the_same_results(engine: Engine, most_tasks: int) -> None:
    one = random_sites(5, 60, 30, 0.1)
    spectrum = background(SiteClasses.among(one.derived, one.observed, folded=False))
    expected = ClrScorer(engine).scan(one, spectrum, folded=False)
    found = ClrScorer(engine, most_tasks=most_tasks).scan(one, spectrum, folded=False)
    assert np.array_equal(found, expected)


def test_a_table_serves_other_alignments_and_grows(engine: Engine) -> None:
    scorer = ClrScorer(engine)
    rng = np.random.default_rng(3)
    spectra = [np.concatenate([[0.0], rng.dirichlet(np.ones(19)), [0.0]]) for _ in range(2)]
    for seed, folded, number in ((1, False, 0), (2, False, 0), (2, True, 0), (1, False, 0), (1, False, 1)):
        one, spectrum = random_sites(seed, 20, 20, 0.1 * seed), spectra[number]
        found = scorer.scan(one, spectrum, folded=folded)
        assert np.array_equal(found, ClrScorer(engine).scan(one, spectrum, folded=folded))


def test_too_many_kinds_of_sites_are_refused(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    one = random_sites(5, 60, 30, 0.1)
    monkeypatch.setattr(type(engine), "budget", 100_000)
    with pytest.raises(DeviceError, match="leaves fewer kinds of sites") as found:
        ClrScorer(engine).scan(one, np.full(31, 1 / 31), folded=False)
    assert "raise `max_memory`" in found.value.args[0]  # which commands show as the option


# In a scan


def alignment_of(seed: int, sites: int = 60) -> object:
    rng = np.random.default_rng(seed)
    states = (rng.random((sites, 12)) < rng.uniform(0.05, 0.9, (sites, 1))).astype(np.uint8)
    states[:, 0], states[:, 1] = 0, 1
    return make_alignment(states, np.sort(rng.choice(np.arange(1, 40_000), sites, replace=False)))


def options_of(**changes: object) -> SweepOptions:
    return SweepOptions(statistics=["clr"], **({"step": 1000} | changes))


def test_rows_have_the_best_place_within_half_a_step(engine: Engine) -> None:
    alignment = alignment_of(1)
    (fine,) = scan(alignment, options_of(), engine=engine)
    (same,) = scan(alignment, options_of(step=5000, clr_step=1000), engine=engine)
    (none,) = scan(alignment, SweepOptions(statistics=["clr"], width=10, clr_step=1000), engine=engine)
    for place, value, alpha in zip(same.positions, same.values["clr"], same.values["clr_alpha"], strict=True):
        near = (fine.positions >= place - 2500) & (fine.positions < place + 2500)
        best = int(np.argmax(np.where(near, fine.values["clr"], -1)))
        assert (value, alpha) == (fine.values["clr"][best], fine.values["clr_alpha"][best])
    inside = (none.positions >= fine.positions[0]) & (none.positions <= fine.positions[-1])
    line = np.interp(none.positions[inside], fine.positions, fine.values["clr"])
    np.testing.assert_array_equal(none.values["clr"][inside], line)
    assert np.isnan(none.values["clr_alpha"][~inside]).all()


def test_alpha_is_that_of_the_nearest_place() -> None:
    native = ClrValues(np.array([10.0, 20.0, 40.0]), {"clr": np.array([1.0, 3.0, 2.0]), "clr_alpha": np.arange(3.0)})
    found = native.on_rows(np.array([5.0, 10.0, 14.0, 16.0, 31.0, 40.0]), None)
    np.testing.assert_array_equal(found["clr_alpha"], [np.nan, 0, 0, 1, 2, 2])
    one = ClrValues(np.array([10.0]), {"clr": np.array([1.0]), "clr_alpha": np.array([7.0])})
    np.testing.assert_array_equal(one.on_rows(np.array([9.0, 10.0]), 5.0)["clr_alpha"], [7, 7])
    none = ClrValues(np.zeros(0), {"clr": np.zeros(0), "clr_alpha": np.zeros(0)})
    assert np.isnan(none.on_rows(np.array([9.0]), 5.0)["clr_alpha"]).all()


def test_no_sweep_reaches_across_an_excluded_region(engine: Engine) -> None:
    alignment = alignment_of(2)
    exclude = BedRegions.of([(alignment.name, 12_000, 17_500), (alignment.name, 30_000, 30_001)])
    backgrounds = {"clr": {"spectrum": np.concatenate([[0.0], np.full(11, 1 / 11), [0.0]])}}
    how = {"backgrounds": backgrounds, "engine": engine}
    (split,) = scan(alignment, options_of(), exclude=exclude, **how)
    outside = [(1, 12_000), (17_501, 30_000), (30_002, 50_000)]
    known = np.zeros(len(split.positions), bool)
    for first, last in outside:
        inside = (alignment.positions >= first) & (alignment.positions <= last)
        rest = BedRegions.of([(alignment.name, 0, first - 1), (alignment.name, last, 60_000)])
        (own,) = scan(alignment, options_of(on_exclude="drop"), exclude=rest, **how)
        assert own.sites == inside.sum()
        here = (split.positions >= first) & (split.positions <= last)
        both = here & np.isin(split.positions, own.positions)
        np.testing.assert_array_equal(
            split.values["clr"][both], own.values["clr"][np.isin(own.positions, split.positions[both])]
        )
        known |= here
    assert np.isnan(split.values["clr"][~known]).all()
    assert 0 < (~known).sum() < len(known) / 2
    (whole,) = scan(alignment, options_of(), **how)
    (zero,) = scan(alignment, options_of(on_exclude="zero"), exclude=exclude, **how)
    np.testing.assert_array_equal(zero.values["clr"], whole.values["clr"])
    assert (split.values["clr"][known] != whole.values["clr"][known]).any()


def test_distances_are_those_of_the_map(engine: Engine, tmp_path: Path) -> None:
    alignment = alignment_of(3)
    path = tmp_path / "map"
    (plain,) = scan(alignment, options_of(), engine=engine)
    for rate in (1.0, 4.0):
        rows = [(1000, 0), (20_000, rate * 19_000 / BP_PER_CM)]
        path.write_text("chromosome bp rate cM\n" + "".join(f"{alignment.name} {bp} 0 {cm}\n" for bp, cm in rows))
        (found,) = scan(alignment, options_of(recombination_map=path), engine=engine)
        np.testing.assert_allclose(found.values["clr"], plain.values["clr"], atol=1e-5)
        clear = plain.values["clr"] > 0.1
        ratio = found.values["clr_alpha"][clear] * rate / plain.values["clr_alpha"][clear]
        np.testing.assert_allclose(ratio, 1, rtol=2e-3)


def test_the_spectrum_is_that_of_the_whole_input(engine: Engine) -> None:
    source = [alignment_of(4), alignment_of(5)]
    both = scan(source, options_of(), engine=engine)
    spectrum = both[0].backgrounds["clr"]["spectrum"]
    assert spectrum.sum() == pytest.approx(1)
    (alone,) = scan(source[1], options_of(), backgrounds=both[0].backgrounds, engine=engine)
    np.testing.assert_array_equal(alone.values["clr"], both[1].values["clr"])
    (other,) = scan(source[1], options_of(), engine=engine)
    assert (other.values["clr"] != both[1].values["clr"]).any()
    assert Clr.name == "clr"


def test_scans_say_which_spectrum_they_had(engine: Engine, tmp_path: Path) -> None:
    alignment, shares = alignment_of(4), [0.0, *[0.1] * 10, 0.0]
    texts = {"a": "%d\t%.6f\n", "copy": "# a spectrum\n%d %.3e\n", "other": "%d\t%.6f\n"}
    sums = {"": scan(alignment, options_of(), engine=engine)[0].facts.spectrum}
    for name, form in texts.items():
        shares[3] += 0.01 * (name == "other")
        (tmp_path / name).write_text("".join(form % (k, share) for k, share in enumerate(shares)))
        (found,) = scan(alignment, options_of(clr_spectrum=tmp_path / name), engine=engine)
        sums[name] = found.facts.spectrum
    assert sums["a"] == sums["copy"] != sums["other"]
    assert sums[""] == ""


def test_nothing_of_alignments_without_sites(engine: Engine) -> None:
    empty = make_alignment(np.zeros((3, 6), np.uint8), np.array([1, 5, 9]))
    one = make_alignment(np.eye(6, dtype=np.uint8)[:1], np.array([5]))
    found = scan([empty, one], options_of(), engine=engine)
    assert [len(each.positions) for each in found] == [0, 1]
    assert np.isnan(found[1].values["clr"]).all()
