"""What docs/sdtw-format.md says of the file of a squiggle: its Python example, and its example byte by byte."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.array_file_damage import check_every_damaged_byte
from helpers.format_pages import FormatPage

from oclgenomics.sdtw import build_squiggle, read_squiggle, write_squiggle
from oclgenomics.sdtw.formats import squiggle as squiggle_file
from oclgenomics.signals import KmerModel

PAGE = FormatPage("sdtw-format.md")


def test_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(squiggle_file, "__version__", "0.1.0")
    (tmp_path / "x.fa").write_text(">one\nACGNAA\n")
    model = KmerModel("pairs", 2, np.arange(80.0, 96.0), np.ones(16))
    write_squiggle(tmp_path / "x", build_squiggle(tmp_path / "x.fa", model, name="example"))
    assert (tmp_path / "x").read_bytes() == PAGE.example()


def test_a_file_of_version_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = Path(__file__).parents[2] / "data" / "array_files" / "sdtw-2.sdtw"
    assert old.read_bytes()[8] == 2
    monkeypatch.setattr(squiggle_file, "__version__", "0.1.0")
    write_squiggle(tmp_path / "x", read_squiggle(old))
    assert (tmp_path / "x").read_bytes() == PAGE.example()
    check_every_damaged_byte(tmp_path / "y", old.read_bytes(), read_squiggle)


def test_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "reference.fa").write_text(">one\nGATTACAGATTACATGTAAC\n")
    monkeypatch.chdir(tmp_path)
    shown = PAGE.run_program()
    assert capsys.readouterr().out == shown
