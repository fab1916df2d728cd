"""The Python examples of docs/kmers.md and docs/kmers-format.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from helpers.kmer_sets import set_of, write_database

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
    (tmp_path / "reads.fa").write_text(*blocks(page, "fasta"))
    monkeypatch.chdir(tmp_path)
    run(page)
    assert capsys.readouterr().out == "".join(blocks(page, "text"))


def test_example_of_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = DOCS / "kmers-format.md"
    write_database(tmp_path / "example.db", set_of({"ACAGA": 1, "ACATG": 2, "ATTAC": 3, "GATTA": 300}, 5))
    monkeypatch.chdir(tmp_path)
    run(page)
    assert capsys.readouterr().out == "".join(blocks(page, "text"))
