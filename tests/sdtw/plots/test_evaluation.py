"""Figures of evaluations: every format, what they show, and inputs at the edge."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, strategies as st
from matplotlib.figure import Figure

from oclgenomics.app.figures import save_plot
from oclgenomics.sdtw import AlignOptions, Evaluation, LabelledScores, choose_thresholds, evaluate
from oclgenomics.sdtw.plots.evaluation import plot_evaluation, plot_f_curves, spread

MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def scores(name: str = "one", prefixes: tuple[int, ...] = (500, 1000, 2000), reads: int = 40) -> LabelledScores:
    rng = np.random.default_rng(1)
    target, other = (rng.normal(middle, 1, (reads, len(prefixes))) for middle in (0, 2))
    target[1:3, -1] = np.inf
    names = np.arange(reads).astype(object)
    return LabelledScores(name, prefixes, target, other, names, names, AlignOptions(), "difference", ("a", "b"))


@cache
def evaluated(name: str = "one", prefixes: tuple[int, ...] = (500, 1000, 2000), reads: int = 40) -> Evaluation:
    return evaluate(scores(name, prefixes, reads), rounds=20, splits=5)


def saved(figure: Figure, format: str) -> bytes:
    stream = io.BytesIO()
    save_plot(figure, stream, format)
    return stream.getvalue()


def texts(figure: Figure) -> str:
    return saved(figure, "svg").decode()


@pytest.mark.parametrize("format", list(MAGIC))
def test_formats(format: str) -> None:
    picture = saved(plot_evaluation([evaluated()], title="x\x1b"), format)
    assert picture.startswith(MAGIC[format])
    assert picture == saved(plot_evaluation([evaluated()], title="x\x1b"), format)


def test_what_it_shows() -> None:
    first, second = evaluated(), evaluated("the other one")
    best = max(one.f.value for one in first.prefixes)
    text = texts(plot_evaluation([first, second], title="these"))
    for word in (
        f"F {best:.3f} at",
        "these: 40 target and 40 other reads",
        "the other one",
        "highest F",
        "at 2,000 samples",
    ):
        assert word in text
    chosen = choose_thresholds(scores(), keep=0.9)
    chosen = replace(chosen, stages=chosen.stages[:1])
    text = texts(plot_evaluation([first], chosen))
    assert "keeps 90.0 %" in text
    assert "Difference of costs at 500 samples" in text
    assert "Difference of costs at 1,000 samples" not in text


def test_small_ones_and_many() -> None:
    single = scores(prefixes=(1000,), reads=1)
    saved(plot_evaluation([evaluate(single, rounds=0)]), "png")
    many = [evaluated(f"variant {number}", tuple(range(500, 6001, 500))) for number in range(9)]
    assert "variant 8" in texts(plot_f_curves(many, title="many"))


@given(st.lists(st.floats(0, 1), max_size=8))
def test_names_keep_apart(places: list[float]) -> None:
    moved = spread(np.array(places), 0.1)
    assert (np.diff(np.sort(moved)) >= 0.1 - 1e-9).all()
    assert ((moved >= 0) & (moved <= 1)).all()
    order = np.argsort(-np.array(places), kind="stable")
    assert (np.diff(moved[order]) < 0).all()
