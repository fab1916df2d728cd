"""The examples of README and of the guides' quick starts run as they stand, and print what the pages show.

Each page runs in a folder of its own that has the checkout's `tests`, as a reader's would: README in one shell, and of
quick starts what leaves something to the shell; their other commands run in this process, which is quicker.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

from oclgenomics.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ("omega.md", "sweeps.md", "kmers.md", "signatures.md", "sdtw.md", "classify.md", "fpga.md")
FOR_THE_SHELL = re.compile(r"""[|<>*?$&;`'"#~(){}\\\[]""")
INSTALL = "python3 -m venv .venv && .venv/bin/pip install -q . && .venv/bin/"
BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*) -->\n)?```(?P<kind>[a-z]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True)
class Step:
    """Lines for the shell, and what the page shows as their output, if it does."""

    lines: str
    shown: str | None = None


def steps_of(page: str) -> list[Step]:
    """All that a page has to run: `sh`, `console` and `python`, with the files and the outputs that it shows."""
    steps: list[Step] = []
    for block in BLOCK.finditer(page):
        kind, text = block["kind"], block["text"]
        if kind == "sh" and block["mark"] != "test command":
            steps.append(Step(text.replace(INSTALL, "")))
        elif kind == "console":
            for command in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                line, _, shown = command.partition("\n")
                steps.append(Step(line, shown))
        elif kind == "python":
            steps.append(Step(f"python - <<'PROGRAM'\n{text}PROGRAM"))
        elif kind == "text" and steps and steps[-1].lines.startswith("python "):
            steps[-1] = Step(steps[-1].lines, text)
        elif kind in ("fasta", "fastq") and block["mark"]:
            steps.append(Step(f"cat >{block['mark']} <<'FILE'\n{text}FILE"))
    return steps


def commands_of(lines: str) -> list[list[str]] | None:
    """The words of each command, where all are of `oclgenomics` and leave nothing to the shell."""
    commands = [line.split() for line in lines.replace("\\\n", "").splitlines()]
    if FOR_THE_SHELL.search(lines.replace("\\\n", "")) or {words[0] for words in commands} != {"oclgenomics"}:
        return None
    return [words[1:] for words in commands]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A reader's folder."""
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "tests").symlink_to(ROOT / "tests")
    return tmp_path / "page"


def in_shell(script: str, page: Path) -> str:
    """Run lines in a shell, and return what they print."""
    folder = page.parent
    paths = os.pathsep.join([str(Path(sys.executable).parent), str(folder / "bin"), os.environ["PATH"]])
    if shutil.which("oclgenomics", path=paths) is None:  # the package is imported where it lies
        (folder / "bin").mkdir(exist_ok=True)
        (folder / "bin" / "oclgenomics").write_text(f'#!/bin/sh\nexec {sys.executable} -m oclgenomics "$@"\n')
        (folder / "bin" / "oclgenomics").chmod(0o755)
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=page,
        env={**os.environ, "PATH": paths, "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def in_process(commands: list[list[str]], capsys: pytest.CaptureFixture[str]) -> str:
    """Run commands, which warn of nothing, and return what they print."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for words in commands:
            assert main(words) == 0, f"{words}: {capsys.readouterr().err}"
    return capsys.readouterr().out


def test_readme(page: Path) -> None:
    text = (ROOT / "README.md").read_text()
    assert text.count(INSTALL) == 1
    examples = re.findall(r"^\| [^|]* \| `(oclgenomics [^`]*)` \|", text, re.MULTILINE)
    assert len(examples) == len(GUIDES) + 1
    steps = [*steps_of(text), *map(Step, examples)]
    in_shell("".join(f"{{\n{step.lines}\n}} >../{number}.out\n" for number, step in enumerate(steps)), page)
    for number, step in enumerate(steps):
        if step.shown is not None:
            assert (page.parent / f"{number}.out").read_text() == step.shown, step.lines


@pytest.mark.parametrize("guide", GUIDES)
def test_quick_start(
    guide: str, page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / guide).read_text()
    (section,) = re.findall(r"^## Quick start\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    steps = steps_of(section)
    assert steps
    monkeypatch.chdir(page)
    for step in steps:
        commands = commands_of(step.lines)
        printed = in_shell(step.lines, page) if commands is None else in_process(commands, capsys)
        if step.shown is not None:
            assert printed == step.shown, step.lines
