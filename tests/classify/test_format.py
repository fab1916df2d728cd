"""What docs/classify-format.md says of the file of a database: its Python example, and its example byte by byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.classify_example import example_database
from helpers.format_pages import FormatPage

from oclgenomics.classify.database import file
from oclgenomics.classify.database.file import KIND, write_database
from oclgenomics.classify.options import RANKS
from oclgenomics.io.array_file import ArrayFile

PAGE = FormatPage("classify-format.md")


def test_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "__version__", "0.1.0")
    write_database(tmp_path / "x", example_database())
    assert (tmp_path / "x").read_bytes() == PAGE.example()


def test_the_page_tells_all_sections_and_ranks(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(PAGE.example())
    with ArrayFile(tmp_path / "x", KIND) as array_file:
        assert all(f"`{name}`" in PAGE.text for name in array_file.sections)
    assert ", ".join(RANKS) in " ".join(PAGE.text.split())


def test_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    shown = PAGE.run_program()
    assert capsys.readouterr().out == shown
