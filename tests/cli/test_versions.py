"""`--version --yaml` and `--versions FILE.yml`: what workflows and MultiQC put into their reports."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from oclgenomics import __version__
from oclgenomics.cli.main import SYSTEMS, _module, main

READ = "@r\nACGTACGTTGCA\n+\nIIIIIIIIIIII\n"
VERSIONS = {
    "oclgenomics": __version__,
    "python": platform.python_version(),
    "numpy": importlib.metadata.version("numpy"),
    "pyopencl": importlib.metadata.version("pyopencl"),
}


@pytest.fixture
def reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reads.fq").write_text(READ)
    return tmp_path


def actions(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers of all commands below one."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield parser
    for action in below:
        for one in action.choices.values():
            yield from actions(one)


@pytest.mark.parametrize("words", [["--version", "--yaml"], ["--yaml", "--version"]])
def test_of_the_program(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    shown = capsys.readouterr()
    assert yaml.safe_load(shown.out) == VERSIONS
    assert shown.err == ""


def test_plain_version_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"oclgenomics {__version__}\n"


@pytest.mark.parametrize(
    "words", [["--yaml"], ["--yaml", "kmers", "info", "x.db"], ["--version", "--yaml", "kmers"], ["--yaml", "--yaml"]]
)
def test_yaml_goes_with_the_version_alone(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    status = main(words)
    shown = capsys.readouterr()
    if words[0] == "--version":  # which ends the program where it stands
        assert (status, shown.out) == (0, f"oclgenomics {__version__}\n")
        return
    assert status == 2
    assert "--yaml goes with --version" in shown.err


def test_beside_a_result(reads: Path) -> None:
    words = ["kmers", "count", "reads.fq", "-k", "5", "-q", "-o", "reads.db"]
    assert main([*words, "--versions", "versions.yml"]) == 0
    assert yaml.safe_load((reads / "versions.yml").read_text()) == VERSIONS
    before = (reads / "reads.db").read_bytes()
    assert main(words) == 0
    assert (reads / "reads.db").read_bytes() == before  # the result does not know


def test_reports_do_not_tell_of_it(reads: Path) -> None:
    (reads / "panel.fa").write_text(">s\nACGTACG\n")
    words = ["signatures", "scan", "reads.fq", "panel.fa", "-q", "-o"]
    assert main([*words, "one.tsv", "--versions", "versions.yml"]) == 0
    assert "versions=" not in (reads / "one.tsv").read_text()


def test_not_where_the_command_fails(reads: Path) -> None:
    assert main(["kmers", "count", "gone.fq", "-k", "5", "-q", "-o", "x.db", "--versions", "versions.yml"]) == 3
    assert not (reads / "versions.yml").exists()


@pytest.mark.parametrize("name", ["reads.fq", "reads.db"])
def test_never_onto_another_file(name: str, reads: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kmers", "count", "reads.fq", "-k", "5", "-q", "-o", "reads.db", "--versions", name]) == 2
    assert f"--versions {name}: the same file as" in capsys.readouterr().err
    assert (reads / "reads.fq").read_text() == READ


def test_pieces_and_what_they_become(reads: Path) -> None:
    count = ["kmers", "count", "reads.fq", "-k", "5", "-q"]
    for number in (1, 2):
        words = ["--shard", f"{number}/2", "-o", f"{number}.piece", "--versions", f"{number}.yml"]
        assert main([*count, *words]) == 0
        assert yaml.safe_load((reads / f"{number}.yml").read_text()) == VERSIONS
    combine = ["kmers", "combine", "1.piece", "2.piece", "-q", "-o", "all.db", "--versions", "all.yml"]
    assert main(combine) == 0
    assert yaml.safe_load((reads / "all.yml").read_text()) == VERSIONS


@pytest.mark.parametrize("system", sorted(SYSTEMS))
def test_every_command_has_it(system: str) -> None:
    parser = argparse.ArgumentParser()
    _module(system).add_parser(parser.add_subparsers())
    found = list(actions(parser))
    assert found
    assert [one.prog for one in found if "--versions" not in one._option_string_actions] == []
