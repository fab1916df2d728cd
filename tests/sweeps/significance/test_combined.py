"""The combined score: local p, the best within reach, thresholds from the other half, false discovery rates, peaks."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from helpers.products import examples
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import UsageError
from oclgenomics.sweeps import Scan, SweepOptions, find_peaks, sweep_parameters
from oclgenomics.sweeps.significance import combined, thresholds
from oclgenomics.sweeps.significance.combined import COMBINED, Reference, combine, lowest_within, q_values
from oclgenomics.sweeps.significance.thresholds import Significance
from oclgenomics.sweeps.sites.used import SweepFacts

PARAMETERS = sweep_parameters(SweepOptions(statistics=["mu", "pi"]))
SCORES = st.lists(st.sampled_from([0.0, 1.0, 2.5, 3.0, math.nan]), min_size=1, max_size=40)


def track(mu: list[float], pi: list[float], name: str = "1", step: float = 4_000.0) -> Scan:
    """A scan of two statistics with a row every `step` bp."""
    at = step * np.arange(1, len(mu) + 1)
    values = {"mu": np.array(mu), "pi": np.array(pi)}
    facts = SweepFacts(40, 10 * len(mu), False, 0.0, 0.0)
    return Scan(name, 1, at, at - 10, at + 10, np.full(len(at), 50), values, facts.sites, 40, {}, facts, PARAMETERS)


def neutral(count: int, rows: int = 12, seed: int = 1) -> list[Scan]:
    rng = np.random.default_rng(seed)
    return [track(rng.exponential(size=rows).tolist(), rng.random(rows).tolist()) for _ in range(count)]


@settings(max_examples=60, deadline=None)
@given(values=SCORES, seen=st.floats(-1, 4), exact=st.sampled_from([0, 3, 1_000]))
def test_local_p_is_a_rank_among_all_neutral_positions(values: list[float], seen: float, exact: int) -> None:
    known = [value for value in values if not math.isnan(value)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(combined, "EXACT", exact)
        reference = Reference.of(np.array(values))
    assert float(reference.local_p(np.float64(seen))) == (1 + sum(one >= seen for one in known)) / (1 + len(known))
    assert float(reference.local_p(np.float64(math.nan))) == 1.0


def test_references_keep_the_tail_and_quantiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(combined, "EXACT", 50)
    monkeypatch.setattr(combined, "QUANTILES", 20)
    values = np.random.default_rng(3).permutation(1_000).astype(np.float64)
    reference = Reference.of(values)
    assert len(reference.scores) <= 71
    assert reference.local_p(np.arange(950.0, 1_001)).tolist() == pytest.approx(np.arange(51, 0, -1) / 1_001)
    bulk = np.arange(950.0)
    exact = (1_001 - bulk) / 1_001
    assert np.abs(reference.local_p(bulk) - exact).max() < 0.06
    assert (np.diff(reference.local_p(bulk)) <= 0).all()


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.floats(0, 1), max_size=40),
    reach=st.sampled_from([0.0, 1.0, 2.5, 100.0]),
    seed=st.integers(0, 99),
)
def test_the_lowest_value_within_reach(values: list[float], reach: float, seed: int) -> None:
    at = np.sort(np.random.default_rng(seed).integers(0, 60, len(values))).astype(np.float64)
    found = lowest_within(at, np.array(values), reach)
    expected = [min(v for v, other in zip(values, at, strict=True) if abs(other - x) <= reach) for x in at]
    assert found.tolist() == expected


@settings(max_examples=60, deadline=None)
@given(tested=st.lists(st.floats(0.001, 1), min_size=1, max_size=30), other=st.floats(0.001, 1))
def test_q_values_are_those_of_benjamini_and_hochberg(tested: list[float], other: float) -> None:
    rising = sorted(tested)
    rates = [min(1.0, *(len(rising) * rising[j] / (j + 1) for j in range(i, len(rising)))) for i in range(len(rising))]
    found = q_values(np.array(rising), np.array(tested))
    ties = {p: min(rate for own, rate in zip(rising, rates, strict=True) if own == p) for p in rising}
    assert found.tolist() == pytest.approx([ties[p] for p in rising])
    between = float(q_values(np.array(other), np.array(tested)))
    assert between <= min([1.0, *(ties[p] for p in rising if p >= other)]) + 1e-12
    assert between >= max([0.0, *(ties[p] for p in rising if p <= other)]) - 1e-12


def test_one_half_calibrates_and_the_other_one_judges() -> None:
    scans = neutral(11)
    found, highest = combine(scans, ("mu", "pi"))
    assert found.references["mu"].total == 6 * 12
    assert found.references["pi"].scores.tolist() == sorted(-v for one in scans[::2] for v in one.values["pi"])
    for (score, place), scan in zip(highest, scans[1::2], strict=True):
        at, sums = scan.positions, np.zeros(len(scan.positions))
        for name, sign in (("mu", 1), ("pi", -1)):
            every = np.concatenate([sign * one.values[name] for one in scans[::2]])
            p = [(1 + (every >= sign * value).sum()) / 73 for value in scan.values[name]]
            sums -= [math.log(min(p[j] for j in range(12) if abs(at[j] - x) <= 10_000)) for x in at]
        assert score == pytest.approx(sums.max())
        assert place == at[sums.argmax()]
    for few in (scans[:1], []):
        with pytest.raises(UsageError, match="two neutral replicates"):
            combine(few, ("mu", "pi"))
    with pytest.raises(UsageError, match="no neutral replicate has a value of pi"):
        combine(
            [replace(one, values={"mu": one.values["mu"], "pi": np.full(12, np.nan)}) for one in scans], ("mu", "pi")
        )


def test_peaks_list_what_agrees() -> None:
    null = Significance.of(iter(neutral(399)), ("mu", "pi"), (0.05,), 48_000, ("mu", "pi"))
    assert list(null.extremes) == ["mu", "pi", COMBINED]
    assert len(null.extremes[COMBINED]) == 199
    rows = 36  # three stretches
    mu, pi = [0.1] * rows, [0.9] * rows
    mu[20], pi[21], mu[33], pi[2] = 50.0, -1.0, 50.0, math.nan
    scan = track(mu, pi)
    peaks = find_peaks([scan], COMBINED, threshold=null)
    best, *others = sorted(peaks.peaks, key=lambda one: -one.value)
    assert best.position in (scan.positions[20], scan.positions[21])  # the middle of a plateau of rows 19 to 22
    judged = null.judged(scan)
    row = judged.best(COMBINED)
    assert row is not None
    assert best.position == judged.positions[row]
    plateau = replace(scan, values={COMBINED: np.array([1.0, 3, 3, 3, 3, 3, 2] + [0.0] * 29), "mu": np.ones(36)})
    assert (plateau.middle(COMBINED, 1), plateau.middle(COMBINED, 7), plateau.middle("mu", 1)) == (3, 21, 1)
    assert (best.p_value, best.q_value) == (0.005, 0.015)
    assert best.local_p is not None
    assert best.local_p["mu"] == best.local_p["pi"] == 1 / (1 + 200 * 12)
    assert best.value == pytest.approx(-2 * math.log(1 / 2401))
    for other in others:  # mu alone
        assert other.local_p is not None
        assert other.local_p["mu"] < other.local_p["pi"]
        assert other.q_value is not None
        assert other.p_value is not None
        assert other.q_value >= best.q_value
    assert not find_peaks([track([0.1] * rows, [0.9] * rows)], COMBINED, threshold=null).peaks
    judged = null.judged(scan)
    assert float(judged.values["combined_p"].min()) == 0.005
    with pytest.raises(UsageError, match="needs pi, which the scan lacks"):
        find_peaks([replace(scan, values={"mu": scan.values["mu"]})], COMBINED, threshold=null)
    with pytest.raises(UsageError, match="were not combined"):
        find_peaks([scan], COMBINED, threshold=replace(null, combination=None))
    with pytest.raises(UsageError, match="is not in the scan"):
        find_peaks([scan], COMBINED, top=3)


def plainly_refined(scan: Scan, references: dict[str, list[float]], start: int, end: int) -> tuple[list[float], float]:
    """The score of each fine row, and the fine row nearest to the middle of the highest plateau of a region."""
    assert scan.fine is not None
    fine, scores = scan.fine, []
    rows = [(x, own, i) for own in (scan, fine) for i, x in enumerate(own.positions.tolist())]
    for x in fine.positions:
        total = 0.0
        for name, every in references.items():
            sign = -1 if name == "pi" else 1
            near = [sign * own.values[name][i] for at, own, i in rows if abs(at - x) <= combined.REACH]
            p = [(1 + sum(one >= value for one in every)) / (1 + len(every)) for value in near if value == value]
            total -= math.log(min([1.0, *p]))
        scores.append(total)
    inside = [i for i, x in enumerate(fine.positions) if start <= x <= end]
    best = max(inside, key=lambda i: (round(scores[i], 9), -i))
    plateau = []
    for i in inside[inside.index(best) :]:
        if abs(scores[i] - scores[best]) > 1e-9:
            break
        plateau.append(float(fine.positions[i]))
    middle = (plateau[0] + plateau[-1]) / 2
    return scores, min(plateau, key=lambda x: (abs(x - middle), x))


@settings(max_examples=examples(30), deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_peaks_are_refined_to_the_middle_of_a_plateau_of_fine_rows(seed: int) -> None:
    rng, scans = np.random.default_rng(seed), neutral(60, seed=5)
    null = Significance.of(iter(scans), ("mu", "pi"), (0.5,), 48_000, ("mu", "pi"))
    own = {
        name: np.concatenate([sign * one.values[name] for one in scans[::2]]).tolist()
        for name, sign in (("mu", 1), ("pi", -1))
    }
    mu, pi = rng.exponential(size=20), rng.random(20)
    mu[rng.integers(5, 15)], pi[rng.integers(5, 15)], pi[3] = 20.0, -0.1, math.nan
    scan = track(mu.tolist(), pi.tolist())
    at = np.sort(rng.choice(np.arange(16_000.0, 64_000.0, 500.0), 40, replace=False))
    values = {"mu": rng.exponential(size=40) * 4, "pi": rng.random(40) - 0.05}
    fine = replace(scan, positions=at, start=at - 10, end=at + 10, window_sites=np.full(40, 50), values=values)
    scan = replace(scan, fine=fine)
    judged = null.judged(scan)
    assert judged.fine is not None
    assert judged.values[COMBINED].tolist() == null.judged(replace(scan, fine=None)).values[COMBINED].tolist()
    assert "combined_p" not in judged.fine.values
    for peak in find_peaks([scan], COMBINED, threshold=null).peaks:
        if not ((at >= peak.start) & (at <= peak.end)).any():
            assert peak.fine_position is None
            continue
        scores, place = plainly_refined(scan, own, peak.start, peak.end)
        np.testing.assert_allclose(judged.fine.values[COMBINED], scores)
        best = max(one for one, x in zip(scores, at, strict=True) if peak.start <= x <= peak.end)
        if best < peak.value - 1e-9:
            place = peak.position
        assert (peak.fine_position, peak.fine_value) == (place, pytest.approx(max(best, peak.value)))
        assert peak.p_value == float(null.p_values(COMBINED, peak.value))


def test_rates_of_neutral_replicates_are_those_asked_for() -> None:
    null = Significance.of(iter(neutral(599)), ("mu", "pi"), (0.1,), None, ("mu", "pi"))
    limit = null.threshold(COMBINED).value
    fresh = [null.judged(one) for one in neutral(1_000, seed=2)]
    rate = np.mean([float(one.values[COMBINED].max()) > limit for one in fresh])
    assert 0.06 < rate < 0.14


def test_rates_under_another_history_are_those_that_were_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    null = Significance.of(iter(neutral(39)), ("mu", "pi"), (0.1,), None, ("mu", "pi"))
    monkeypatch.setattr(thresholds, "WRONG_HISTORY", {"pi": (40, 2), "mu+pi": (30, 3), "mu+h12": (20, 4)})
    assert thresholds.wrong_rates(null) == ["pi 40 and 2 %", "combined 30 and 3 %"]
    monkeypatch.setattr(thresholds, "WRONG_HISTORY", {"mu+h12": (20, 4)})
    assert not thresholds.wrong_rates(null)
