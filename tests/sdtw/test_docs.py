"""The commands and Python examples of docs/sdtw.md, in their order, and its tables of options and columns."""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from oclgenomics.app.files import chosen_actions
from oclgenomics.cli.main import _parser, main
from oclgenomics.sdtw import align, classify
from oclgenomics.sdtw.live import readfish
from oclgenomics.sdtw.live.barcodes import CLASSIFIED, UNCLASSIFIED

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "sdtw.md").read_text()
COMMANDS = {
    "index": "x --model r9.4.1 -o y",
    "info": "x",
    "align": "x --reference y",
    "classify": "x --reference y --stages 1000:1",
    "combine": "x",
    "evaluate": "x y --reference z",
    "calibrate": "--reference x --target y",
    "stream": "x --reference y --stages 1000:1",
}


def blocks(kind: str, *, after: str = "") -> list[str]:
    return re.findall(rf"{after}```{kind}\n(.*?)```", PAGE, re.DOTALL)


def commands() -> list[list[str]]:
    """The commands that the page runs, without the name of the program."""
    lines = "".join(blocks("sh", after="<!-- run -->\n")).replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines]


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


@dataclass(frozen=True)
class Ran:
    """A folder in which the commands of the page were run, and what they said."""

    folder: Path
    results: str
    messages: str


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """All commands of the page, but that the flow cell plays two seconds of simulated time, and decoys are short."""
    folder, results, messages = tmp_path_factory.mktemp("page"), io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(results), redirect_stderr(messages):
        patch.chdir(folder)
        for command in commands():
            if "--duration" in command:
                command[command.index("--duration") + 1] = "2"
                command += ["--speed", "0"]
            if command[:3] == ["sdtw", "index", "others.fasta"]:
                Path("others.fasta").write_text(Path("others.fasta").read_text()[:20_000])
            assert main(command) == 0, command
    return Ran(folder, results.getvalue(), messages.getvalue())


def test_tables_are_those_of_the_page(ran: Ran) -> None:
    shown = re.findall(r"<!-- (\S+\.tsv) -->\n```\n(.*?)```", PAGE, re.DOTALL)
    assert [name for name, _ in shown] == ["reads.tsv", "places.tsv", "stages.tsv"]
    for name, text in shown:
        found = rows((ran.folder / name).read_text())
        assert [row for row in rows(text) if row not in found] == []
        assert found[0] == rows(text)[0]


def test_what_commands_say_is_on_the_page(ran: Ran) -> None:
    said = [line for line in PAGE.splitlines() if line.startswith("oclgenomics: ")]
    assert len(said) > 2
    assert [line for line in said if line not in ran.messages.splitlines()] == []
    (played,) = re.findall(r"```\n(channels\t.*?)```", PAGE, re.DOTALL)
    names = [[line.split("\t")[0] for line in text.splitlines()] for text in (played, ran.results)]
    assert names[0] == names[1]


def test_every_file_is_there(ran: Ran) -> None:
    outputs = {"-o", "--output", "--plot", "--write-thresholds", "--summary", "--debug-tsv", "--target-fasta"}
    named = {word for command in commands() for before, word in pairwise(command) if before in outputs}
    assert len(named) > 15
    assert {name for name in named if not (ran.folder / name).stat().st_size} == set()


def test_python_prints_what_the_page_says(
    ran: Ran, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ran.folder)
    programs = [program for program in blocks("python") if "read_until" not in program]
    names: dict[str, Any] = {}
    for program in programs:
        exec(compile(program, "docs/sdtw.md", "exec"), names)
    assert capsys.readouterr().out == "".join(blocks("text"))


def test_configuration_of_readfish() -> None:
    tomllib = pytest.importorskip("tomllib")
    settings, barcoded = map(tomllib.loads, blocks("toml"))
    for given in (settings, barcoded):
        ((name, table),) = given["mapper_settings"].items()
        assert name == readfish.__name__
        assert table.keys() <= {*readfish.LIVE, *readfish.ALIGN, *readfish.OTHERS}
    assert barcoded["barcodes"].keys() >= {CLASSIFIED, UNCLASSIFIED}


def test_every_option_and_column_is_there(ran: Ran) -> None:
    missing = set()
    for action, arguments in COMMANDS.items():
        parser = _parser()
        args = parser.parse_args(["sdtw", action, *arguments.split()])
        options = {max(one.option_strings, key=len) for one in chosen_actions(parser, args) if one.option_strings}
        missing |= {option for option in options if f"{option}`" not in PAGE and f"{option} " not in PAGE}
    assert missing <= {"--help", "--version", "--yaml"}
    named = set(re.findall(r"`([a-z_0-9]+)`", PAGE))
    reads, target = str(ran.folder / "reads.npz"), str(ran.folder / "target.sdtw")
    found = align(reads, target, prefixes=(1000,), starts=True, trim=None)
    assert {*found.columns()} <= named
    assert {*classify(reads, target, ran.folder / "target.json", trim=None, starts=True).columns()} <= named
