"""What docs/signatures-format.md says of the file of a panel: its Python example, and its example byte by byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.array_file_damage import check_every_damaged_byte
from helpers.format_pages import FormatPage

from oclgenomics.signatures import Panel, read_panel
from oclgenomics.signatures.formats import panel_file
from oclgenomics.signatures.formats.panel_file import write_panel

PAGE = FormatPage("signatures-format.md")


def test_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panel_file, "__version__", "0.1.0")
    write_panel(tmp_path / "x", Panel.from_signatures([("one", "ACGTN"), ("two", "GATTACA")]))
    assert (tmp_path / "x").read_bytes() == PAGE.example()


def test_a_file_of_version_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = Path(__file__).parents[2] / "data" / "array_files" / "signatures-1.sig"
    panel = read_panel(old)
    assert (panel.names, old.read_bytes()[8]) == (("one", "two"), 1)
    monkeypatch.setattr(panel_file, "__version__", "0.1.0")
    write_panel(tmp_path / "x", panel)
    assert (tmp_path / "x").read_bytes() == PAGE.example()
    check_every_damaged_byte(tmp_path / "y", old.read_bytes(), read_panel)
    check_every_damaged_byte(tmp_path / "y", PAGE.example(), read_panel)


def test_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "samples.fastq").write_text("@x\nCCGATTACNGATTAGATCC\n+\nIIIIIIIIIIIIIIIIIII\n")
    monkeypatch.chdir(tmp_path)
    shown = PAGE.run_program()
    assert capsys.readouterr().out == shown
