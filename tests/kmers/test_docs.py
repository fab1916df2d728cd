"""The examples of docs/kmers.md behind the quick start, and those of docs/kmers-format.md."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers.kmer_sets import set_of, write_database

from oclgenomics.cli.main import main

DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks(page: Path, kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", page.read_text(), re.DOTALL)


def run(page: Path) -> None:
    """Run all examples of a page, one after the other, as one program."""
    names: dict[str, Any] = {}
    for program in blocks(page, "python"):
        exec(compile(program, str(page), "exec"), names)


def test_examples_of_kmers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = DOCS / "kmers.md"
    (tmp_path / "reads.fa").write_text(blocks(page, "fasta")[0])
    monkeypatch.chdir(tmp_path)
    run(page)
    assert capsys.readouterr().out == "".join(blocks(page, "text"))


@pytest.mark.parametrize("section", ["Quality of an assembly", "Matrix", "Merge"])
def test_consoles(
    section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The examples of sections behind the quick start, with its reads and database."""
    page = (DOCS / "kmers.md").read_text()
    (text,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    for name, content in re.findall(r"^<!-- (\S+) -->\n```fasta\n(.*?)```", page, re.DOTALL | re.MULTILINE):
        Path(name).write_text(content)
    assert main(["kmers", "count", "reads.fa", "-k", "5", "-o", "reads.db", "-q"]) == 0
    examples = [example for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL)
                for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]  # fmt: skip
    assert examples
    for example in examples:
        line, _, shown = example.partition("\n")
        words = shlex.split(line)
        if words[0] == "oclgenomics":
            assert main(words[1:]) == 0
        else:
            subprocess.run(["bash", "-c", line], check=True)
        assert capfdbinary.readouterr().out.decode() == shown, line


def test_example_of_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = DOCS / "kmers-format.md"
    write_database(tmp_path / "example.db", set_of({"ACAGA": 1, "ACATG": 2, "ATTAC": 3, "GATTA": 300}, 5))
    monkeypatch.chdir(tmp_path)
    run(page)
    assert capsys.readouterr().out == "".join(blocks(page, "text"))
