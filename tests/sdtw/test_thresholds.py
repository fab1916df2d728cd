"""Stages as they are typed and kept, and what they decide."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oclgenomics.errors import InputError, ParameterError, UsageError
from oclgenomics.sdtw import CRESCENT, AlignOptions
from oclgenomics.sdtw.decisions.scores import read_scores
from oclgenomics.sdtw.decisions.stages import Stage, parse_stages
from oclgenomics.sdtw.decisions.thresholds import Thresholds, read_thresholds, write_thresholds
from oclgenomics.sdtw.decisions.words import words_of

NAN, INF = float("nan"), float("inf")
SOME = Thresholds((Stage(1000, 5500.5, 20), Stage(2000, 11000)), AlignOptions(bits=7), "cost", ("λ", "decoy"))
FLOATS = st.floats(-1e6, 60_000, allow_nan=False)


@st.composite
def stages(draw: st.DrawFn) -> tuple[Stage, ...]:
    prefixes = sorted(draw(st.sets(st.integers(3, 65_536), min_size=1, max_size=5)))
    pairs = [sorted((draw(FLOATS), draw(FLOATS))) for _ in prefixes]
    return tuple(
        Stage(prefix, high, draw(st.sampled_from([None, low])))
        for prefix, (low, high) in zip(prefixes, pairs, strict=True)
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1000:5500", (Stage(1000, 5500),)),
        ("1000:5500,2000:4000..11000", (Stage(1000, 5500), Stage(2000, 11000, 4000))),
        (" 1 : -3e2 .. -.5 ", (Stage(1, -0.5, -300),)),
        ("5:1..1", (Stage(5, 1, 1),)),
    ],
)
def test_stages_as_they_are_typed(text: str, expected: tuple[Stage, ...]) -> None:
    assert parse_stages(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "1000", "1000:", ":5", "a:5", "1000:5,", "2000:5,1000:5", "1:1,1:1", "0:5", "65537:5", "1:nan", "1:inf",
     "1:1e999", "1:5..1", "1:1..2..3", "1:1...5", "-1:5", "1.5:5", "1:5 2:6", "1:5-6"],
)  # fmt: skip
def test_what_are_no_stages(text: str) -> None:
    with pytest.raises(ParameterError, match=r"^(stages|prefixes)=") as caught:
        parse_stages(text)
    assert "\n" not in str(caught.value)


@given(stages())
def test_stages_are_read_as_they_are_shown(some: tuple[Stage, ...]) -> None:
    shown = parse_stages(",".join(map(str, some)))
    for stage, other in zip(some, shown, strict=True):
        assert stage.prefix == other.prefix
        assert np.isclose(stage.reject_above, other.reject_above)
        assert (stage.accept_below is None) == (other.accept_below is None)


def decided(thresholds: Thresholds, stage: int, *scores: float) -> list[str]:
    return words_of(thresholds.decide(stage, np.array(scores))).tolist()


def test_decisions() -> None:
    first = decided(SOME, 0, 5501, 5500.5, 20, 19.9, INF, NAN)
    assert first == ["reject", "undecided", "undecided", "accept", "reject", "undecided"]
    assert decided(SOME, 1, 11000.5, 11000, -INF, NAN) == ["reject", "accept", "accept", "undecided"]
    assert SOME.decide(0, np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stages": ()}, "prefixes"),
        ({"stages": (Stage(5, 1), Stage(4, 1))}, "prefixes"),
        ({"stages": (Stage(1, 1),)}, "at least the 3 samples of a row"),
        ({"stages": (Stage(3, 65_535),)}, "costs end at 65,535"),
        ({"score": "least"}, "score='least': choose one of cost, difference"),
        ({"score": "difference", "references": ("one",)}, "needs a decoy"),
    ],
)
def test_thresholds_that_cannot_be(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(SOME, **changes)


def test_exact_costs_have_no_end() -> None:
    assert replace(SOME, stages=(Stage(3, 65_535),), options=CRESCENT).prefixes == (3,)


def test_thresholds_fit_their_options_and_references_only() -> None:
    SOME.check(AlignOptions(bits=7), ["λ", "decoy"])
    replace(SOME, references=()).check(AlignOptions(bits=7), ["any"])
    same = AlignOptions(bits=6, step=3)  # which are the default
    replace(SOME, options=AlignOptions()).check(same, ["λ", "decoy"])
    with pytest.raises(UsageError, match="step=3, which is not step=1"):
        SOME.check(AlignOptions(bits=7, step=1), ["λ", "decoy"])
    with pytest.raises(UsageError, match="bits=7, which is not bits=6"):
        SOME.check(AlignOptions(), ["λ", "decoy"])
    with pytest.raises(UsageError, match="norm='prefix', which is not norm='blocks'"):
        SOME.check(CRESCENT, ["λ", "decoy"])
    with pytest.raises(UsageError, match="references λ, decoy, not decoy, λ"):
        SOME.check(SOME.options, ["decoy", "λ"])
    with pytest.raises(UsageError, match="needs a decoy"):
        replace(SOME, references=(), score="difference").check(SOME.options, ["λ"])


# Files


@given(stages(), st.sampled_from(["cost", "difference"]), st.lists(st.text(), min_size=2, max_size=3))
def test_files_give_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, some: tuple[Stage, ...], score: Any, names: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "thresholds.json"
    for options in (AlignOptions(), CRESCENT, AlignOptions(arithmetic="float32")):
        thresholds = Thresholds(some, options, score, tuple(names), {"program": "x", "list": [1, 2.5, None]})
        write_thresholds(path, thresholds)
        # A default that changes later must not change what the thresholds are for.
        assert read_thresholds(path) == replace(thresholds, options=options.resolved())


def broken(tmp_path: Path, change: Any) -> str:
    """What is said of a file after a change of its record, or of its text."""
    path = tmp_path / "t.json"
    write_thresholds(path, SOME)
    record = json.loads(path.read_text())
    if isinstance(change, str):
        path.write_text(change)
    else:
        change(record)
        path.write_text(json.dumps(record))
    with pytest.raises(InputError) as caught:
        read_thresholds(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message.removeprefix(str(path)).lstrip(":, ")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("", "the file is empty"),
        ("{", "line 1: broken JSON"),
        ("[1]", "is JSON, but no object"),
        ('{"kind": "sdtw thresholds", "kind": 1}', "broken JSON: 'kind' is there twice"),
        ('{"kind": NaN}', "broken JSON: NaN is no number"),
        ("[" * 100_000, "broken JSON: nested too deeply"),
        ("{}", "holds no thresholds"),
        (lambda r: r.update(kind="omega thresholds"), "holds no thresholds"),
        (lambda r: r.update(version=2), "version is 2; this program reads version 1"),
        (lambda r: r.update(version=True), "version is not a whole number"),
        (lambda r: r.update(more=1), "more is not known here"),
        (lambda r: r.pop("score"), "score is missing"),
        (lambda r: r.update(score=["cost"]), "score is not a text"),
        (lambda r: r.update(score="best"), "score='best': choose one of cost, difference"),
        (lambda r: r.update(stages={}), "stages is not a list"),
        (lambda r: r.update(stages=[]), "prefixes=(): give one number of samples or more, ascending"),
        (lambda r: r.update(stages=[1]), "stages[1] is not an object"),
        (lambda r: r["stages"][1].update(x=1), "stages[2].x is not known here"),
        (lambda r: r["stages"][1].pop("prefix"), "stages[2].prefix is missing"),
        (lambda r: r["stages"][1].update(prefix=2000.0), "stages[2].prefix is not a whole number"),
        (lambda r: r["stages"][1].update(reject_above="1"), "stages[2].reject_above is not a number"),
        (lambda r: r["stages"][1].update(reject_above=None), "stages[2].reject_above is not a number"),
        (lambda r: r["stages"][1].update(reject_above=10**400), "stages[2].reject_above is not a number"),
        (lambda r: r["options"].update(bits=6.5), "options.bits is not a whole number"),
        (lambda r: r["options"].pop("step"), "options.step is missing"),
        (lambda r: r["options"].update(step=2), "step=2: 1, or 3 to 32 samples"),
        (lambda r: r["options"].update(bits=9), "bits=9: levels have 5 to 8 bits"),
        (lambda r: r["options"].update(norm="none"), "norm='none': choose one of prefix, blocks"),
        (lambda r: r.update(references=["a", 1]), "references are not all texts"),
        (lambda r: r.update(made=None), "made is not an object"),
    ],
)  # fmt: skip
def test_files_are_read_to_the_letter(tmp_path: Path, change: Any, message: str) -> None:
    assert broken(tmp_path, change).startswith(message)


def test_numbers_without_bounds_are_told(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    write_thresholds(path, SOME)
    path.write_text(path.read_text().replace("5500.5", "1e999"))
    with pytest.raises(InputError, match=r"stages\[1\]\.reject_above is not a finite number"):
        read_thresholds(path)


# Scores


def test_scores() -> None:
    cost = np.array([[[5, 9, 7]], [[65_535, 3, 65_535]], [[4, 65_535, 65_535]], [[NAN, NAN, NAN]]])
    assert np.array_equal(read_scores(cost, "cost", AlignOptions())[:, 0], [5, INF, 4, NAN], equal_nan=True)
    differences = read_scores(cost, "difference", AlignOptions())[:, 0]
    assert np.array_equal(differences, [-2, INF, 4 - 65_535, NAN], equal_nan=True)
    assert read_scores(cost, "cost", CRESCENT)[1, 0] == 65_535
    with pytest.raises(ParameterError, match="needs a decoy"):
        read_scores(cost[:, :, :1], "difference", CRESCENT)
