"""The exact sweep against loops over every threshold, and the bootstrap against loops over every read."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.sdtw.decisions.labelled import Sweep, between
from oclgenomics.sdtw.decisions.resampling import Drawn, draw, held_out_f, highest_f, split

INF = math.inf
SCORE = st.one_of(st.integers(-5, 5).map(float), st.sampled_from([INF, 0.25, 1e300, -1e300]))
CLASS = st.lists(SCORE, min_size=1, max_size=12)
FINITE_CLASS = CLASS.filter(lambda scores: any(map(math.isfinite, scores)))


def swept(target: list[float], other: list[float], balanced: bool = True) -> Sweep:
    return Sweep(np.array(target), np.array(other), balanced=balanced)


def counted(scores: list[float], weights: list[int], threshold: float) -> int:
    return sum(
        weight for score, weight in zip(scores, weights, strict=True) if math.isfinite(score) and score <= threshold
    )


def plain_f(
    target: list[float], other: list[float], threshold: float, balanced: bool,
    target_weights: list[int] | None = None, other_weights: list[int] | None = None,
) -> Fraction:  # fmt: skip
    """F by its definition; each class has a mass of 1 if they are balanced."""
    weights, other_weights = target_weights or [1] * len(target), other_weights or [1] * len(other)
    mass, other_mass = (sum(weights), sum(other_weights)) if balanced else (1, 1)
    tp = Fraction(counted(target, weights, threshold), mass)
    fp = Fraction(counted(other, other_weights, threshold), other_mass)
    fn = Fraction(sum(weights), mass) - tp
    return tp / (tp + (fp + fn) / 2)


def thresholds_between(scores: list[float]) -> list[float]:
    """Something below all finite scores, in each gap between them, and above them."""
    finite = sorted({score for score in scores if math.isfinite(score)})
    gaps = [low + (high - low) / 2 for low, high in itertools.pairwise(finite)]
    return [-INF, *gaps, *finite[-1:]]


@settings(max_examples=300)
@given(FINITE_CLASS, CLASS, st.booleans())
def test_the_best_threshold_is_that_of_a_plain_loop(target: list[float], other: list[float], balanced: bool) -> None:
    sweep = swept(target, other, balanced)
    every = thresholds_between(target + other)
    values = [plain_f(target, other, threshold, balanced) for threshold in every]
    assert float(sweep.f.max()) == float(max(values))
    assert sweep.best == every[values.index(max(values))]
    assert float(plain_f(target, other, sweep.best, balanced)) == float(max(values))


@given(FINITE_CLASS, CLASS)
def test_roc_and_auc_are_those_of_all_pairs(target: list[float], other: list[float]) -> None:
    sweep = swept(target, other)
    wins = sum(Fraction(2 * (t < o) + (t == o), 2) for t in target for o in other)
    assert sweep.auc == pytest.approx(float(wins / (len(target) * len(other))), abs=1e-12)
    fpr, tpr = sweep.roc
    assert np.trapezoid(tpr, fpr) == pytest.approx(sweep.auc, abs=1e-12)
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)
    assert (np.diff(fpr) >= 0).all()
    assert (np.diff(tpr) >= 0).all()
    for allowed in (0.0, 0.01, 0.3, 0.5, 1.0):
        rates = [
            (counted(other, [1] * len(other), s) / len(other), counted(target, [1] * len(target), s) / len(target))
            for s in [-INF, *target, *other] if s != INF
        ]  # fmt: skip
        assert sweep.tpr_at(allowed) == max(tpr for fpr, tpr in rates if fpr <= allowed + 1e-9)


@given(FINITE_CLASS, CLASS, st.sampled_from([0.01, 0.2, 0.25, 0.5, 0.9, 0.99, 1.0]))
def test_a_share_is_kept_by_the_lowest_threshold(target: list[float], other: list[float], share: float) -> None:
    sweep = swept(target, other)
    needed = math.ceil(share * len(target) - 1e-9)
    enough = [t for t in thresholds_between(target + other) if counted(target, [1] * len(target), t) >= needed]
    if enough:
        assert sweep.keeping(share) == min(enough)
        assert sweep.rates(sweep.keeping(share))[0] * len(target) >= needed - 1e-9
    else:
        with pytest.raises(UsageError, match="of the target reads"):
            sweep.keeping(share)


@given(FINITE_CLASS, CLASS, st.sampled_from([0.01, 0.2, 0.25, 0.5, 0.9, 0.99, 1.0]))
def test_a_share_is_rejected_by_the_highest_threshold(target: list[float], other: list[float], share: float) -> None:
    sweep = swept(target, other)
    found = sweep.rejecting(share)
    allowed = math.floor((1 - share) * len(other) + 1e-9)
    assert counted(other, [1] * len(other), found) <= allowed
    few = [t for t in thresholds_between(target + other) if counted(other, [1] * len(other), t) <= allowed]
    if max(few) > -INF:
        assert found == max(few)
    else:
        assert sweep.rates(found) == (0, 0)


def test_constant_scores() -> None:
    sweep = swept([3.0] * 4, [3.0] * 9)
    assert sweep.best == 3
    assert sweep.f.tolist() == [2 / 3]
    assert sweep.auc == 0.5
    assert sweep.rates(sweep.best) == (1, 1)


def test_thresholds_lie_between_neighbours() -> None:
    one, next_one = 1.0, float(np.nextafter(1.0, 2))
    assert swept([one], [next_one]).best == one
    assert between(np.array([1.0, -1e308, 5, -INF]), np.array([2.0, 1e308, INF, 3])).tolist() == [1.5, 0, 5, -INF]
    assert swept([1.0, 2.0], [INF]).best == 2


@pytest.mark.parametrize(
    ("target", "other", "message"),
    [([], [1.0], "no target read"), ([1.0], [], "no non-target read"), ([INF], [1.0], "are saturated")],
)
def test_classes_that_cannot_be_swept(target: list[float], other: list[float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        swept(target, other)


def test_short_reads_are_left_out() -> None:
    sweep = Sweep.of_prefix(5, np.array([1, np.nan, 2]), np.array([np.nan, 3]))
    assert (sweep.target.tolist(), sweep.other.tolist()) == ([1, 2], [3])
    with pytest.raises(ParameterError, match="prefixes=5: no non-target read has so many samples"):
        Sweep.of_prefix(5, np.array([1.0]), np.array([np.nan]))


# Rounds


@settings(max_examples=60)
@given(FINITE_CLASS, CLASS, st.booleans(), st.integers(0, 99))
def test_rounds_are_those_of_plain_loops(target: list[float], other: list[float], balanced: bool, seed: int) -> None:
    sweep = swept(target, other, balanced)
    for drawn in draw(len(target), len(other), 5, np.random.default_rng(seed)):
        highest, held_out = highest_f(sweep, drawn), held_out_f(sweep, drawn)
        for number in range(5):
            weights, other_weights = drawn.target[number].tolist(), drawn.other[number].tolist()
            values = [
                plain_f(target, other, threshold, balanced, weights, other_weights)
                for threshold in thresholds_between(target + other)
            ]
            assert highest[number] == float(max(values))
            expected = plain_held_out(target, other, drawn, number, balanced)
            assert np.isnan(held_out[number]) if expected is None else held_out[number] == pytest.approx(expected)


def plain_held_out(target: list[float], other: list[float], drawn: Drawn, number: int, balanced: bool) -> float | None:
    """F of each half by the best threshold of the other: the reads of halves written out."""

    def half(scores: list[float], weights: np.ndarray, halves: np.ndarray, which: bool) -> list[float]:
        return [
            s for s, w, h in zip(scores, weights[number], halves[number], strict=True) if h == which for _ in range(w)
        ]

    parts = [
        (half(target, drawn.target, drawn.target_half, which), half(other, drawn.other, drawn.other_half, which))
        for which in (True, False)
    ]
    if not all(map(len, sum(parts, ()))):
        return None
    found = []
    for (chosen, chosen_others), (judged, judged_others) in (parts, parts[::-1]):
        finite = any(map(math.isfinite, chosen))
        threshold = swept(chosen, chosen_others, balanced).best if finite else -INF
        found.append(plain_f(judged, judged_others, threshold, balanced))
    return float(sum(found) / 2)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 20))
def test_rounds_keep_the_sizes_of_classes(targets: int, others: int, seed: int) -> None:
    for drawn in draw(targets, others, 7, np.random.default_rng(seed)):
        assert (drawn.target.sum(axis=1) == targets).all()
        assert (drawn.other.sum(axis=1) == others).all()
    for drawn in split(targets, others, 7, np.random.default_rng(seed)):
        assert (drawn.target == 1).all()
        for halves, reads in ((drawn.target_half, targets), (drawn.other_half, others)):
            assert set(halves.sum(axis=1)) <= {reads // 2, -(-reads // 2)}


def test_rounds_do_not_depend_on_how_many_are_made_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their number is right, and each read is drawn once a round in the mean."""
    monkeypatch.setattr("oclgenomics.sdtw.decisions.resampling.CHUNK", 64)
    rounds = list(draw(10, 20, 1001, np.random.default_rng(1)))
    assert sum(len(drawn.target) for drawn in rounds) == 1001
    mean = np.concatenate([drawn.target for drawn in rounds]).mean(axis=0)
    assert np.abs(mean - 1).max() < 0.15
    assert list(draw(1000, 1000, 0, np.random.default_rng(1))) == []
