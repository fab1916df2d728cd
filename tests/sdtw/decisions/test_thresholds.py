"""Stages as they are typed and kept, and what they decide."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.errors import InputError, ParameterError, UsageError
from oclgenomics.sdtw import CRESCENT, AlignOptions
from oclgenomics.sdtw.decisions.basis import Basis, ReadKind, ReferenceFacts, plain_trim, settled_trim, trim_text
from oclgenomics.sdtw.decisions.thresholds import Stage, Thresholds, parse_stages, read_scores, words_of
from oclgenomics.sdtw.formats.thresholds import read_thresholds, record_checksum, write_thresholds
from oclgenomics.signals import TrimOptions

NAN, INF = float("nan"), float("inf")
REFERENCES = (
    ReferenceFacts("λ", "target", "0123456789abcdef", "r9.4.1", "fedcba9876543210"),
    ReferenceFacts("decoy", "decoy", "00000000000000ff", "r9.4.1", "fedcba9876543210"),
)
BASIS = Basis(TrimOptions(extra=700), REFERENCES, ReadKind("R9", "dna", 4000.0))
SOME = Thresholds(
    (Stage(1000, 5500.5, 20), Stage(2000, 11000)), AlignOptions(bits=7, step=3), "cost", ("λ", "decoy"), {"x": 1}, BASIS
)
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
    with pytest.raises(ParameterError, match=r"^stages=") as caught:
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
        ({"score": "difference", "references": ("one",), "basis": None}, "needs a decoy"),
        ({"references": ("one",)}, "references='one': are not those of the basis"),
    ],
)
def test_thresholds_that_cannot_be(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(SOME, **changes)


def test_exact_costs_have_no_end() -> None:
    assert replace(SOME, stages=(Stage(3, 65_535),), options=CRESCENT).prefixes == (3,)


def test_thresholds_fit_their_options_and_references_only() -> None:
    SOME.check(AlignOptions(bits=7), ["λ", "decoy"])
    replace(SOME, references=(), basis=None).check(AlignOptions(bits=7), ["any"])
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
        replace(SOME, references=(), basis=None, score="difference").check(SOME.options, ["λ"])


OTHERS = {
    "trim": replace(BASIS, trim=TrimOptions()),
    "no trimming": replace(BASIS, trim=plain_trim(None)),
    "name": replace(BASIS, references=(replace(REFERENCES[0], name="phi"), REFERENCES[1])),
    "content": replace(BASIS, references=(replace(REFERENCES[0], checksum="0123456789abcdee"), REFERENCES[1])),
    "decoy": replace(BASIS, references=(REFERENCES[0], replace(REFERENCES[1], checksum="0"))),
    "model": replace(BASIS, references=(replace(REFERENCES[0], model="r10"), REFERENCES[1])),
    "means of the model": replace(BASIS, references=(replace(REFERENCES[0], model_checksum="0"), REFERENCES[1])),
    "order": replace(BASIS, references=REFERENCES[::-1]),
    "role": replace(BASIS, references=(REFERENCES[0], replace(REFERENCES[1], role="target"))),
    "number": replace(BASIS, references=REFERENCES[:1]),
    "pore": replace(BASIS, reads=ReadKind("R10", "dna", 4000.0)),
    "rate": replace(BASIS, reads=ReadKind("R9", "dna", 5000.0)),
    "molecule": replace(BASIS, reads=ReadKind("R9", "rna", 4000.0)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_thresholds_fit_their_basis_only(name: str) -> None:
    with pytest.raises(UsageError, match=r"^the thresholds were made with ") as caught:
        SOME.check(SOME.options, SOME.references, OTHERS[name])
    assert "\n" not in str(caught.value)


def test_thresholds_fit_what_says_less() -> None:
    for other in (BASIS, replace(BASIS, trim="unknown"), replace(BASIS, reads=ReadKind("R9")),
                  replace(BASIS, reads=ReadKind(rate=4001.0))):  # fmt: skip
        SOME.check(SOME.options, SOME.references, other)
        replace(SOME, basis=other).check(SOME.options, SOME.references, BASIS)


def test_trimming_is_that_of_the_thresholds_where_none_is_asked_for() -> None:
    assert settled_trim("thresholds", BASIS, None) == BASIS.trim
    assert settled_trim("thresholds", None, TrimOptions()) == TrimOptions()
    assert settled_trim(None, BASIS, TrimOptions()) is None
    with pytest.raises(UsageError, match=r"do not say how the reads were trimmed .*; give trim"):
        settled_trim("thresholds", replace(BASIS, trim="unknown"), None)


@pytest.mark.parametrize(
    ("trim", "text"),
    [(None, "none"), (TrimOptions(), "stall"), (TrimOptions(stall=False, extra=0), "none"), ("unknown", "unknown"),
     (TrimOptions(stall=False, extra=20, max_trim=None, keep=False), "20"),
     (TrimOptions(max_trim=None), "stall(extra=1000,max_trim=None,keep=True)")],
)  # fmt: skip
def test_texts_of_trimming(trim: Any, text: str) -> None:
    assert trim_text(trim) == text


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
        record["checksum"] = record_checksum(record)  # as a program would that writes such a file
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
        (lambda r: r.update(version=1), "version is 1: such files do not say which references, model and trimming"),
        (lambda r: r.update(version=3), "version is 3; this program reads version 2"),
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
        (lambda r: r.pop("basis"), "basis is missing"),
        (lambda r: r.update(basis=[]), "basis is not an object"),
        (lambda r: r["basis"].pop("reads"), "basis.reads is missing"),
        (lambda r: r["basis"].update(trim=None), "basis.trim is not an object"),
        (lambda r: r["basis"]["trim"].update(extra=-1), "extra=-1: is a number of samples"),
        (lambda r: r["basis"]["trim"].pop("keep"), "basis.trim.keep is missing"),
        (lambda r: r["basis"]["references"][0].update(role="best"), "basis.references[1].role is neither"),
        (lambda r: r["basis"]["references"][1].pop("checksum"), "basis.references[2].checksum is missing"),
        (lambda r: r["basis"]["references"][0].update(name="other"), "references='λ, decoy': are not "),
        (lambda r: r["basis"]["reads"].update(pore="R11"), "basis.reads.pore is none of R7, R9, R10, RNA004"),
        (lambda r: r["basis"]["reads"].update(molecule="rnb"), "basis.reads.molecule is none of dna, rna"),
        (lambda r: r["basis"]["reads"].update(rate=0), "basis.reads.rate is not above 0"),
    ],
)  # fmt: skip
def test_files_are_read_to_the_letter(tmp_path: Path, change: Any, message: str) -> None:
    assert broken(tmp_path, change).startswith(message)


def test_numbers_without_bounds_are_told(tmp_path: Path) -> None:
    assert broken(tmp_path, lambda r: r["stages"][0].update(reject_above=float("inf"))).startswith(
        "broken JSON: Infinity"
    )
    path = tmp_path / "t.json"
    record = json.loads(path.read_text().replace("Infinity", "1e999"))
    path.write_text(path.read_text().replace("Infinity", "1e999").replace(record["checksum"], record_checksum(record)))
    with pytest.raises(InputError, match=r"stages\[1\]\.reject_above is not a finite number"):
        read_thresholds(path)


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    write_thresholds(path, SOME)
    text = path.read_text()
    record = json.loads(text)
    for other in (
        text.replace("5500.5", "1500.5"), text.replace("2000,", "2001,"), text.replace('"x"', '"y"'),
        text.replace(record["checksum"], "0" * 16), text.replace("stall", "Stall"),
    ):  # fmt: skip
        path.write_text(other)
        with pytest.raises(InputError, match=r"was changed after it was written .* give stages, or let `sdtw evaluate"):
            read_thresholds(path)
    path.write_text(json.dumps(record))  # the same, laid out otherwise
    assert read_thresholds(path) == SOME
    path.write_text("{" + text.removeprefix("{").replace("checksum", "check sum"))
    with pytest.raises(InputError, match="checksum is missing"):
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
