"""Evaluations of labelled reads, the thresholds chosen by them, and what these bring in a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.sdtw import (
    CRESCENT,
    AlignOptions,
    ClassOfReads,
    LabelledScores,
    RunModel,
    StagedEvaluation,
    choose_for_run,
    choose_thresholds,
    differences,
    evaluate,
    evaluate_stages,
    expected_enrichment,
)
from oclgenomics.sdtw.decisions.thresholds import Stage, Thresholds, parse_stages

NAN, INF = float("nan"), float("inf")


def labelled(target: Any, other: Any, prefixes: tuple[int, ...] = (1000,), **changes: Any) -> LabelledScores:
    target, other = (np.array(scores, np.float64).reshape(-1, len(prefixes)) for scores in (target, other))
    names = [
        np.array([f"{word}{i}" for i in range(len(scores))], object) for word, scores in (("t", target), ("o", other))
    ]
    scores = LabelledScores("variant", prefixes, target, other, *names, AlignOptions(), "cost", ("virus",))
    return replace(scores, **changes)


def normal(reads: int, shift: float, seed: int = 1, **changes: Any) -> LabelledScores:
    rng = np.random.default_rng(seed)
    return labelled(rng.normal(0, 1, reads), rng.normal(shift, 1, reads), **changes)


def test_an_evaluation_by_hand() -> None:
    scores = labelled([[1, 10], [2, NAN], [6, 30], [3, NAN]], [[4, 40], [5, 20], [7, INF]], (1000, 2000))
    first, second = evaluate(scores, rounds=20, splits=3).prefixes
    assert (first.threshold, first.recall, first.fpr) == (3.5, 0.75, 0)
    assert first.f.value == 2 * 0.75 / 1.75
    assert (first.precision, first.accuracy) == (1, 0.875)
    assert (first.short_targets, second.short_targets, second.short_others) == (0, 2, 0)
    assert second.record()["targets"] == 2
    assert (second.threshold, second.recall, second.fpr) == (35, 1, 1 / 3)
    assert second.precision == pytest.approx(0.75)
    assert second.accuracy == pytest.approx(1 - 1 / 6)


@given(st.integers(1, 4), st.integers(0, 5))
def test_pieces_of_a_read_are_drawn_and_halved_together(pieces: int, seed: int) -> None:
    reads = normal(9, 1.5, seed)
    repeated = replace(
        reads,
        **{name: np.repeat(getattr(reads, name), pieces, axis=0) for name in ("target", "other")},
        **{name: np.repeat(getattr(reads, name), pieces) for name in ("target_names", "other_names")},
    )
    (whole,), (split,) = (evaluate(scores, rounds=10, splits=5, seed=seed).prefixes for scores in (reads, repeated))
    np.testing.assert_allclose(split.f_rounds, whole.f_rounds)
    np.testing.assert_allclose(split.held_out_rounds, whole.held_out_rounds)
    np.testing.assert_allclose(split.held_out.value, whole.held_out.value)


def test_classes_may_weigh_as_many_reads_as_they_have() -> None:
    scores = labelled([1, 5], [2, 3, 4, 6, 7, 8])
    found = evaluate(scores, balanced=False, rounds=0).prefixes[0]
    assert found.f.value == 2 / 3  # one target alone; all four of the first would be 4/7
    assert (found.precision, found.accuracy) == (1, 7 / 8)
    balanced = evaluate(scores, rounds=0).prefixes[0]
    assert balanced.f.value == 2 / (2 + 0.5)
    assert balanced.precision == pytest.approx(1 / 1.5)


@given(st.integers(2, 30), st.integers(0, 5))
def test_intervals(reads: int, seed: int) -> None:
    found = evaluate(normal(reads, 1.0, seed), rounds=30, splits=5).prefixes[0]
    assert 0 <= found.f.low <= found.f.high <= 1
    assert len(found.f_rounds) == len(found.held_out_rounds) == 30


def test_held_out_f_is_no_better_than_the_truth_and_intervals_hold_it() -> None:
    truth = evaluate(normal(100_000, 1.5, 99), rounds=0, splits=1).prefixes[0].f.value
    found = [evaluate(normal(40, 1.5, seed), rounds=200, splits=20).prefixes[0] for seed in range(40)]
    assert np.mean([one.f.value for one in found]) > truth  # chosen and judged by the same reads
    assert np.mean([one.held_out.value for one in found]) < truth
    assert np.mean([one.held_out.low <= truth <= one.held_out.high for one in found]) >= 0.9


def test_classes_that_lie_apart_are_not_certain() -> None:
    """No round of 20 reads of each has an error, and other reads may."""
    (found,) = evaluate(labelled(range(20), range(30, 50)), rounds=20, splits=5).prefixes
    assert found.held_out == found.f
    assert found.held_out.low < 0.8
    assert found.held_out.high == 1


def test_equal_seeds_give_equal_numbers() -> None:
    scores = normal(50, 1)
    first, again, other = (evaluate(scores, rounds=50, seed=seed).records() for seed in (1, 1, 2))
    assert first == again != other
    several = labelled(np.tile(scores.target, 2), np.tile(scores.other, 2), (500, 1000))
    assert evaluate(several, rounds=50).records()[1] == first[0]  # whatever other prefixes there are


def test_few_reads_and_no_rounds() -> None:
    found = evaluate(labelled([1], [2]), rounds=10)
    record = found.records()[0]
    assert (record["f"], record["held_out_f"], record["held_out_f_low"]) == (1, None, None)
    assert record["f_low"] < 0.02
    record = evaluate(labelled([1, 2], [3, 4]), rounds=0, splits=0).records()[0]
    assert (record["f"], record["held_out_f"], record["held_out_f_low"]) == (1, None, None)
    assert len(found.to_frame()) == 1
    assert repr(found) == "Evaluation('variant', F {1000: 1.000})"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rounds": -1}, "bootstrap=-1: give 0 to 1,000,000"),
        ({"splits": 10**7}, "splits=10000000"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_numbers_out_of_range(changes: dict[str, int], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        evaluate(normal(3, 1), **changes)


def test_prefixes_that_are_too_long() -> None:
    with pytest.raises(ParameterError, match="prefixes=1000: no target read has so many samples"):
        evaluate(labelled([NAN, NAN], [1]))


# Differences


def test_differences_are_within_rounds() -> None:
    scores = normal(200, 1)
    baseline = evaluate(scores, rounds=100)
    same = differences(evaluate(replace(scores, name="same"), rounds=100), baseline)[0]
    assert (same.name, same.baseline, same.f, same.held_out) == ("same", "variant", (0, 0, 0), (0, 0, 0))
    better = evaluate(replace(scores, target=scores.target - 0.5), rounds=100)
    found = differences(better, baseline)[0]
    assert 0 < found.f.low < found.f.value < found.f.high
    wide = better.prefixes[0].f.high - better.prefixes[0].f.low
    assert found.f.high - found.f.low < wide
    assert found.record()["f"] == better.prefixes[0].f.value - baseline.prefixes[0].f.value


def test_differences_are_of_the_same_reads() -> None:
    scores = normal(9, 1)
    one = evaluate(scores, rounds=5)
    for other in (
        evaluate(scores, rounds=5, seed=2), evaluate(scores, rounds=6), evaluate(normal(8, 1), rounds=5),
        evaluate(replace(scores, target_names=scores.target_names[::-1]), rounds=5),
        evaluate(scores, rounds=5, balanced=False),
    ):  # fmt: skip
        with pytest.raises(UsageError, match="of the same reads"):
            differences(one, other)


# Stages


def test_chosen_thresholds() -> None:
    scores = labelled([[1, 10], [2, NAN], [6, 30], [3, NAN]], [[4, 40], [5, 20], [7, INF]], (1000, 2000))
    assert choose_thresholds(scores).stages == (Stage(1000, 3.5), Stage(2000, 35))
    kept = choose_thresholds(scores, keep=0.75, made={"program": "x"})
    assert kept.stages == (Stage(1000, 3.5), Stage(2000, 35))
    assert choose_thresholds(scores, keep=1).stages[0].reject_above == 6.5
    assert (kept.options, kept.score, kept.references, kept.made) == (
        scores.options,
        "cost",
        ("virus",),
        {"program": "x"},
    )
    assert choose_thresholds(scores, reject=1).stages == (Stage(1000, 3.5), Stage(2000, 15))
    assert choose_thresholds(scores, reject=0.6).stages == (Stage(1000, 4.5), Stage(2000, 35))
    for share in (0, 1.01, NAN):
        for name in ("keep", "reject"):
            with pytest.raises(ParameterError, match=name):
                choose_thresholds(scores, **{name: share})
    with pytest.raises(ParameterError, match="give one of them"):
        choose_thresholds(scores, keep=0.5, reject=0.5)


@st.composite
def staged_cases(draw: st.DrawFn) -> tuple[Thresholds, LabelledScores]:
    prefixes = tuple(sorted(draw(st.sets(st.integers(3, 9), min_size=1, max_size=4))))
    limits = st.integers(0, 6).map(float)
    stages = []
    for prefix in prefixes:
        low, high = sorted((draw(limits), draw(limits)))
        stages.append(Stage(prefix, high, draw(st.sampled_from([None, low]))))
    classes = []
    for _ in range(2):
        reads = draw(
            st.lists(
                st.tuples(*(st.integers(0, 7) for _ in prefixes), st.integers(0, len(prefixes))), min_size=1, max_size=9
            )
        )
        classes.append([[*read[: read[-1]], *[NAN] * (len(prefixes) - read[-1])] for read in reads])
    return Thresholds(tuple(stages), AlignOptions()), labelled(*classes, prefixes)


@given(staged_cases())
def test_stages_are_those_of_a_plain_loop(case: tuple[Thresholds, LabelledScores]) -> None:
    thresholds, scores = case
    found = evaluate_stages(thresholds, scores)
    for own, reads in ((found.target, scores.target), (found.other, scores.other)):
        fates = [fate(thresholds.stages, read.tolist()) for read in reads]
        for number in range(len(thresholds.stages)):
            assert own.rejected[number] == fates.count(("reject", number))
            assert own.accepted[number] == fates.count(("accept", number))
            assert own.short[number] == fates.count(("short", number))
            assert own.reached[number] == sum(at > number or (at == number and word != "short") for word, at in fates)
        assert own.kept == sum(word != "reject" for word, _ in fates)
    assert found.true_positive_rate == found.target.kept / len(scores.target)
    assert len(found.records()) == len(thresholds.stages)


def fate(stages: tuple[Stage, ...], scores: list[float]) -> tuple[str, int]:
    """What becomes of a read, and at which stage."""
    for number, (stage, score) in enumerate(zip(stages, scores, strict=True)):
        if score != score:
            return "short", number
        if score > stage.reject_above:
            return "reject", number
        if stage.accept_below is not None and score < stage.accept_below:
            return "accept", number
    return "accept", len(stages) - 1


def test_stages_need_the_scores_they_judge() -> None:
    scores = labelled([[1, 2]], [[3, 4]], (10, 20))
    thresholds = Thresholds(parse_stages("10:1,20:2"), AlignOptions(), references=("virus",))
    summary = evaluate_stages(thresholds, scores).summary()
    assert {name: value for name, value in summary.items() if not name.endswith(("_low", "_high"))} == {
        "targets": 1, "others": 1, "true_positive_rate": 1, "false_positive_rate": 0, "undecided_targets": 0,
        "undecided_others": 0, "samples_until_rejection": 10,
    }  # fmt: skip
    later = Thresholds(parse_stages("20:5"), AlignOptions())
    assert evaluate_stages(later, scores).summary()["samples_until_rejection"] is None
    for wrong, message in (
        (replace(thresholds, stages=parse_stages("10:1,21:2")), "a prefix of 21 samples"),
        (replace(thresholds, score="difference", references=()), "decoy"),
        (replace(thresholds, options=CRESCENT), "norm"),
        (replace(thresholds, references=("bacterium",)), "bacterium"),
    ):
        with pytest.raises(UsageError, match=message):
            evaluate_stages(wrong, scores)
    with pytest.raises(UsageError, match="no target read"):
        evaluate_stages(thresholds, replace(scores, target=np.empty((0, 2))))


# Runs


def staged(target: ClassOfReads, other: ClassOfReads, options: AlignOptions | None = None) -> StagedEvaluation:
    return StagedEvaluation(Thresholds(parse_stages("1000:1,2000:1"), options or AlignOptions()), target, other)


ALL_KEPT = ClassOfReads(10, (10, 10), (0, 0), (0, 10), (0, 0))
RUN = RunModel(target_share=0.1, target_length=4500, other_length=9000, capture_seconds=2, latency=0.75)


def test_nothing_rejected_is_no_enrichment() -> None:
    found = expected_enrichment(staged(ALL_KEPT, ALL_KEPT), RUN)
    assert found.enrichment == 1
    assert found.target_base_share == pytest.approx(found.plain_target_base_share)
    assert found.plain_target_base_share == pytest.approx(450 / (450 + 8100))


def test_enrichment_by_hand() -> None:
    """Targets take 10 s, others 20 s; 4 of 10 others leave after 1 s, 5 after 1.25 s, one of 10 targets after 1 s."""
    target = ClassOfReads(10, (10, 9), (1, 0), (0, 9), (0, 0))
    other = ClassOfReads(10, (10, 6), (4, 5), (0, 1), (0, 0))
    found = expected_enrichment(staged(target, other), RUN)
    plain = 2 + 0.1 * 10 + 0.9 * 20
    seconds = 2 + 0.1 * (0.1 * 1 + 0.9 * 10) + 0.9 * (0.4 * 1 + 0.5 * 1.25 + 0.1 * 20)
    assert found.enrichment == pytest.approx(0.9 * plain / seconds)
    assert found.strands_per_hour == pytest.approx(3600 * 512 / seconds)
    assert found.target_base_share == pytest.approx(0.1 * 0.9 * 4500 / (450 * (seconds - 2)))
    aligned = 0.1 * (1000 + 0.9 * 2000) + 0.9 * (1000 + 0.6 * 2000)
    assert found.aligned_samples_per_second == pytest.approx(512 * aligned / seconds)
    blocks = expected_enrichment(staged(target, other, CRESCENT), RUN)
    assert blocks.aligned_samples_per_second == pytest.approx(512 * (0.1 * 1900 + 0.9 * 1600) / seconds)
    assert set(found.record()) > {"enrichment"}


def test_a_read_ends_before_it_is_rejected() -> None:
    """A rejected read holds the pore no longer than a whole one."""
    other = ClassOfReads(10, (10, 0), (10, 0), (0, 0), (0, 0))
    run = replace(RUN, other_length=90, target_length=90)
    assert expected_enrichment(staged(ALL_KEPT, other), run).enrichment == 1


@given(staged_cases(), st.integers(1, 4).map(lambda part: part / 5))
def test_no_threshold_of_a_run_can_be_chosen_better(case: tuple[Thresholds, LabelledScores], share: float) -> None:
    scores = case[1]
    assume(not np.isnan(scores.target).all(axis=0).any() and not np.isnan(scores.other).all(axis=0).any())
    run = replace(RUN, target_share=share, rate=1, latency=0)
    found = choose_for_run(scores, run)
    reached = enrichment_of(found.stages, scores, run)
    assert reached >= enrichment_of(choose_thresholds(scores).stages, scores, run) - 1e-12
    for number, stage in enumerate(found.stages):
        lowest = float(np.nanmin(scores.target[:, number]))
        for value in np.arange(lowest, 8, 0.5):
            changed = (*found.stages[:number], Stage(stage.prefix, value), *found.stages[number + 1 :])
            assert enrichment_of(changed, scores, run) <= reached + 1e-12


def enrichment_of(stages: tuple[Stage, ...], scores: LabelledScores, run: RunModel) -> float:
    return expected_enrichment(evaluate_stages(Thresholds(stages, AlignOptions()), scores), run).enrichment


@pytest.mark.parametrize(
    ("name", "value"),
    [("target_share", 0), ("target_share", 1), ("channels", 0), ("latency", -1), ("speed", INF), ("rate", NAN)],
)
def test_runs_that_cannot_be(name: str, value: float) -> None:
    with pytest.raises(ParameterError, match=name):
        replace(RUN, **{name: value})
