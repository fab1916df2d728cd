"""Pages of evaluations: curves, histograms and tables of the same scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oclgenomics.sdtw.decisions.labelled import LabelledScores
from oclgenomics.sdtw.decisions.report import EvaluationOptions, EvaluationReport, choose, judge
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.plots.pages import CORNERS, evaluation_page


def report_of(reads: int = 40, seed: int = 1, names: tuple[str, ...] = ("one",), rounds: int = 20) -> EvaluationReport:
    rng = np.random.default_rng(seed)
    prefixes = (500, 1000, 2000)
    scores = []
    for name in names:
        target, other = (rng.normal(middle, 1, (reads, len(prefixes))) for middle in (0, 2))
        target[1:3, -1] = np.inf
        read_names = np.arange(reads).astype(object)
        given = (name, prefixes, target, other, read_names, read_names, AlignOptions(), "difference", ("a", "b"))
        scores.append(LabelledScores(*given))
    options = EvaluationOptions(rounds=rounds, splits=0)
    return judge(scores, choose(scores[0], options), options, chosen=True)


@settings(max_examples=15)
@given(st.integers(5, 60), st.integers(0, 1 << 32))
def test_figures_show_the_scores(reads: int, seed: int) -> None:
    report = report_of(reads, seed, rounds=0)
    (first,) = report.evaluations
    curves, roc, histograms, prefixes, stages = evaluation_page(report, title="x").parts
    *_, line = curves.traces
    assert line["y"].tolist() == [one.f.value for one in first.prefixes]
    *rates, points = roc.traces
    for trace, one in zip(rates, first.prefixes, strict=True):
        assert (trace["x"][0], trace["y"][0], trace["x"][-1], trace["y"][-1]) == (0, 0, 1, 1)
        corners = set(zip(*(array.tolist() for array in one.sweep.roc), strict=True))
        assert set(zip(trace["x"].tolist(), trace["y"].tolist(), strict=True)) <= corners
    judged = report.staged.thresholds.stages
    for number, stage in enumerate(judged):
        one = next(one for one in first.prefixes if one.prefix == stage.prefix)
        tpr, fpr = one.sweep.rates(stage.reject_above)
        assert (points["y"][number], points["x"][number]) == (tpr, fpr)
    bars = [trace for trace in histograms.traces if trace["type"] == "bar"]
    assert [trace["visible"] for trace in histograms.traces if trace["name"] == "targets"] == [True, False, False]
    for trace, one in zip(bars[::2], first.prefixes, strict=True):
        edges, finite = trace["customdata"], one.sweep.target[np.isfinite(one.sweep.target)]
        inside = (finite >= edges[0, 0]) & (finite <= edges[-1, 1])
        assert edges[:, 2].sum() == inside.sum()
        np.testing.assert_allclose(trace["y"] * len(one.sweep.target), edges[:, 2])
    assert [row[1] for row in prefixes.rows] == [500, 1000, 2000]
    assert [row[2] for row in prefixes.rows] == [one.f.value for one in first.prefixes]
    assert [row[0] for row in stages.rows] == [stage.prefix for stage in judged]


def test_intervals_are_bands() -> None:
    report = report_of(names=("one", "two"))
    curves = evaluation_page(report, title="x").parts[0]
    assert [trace.get("name") for trace in curves.traces] == [None, None, "one", None, None, "two"]
    low, high, middle = curves.traces[:3]
    assert np.all(low["y"] <= middle["y"])
    assert np.all(middle["y"] <= high["y"])
    assert high["fill"] == "tonexty"


@pytest.mark.parametrize("reads", [CORNERS // 4, 2 * CORNERS])
def test_of_many_corners_some_are_drawn(reads: int) -> None:
    report = report_of(reads, rounds=0)
    corners = len(report.evaluations[0].prefixes[0].sweep.roc[0])
    drawn = len(evaluation_page(report, title="x").parts[1].traces[0]["x"])
    assert drawn == min(corners, CORNERS)
