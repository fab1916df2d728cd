"""The examples of README and of the guides' quick starts run as they stand, and print what the pages show.

Each page runs in one shell, in a folder of its own that has the checkout's `tests`, as a reader's would.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ("omega.md", "sweeps.md", "kmers.md", "signatures.md", "sdtw.md", "classify.md", "fpga.md")
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


def run(steps: list[Step], folder: Path) -> None:
    """Run the steps in one shell, and compare what they print with what is shown."""
    (folder / "page").mkdir()
    (folder / "page" / "tests").symlink_to(ROOT / "tests")
    script = "".join(f"{{\n{step.lines}\n}} >../{number}.out\n" for number, step in enumerate(steps))
    paths = os.pathsep.join([str(Path(sys.executable).parent), str(folder / "bin"), os.environ["PATH"]])
    if shutil.which("oclgenomics", path=paths) is None:  # the package is imported where it lies
        (folder / "bin").mkdir()
        (folder / "bin" / "oclgenomics").write_text(f'#!/bin/sh\nexec {sys.executable} -m oclgenomics "$@"\n')
        (folder / "bin" / "oclgenomics").chmod(0o755)
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder / "page",
        env={**os.environ, "PATH": paths, "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    for number, step in enumerate(steps):
        if step.shown is not None:
            assert (folder / f"{number}.out").read_text() == step.shown, step.lines


def test_readme(tmp_path: Path) -> None:
    page = (ROOT / "README.md").read_text()
    assert page.count(INSTALL) == 1
    examples = re.findall(r"^\| [^|]* \| `(oclgenomics [^`]*)` \|", page, re.MULTILINE)
    assert len(examples) == len(GUIDES) + 1
    run([*steps_of(page), *map(Step, examples)], tmp_path)


@pytest.mark.parametrize("guide", GUIDES)
def test_quick_start(guide: str, tmp_path: Path) -> None:
    page = (ROOT / "docs" / guide).read_text()
    (section,) = re.findall(r"^## Quick start\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    steps = steps_of(section)
    assert steps
    run(steps, tmp_path)
