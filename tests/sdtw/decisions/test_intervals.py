"""Intervals of evaluations: exact for shares, and true for thresholds chosen by the same reads."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from oclgenomics.sdtw import (
    AlignOptions,
    LabelledScores,
    RunModel,
    Stage,
    Thresholds,
    choose_for_run,
    choose_thresholds,
    evaluate,
    evaluate_stages,
    expected_enrichment,
)
from oclgenomics.sdtw.decisions.intervals import (
    area_interval,
    beta_share,
    local_miss,
    reads_needed,
    share_interval,
)

RUN = RunModel()


def tail(count: int, total: int, share: float) -> float:
    """The probability of so many or more, exactly."""
    p = Fraction(share)
    return float(sum(math.comb(total, n) * p**n * (1 - p) ** (total - n) for n in range(count, total + 1)))


@pytest.mark.parametrize(("count", "total"), [(0, 1), (1, 1), (3, 10), (10, 10), (0, 40), (39, 40), (17, 60)])
@pytest.mark.parametrize("miss", [0.05, 0.004])
def test_shares_at_the_ends_are_as_unlikely_as_asked_for(count: int, total: int, miss: float) -> None:
    low, high = share_interval(count, total, miss)
    assert low == 0 if count == 0 else tail(count, total, low) == pytest.approx(miss / 2, rel=1e-9)
    assert high == 1 if count == total else 1 - tail(count + 1, total, high) == pytest.approx(miss / 2, rel=1e-9)


def test_many_reads() -> None:
    low, high = share_interval(999_000, 1_000_000)
    assert (low, high) == pytest.approx((0.9989360818926807, 0.9990609987920491), rel=1e-9)
    assert beta_share(0.0, 2, 3) == 0
    assert beta_share(1.0, 2, 3) == 1


def test_areas() -> None:
    assert area_interval(1.0, 1, 1) == pytest.approx((0.025, 1))
    assert area_interval(0.0, 9, 9)[0] == 0
    assert area_interval(0.5, 40, 70) == pytest.approx(share_interval(20, 40))


@pytest.mark.parametrize("reads", [1, 4, 30, 150])
def test_intervals_of_all_thresholds_hold_at_once(reads: int) -> None:
    """Uniform scores, so that the share below a threshold is the threshold."""
    drawn = np.sort(np.random.default_rng(reads).random((1500, reads)), axis=1)
    ends = np.array([share_interval(rank, reads, local_miss(reads)) for rank in range(reads + 1)])
    held = (drawn >= ends[1:, 0]).all(axis=1) & (drawn <= ends[:-1, 1]).all(axis=1)
    assert 0.93 <= held.mean() <= 0.985


def test_reads_that_are_needed() -> None:
    assert reads_needed(1.0, 0.2) < reads_needed(0.9, 0.2) < reads_needed(0.5, 0.2) < reads_needed(0.5, 0.1)
    low, high = share_interval(round(0.9 * 100), 100, local_miss(100))
    assert reads_needed(0.9, 0.2) > 100 or high - low <= 0.2


def scores_of(rng: np.random.Generator, reads: int) -> LabelledScores:
    """Two stages that depend on each other, and some targets that are like no target."""
    classes = []
    for middle, strange in ((-1.2, 0.07), (1.2, 0.0)):
        shift = np.where(rng.random((reads, 1)) < strange, 3, middle)
        both = rng.normal(0, 0.6, (reads, 1)) + rng.normal(0, [[1.0, 0.6]], (reads, 2))
        classes.append(1000 * (10 + shift + both))
    return labelled(*classes)


def labelled(target: NDArray[np.float64], other: NDArray[np.float64]) -> LabelledScores:
    names = [np.array([f"{number}" for number in range(len(one))], object) for one in (target, other)]
    return LabelledScores("x", (1000, 2000), target, other, names[0], names[1], AlignOptions(arithmetic="int32"))


@pytest.mark.parametrize(("rule", "reads"), [("highest F", 1), ("highest F", 40), ("keep", 5), ("run", 5), ("run", 40)])
def test_what_is_printed_holds_the_truth(rule: str, reads: int) -> None:
    """Thresholds chosen by few reads, judged by very many others."""
    rng = np.random.default_rng(reads)
    others = scores_of(rng, 3_000)
    held = []
    for _ in range(30):
        scores = scores_of(rng, reads)
        if rule == "run":
            thresholds = choose_for_run(scores, RUN)
        else:
            thresholds = choose_thresholds(scores, keep=0.9 if rule == "keep" else None)
        staged, truth = evaluate_stages(thresholds, scores, chosen=True), evaluate_stages(thresholds, others)
        found, true = expected_enrichment(staged, RUN), expected_enrichment(truth, RUN)
        rates = truth.true_positive_rate, truth.false_positive_rate
        ends = [*zip(rates, staged.kept, strict=True)]
        ends += [(getattr(true, name), own) for name, own in found.intervals.items()]
        if staged.rejection_interval is not None and not np.isnan(truth.samples_until_rejection):
            ends.append((truth.samples_until_rejection, staged.rejection_interval))
        held.append([low - 1e-9 <= value <= high + 1e-9 for value, (low, high) in ends[:6]])
        assert all(low - 1e-9 <= value <= high + 1e-9 for value, (low, high) in own_values(staged, found))
    assert np.mean(held, axis=0).min() >= 0.9


def own_values(staged, found):  # type: ignore[no-untyped-def]
    """Values and their own intervals."""
    yield from zip((staged.true_positive_rate, staged.false_positive_rate), staged.kept, strict=True)
    yield from ((getattr(found, name), ends) for name, ends in found.intervals.items())
    if staged.rejection_interval is not None:
        yield staged.samples_until_rejection, staged.rejection_interval


def test_rates_of_a_prefix_hold_the_truth() -> None:
    rng = np.random.default_rng(4)
    truth = evaluate(scores_of(rng, 4_000), rounds=0, splits=0).prefixes[0]
    held = []
    for _ in range(25):
        one = evaluate(scores_of(rng, 15), rounds=0, splits=0).prefixes[0]
        recall, fpr = truth.sweep.rates(one.threshold)
        values = {
            "recall": recall, "fpr": fpr, "precision": recall / (recall + fpr), "accuracy": (recall + 1 - fpr) / 2,
            "auc": truth.sweep.auc, "tpr_at_fpr_1": truth.sweep.tpr_at(0.01), "tpr_at_fpr_5": truth.sweep.tpr_at(0.05),
        }  # fmt: skip
        assert set(values) == set(one.intervals)
        record = one.record()
        ends = [(values[name], low, high) for name, (low, high) in one.intervals.items()]
        assert all(low <= record[name] <= high for name, (low, high) in one.intervals.items())
        ends.append((2 * recall / (recall + fpr + 1), one.f.low, one.f.high))
        held.append([low <= value <= high for value, low, high in ends])
    assert np.mean(held, axis=0).min() >= 0.88


def test_one_read_of_each_class_says_nothing() -> None:
    scores = labelled(np.array([[1.0, 1.0]]), np.array([[2.0, 2.0]]))
    staged = evaluate_stages(choose_thresholds(scores), scores, chosen=True)
    assert staged.true_positive_rate == 1
    assert staged.kept == ((pytest.approx(0.025), 1), (0, pytest.approx(0.975)))
    assert not staged.tells_apart
    low, high = expected_enrichment(staged, RUN).intervals["enrichment"]
    assert low < 0.1
    assert high > 6


def test_pieces_of_a_read_count_once() -> None:
    rng = np.random.default_rng(6)
    scores = scores_of(rng, 60)
    pieces = replace(scores, target_names=np.array([f"{n // 6}" for n in range(60)], object))
    thresholds = Thresholds((Stage(1000, 10_500), Stage(2000, 10_500)), scores.options)
    one, other = (evaluate_stages(thresholds, some).kept[0] for some in (scores, pieces))
    assert other.low < one.low < one.high < other.high
    one, other = (evaluate(some, rounds=0, splits=0).prefixes[0].intervals["recall"] for some in (scores, pieces))
    assert other.low < one.low
