"""The options of signals: what they stand for, and what they refuse."""

from __future__ import annotations

import argparse

import pytest

from oclgenomics.app.commands import OneLineParser
from oclgenomics.app.files import named_files
from oclgenomics.app.inputs import add_signal_inputs, add_signal_options, trim_of
from oclgenomics.errors import UsageError
from oclgenomics.signals import TrimOptions


def parsed(*words: str, max_samples: bool = False) -> argparse.Namespace:
    return parser(max_samples).parse_args(["x.pod5", *words])


def parser(max_samples: bool = False) -> OneLineParser:
    made = OneLineParser(prog="x")
    add_signal_inputs(made)
    add_signal_options(made.add_argument_group("signals"), max_samples=max_samples)
    return made


@pytest.mark.parametrize(
    ("words", "trim"),
    [
        ([], TrimOptions()),
        (["--trim", "stall"], TrimOptions()),
        (["--trim", "none"], None),
        (["--trim", "1500"], TrimOptions(stall=False, extra=1500)),
        (["--trim", "2k"], TrimOptions(stall=False, extra=2000)),
        (["--trim", "0"], TrimOptions(stall=False, extra=0)),
    ],
)
def test_trim(words, trim):
    assert trim_of(parsed(*words)) == trim


@pytest.mark.parametrize("text", ["adapter", "-5", "1.5", ""])
def test_trim_refused(text):
    with pytest.raises(UsageError, match=r"--trim: .*give stall, none or a number of samples"):
        parsed(f"--trim={text}")


def test_max_samples():
    assert parsed("--max-samples", "10k", max_samples=True).max_samples == 10_000
    with pytest.raises(UsageError, match="--max-samples"):
        parsed("--max-samples", "10")


def test_signals_are_inputs():
    made = parser()
    args = made.parse_args(["a.pod5", "folder"])
    assert [(file.name, file.kind) for file in named_files(made, args)] == [("a.pod5", "input"), ("folder", "input")]
