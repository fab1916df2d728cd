"""The commands and Python examples of docs/classify.md, in their order, and its tables of options."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from oclgenomics import classify
from oclgenomics.app.files import chosen_actions
from oclgenomics.cli.main import _parser, main

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "classify.md").read_text()
COMMANDS = {
    "build": "x y",
    "add": "x y",
    "fetch": "refseq-viral",
    "query": "x y",
    "combine": "x",
    "run": "x --targets y",
    "merge": "x",
    "info": "x",
    "verify": "x",
    "evaluate": "x --truth y --taxonomy z",
    "plot": "x -o y",
}
OUTPUTS = {
    "-o", "--kreport", "--krona", "--plot", "--cami", "--cami-profile", "--bracken", "--abundances", "--truth",
    "--mates", "--evidence", "--curve", "--shares",
}  # fmt: skip


def blocks(kind: str, *, after: str = "") -> list[str]:
    return re.findall(rf"{after}```{kind}\n(.*?)```", PAGE, re.DOTALL)


def commands() -> list[list[str]]:
    """The commands that the page runs, without the name of the program."""
    lines = "".join(blocks("sh", after="<!-- run -->\n")).replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the commands of the page were run."""
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command in commands():
            assert main([*command, "-q"]) == 0, command
    return folder


def test_files_are_those_of_the_page(folder: Path) -> None:
    shown = re.findall(r"<!-- (\S+\.\S+) -->\n```\n(.*?)```", PAGE, re.DOTALL)
    assert len(shown) > 10
    for name, text in shown:
        found = (folder / name).read_text().splitlines()
        assert [line for line in text.splitlines() if line not in found] == [], name


def test_every_file_is_there(folder: Path) -> None:
    named = {word for command in commands() for before, word in pairwise(command) if before in OUTPUTS}
    assert len(named) > 20
    assert {name for name in named if not (folder / name).is_dir() and not (folder / name).stat().st_size} == set()
    assert (folder / "second.db.sha256").exists()


def test_a_database_that_is_kept_and_one_that_is_not_say_the_same(folder: Path) -> None:
    assert (folder / "run.tsv").read_bytes() == (folder / "reads.tsv").read_bytes()


def test_python_prints_what_the_page_says(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    for program in blocks("python"):
        if "pandas" not in program:
            exec(compile(program, "docs/classify.md", "exec"), names)
    assert capsys.readouterr().out == "".join(blocks("text"))


def test_every_option_is_there() -> None:
    missing = set()
    for action, arguments in COMMANDS.items():
        parser = _parser()
        args = parser.parse_args(["classify", action, *arguments.split()])
        options = {max(one.option_strings, key=len) for one in chosen_actions(parser, args) if one.option_strings}
        missing |= {option for option in options if f"{option}`" not in PAGE and f"{option} " not in PAGE}
    assert missing <= {"--help", "--version", "--yaml", "--quiet", "--verbose", "--output"}


def test_links_lead_somewhere() -> None:
    headings = re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert {link for link in re.findall(r"\]\(#([^)]*)\)", PAGE) if link not in anchors} == set()


def test_the_package_offers_what_it_names() -> None:
    assert [name for name in classify.__all__ if not (getattr(classify, name).__doc__ or name.isupper())] == []
