"""Errors name parameters in the library, and options on the command line."""

from __future__ import annotations

import argparse
import doctest
import pickle

import pytest

from oclgenomics import errors
from oclgenomics.app.files import option_of
from oclgenomics.cli import main
from oclgenomics.errors import AllocationError, InputError, OclGenomicsError, ParameterError

OPTIONS = {"grid": "--grid", "max_memory": "--max-memory", "precision": "--precision", "binary": "--binary"}
CASES = [
    (ParameterError("grid", "must be 2 or more"), "grid must be 2 or more", "--grid must be 2 or more"),
    (ParameterError("grid", "too few", 0), "grid=0: too few", "--grid 0: too few"),
    (ParameterError("precision", "choose `a`", "x y"), "precision='x y': choose a", "--precision x y: choose a"),
    (AllocationError("raise `max_memory`"), "raise max_memory", "raise --max-memory"),
    (
        InputError("use `precision=accurate`, `binary=True`", source="a.vcf", line=3),
        "a.vcf, line 3: use precision='accurate', binary=True",
        "a.vcf, line 3: use --precision accurate, --binary",
    ),
    (OclGenomicsError("`grid=2` or `grid=-1`"), "grid=2 or grid=-1", "--grid 2 or --grid -1"),
    (ParameterError("precision", "is a number", "3"), "precision='3': is a number", "--precision 3: is a number"),
    (OclGenomicsError("`samples=3`: none here"), "samples=3: none here", "samples 3: none here"),
    (OclGenomicsError("`a b`, `Grid`"), "`a b`, `Grid`", "`a b`, `Grid`"),
]


@pytest.mark.parametrize(("error", "library", "command"), CASES, ids=[case[1] for case in CASES])
def test_names_of_parameters(error: OclGenomicsError, library: str, command: str) -> None:
    assert str(error) == library
    assert str(pickle.loads(pickle.dumps(error))) == library
    shown = pickle.loads(pickle.dumps(error))
    shown.option_of = OPTIONS
    assert str(shown) == command


def test_examples() -> None:
    assert doctest.testmod(errors).failed == 0


def test_options_of_the_chosen_command() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--debug", action="store_true")
    commands = parser.add_subparsers(dest="command")
    for name, option in (("one", "--first"), ("two", "--second-try")):
        command = commands.add_parser(name)
        command.add_argument("input")
        command.add_argument("-f", option)
    args = parser.parse_args(["two", "x"])
    assert option_of(parser, args) == {"help": "--help", "debug": "--debug", "second_try": "--second-try"}


def test_command_shows_options(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_args: argparse.Namespace) -> int:
        raise ParameterError("device", "must be there; lower `max_memory`")

    monkeypatch.setattr("oclgenomics.cli.devices.run", refuse)
    assert main.main(["devices"]) == ParameterError.exit_code
    assert capsys.readouterr().err == "oclgenomics: error: device must be there; lower max_memory\n"
    monkeypatch.setattr("oclgenomics.omega.commands.scan.run", refuse)
    words = ["omega", "scan", "x.vcf", "--grid", "2", "--minwin", "0", "--maxwin", "1"]
    assert main.main(words) == ParameterError.exit_code
    assert capsys.readouterr().err == "oclgenomics: error: --device must be there; lower --max-memory\n"
