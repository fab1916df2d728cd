"""What docs/signatures-format.md says of the file of a panel: its Python example, and its example byte by byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.format_pages import FormatPage

from oclgenomics.signatures import Panel
from oclgenomics.signatures.formats import panel_file
from oclgenomics.signatures.formats.panel_file import write_panel

PAGE = FormatPage("signatures-format.md")


def test_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panel_file, "__version__", "0.1.0")
    write_panel(tmp_path / "x", Panel.from_signatures([("one", "ACGTN"), ("two", "GATTACA")]))
    assert (tmp_path / "x").read_bytes() == PAGE.example()


def test_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "samples.fastq").write_text("@x\nCCGATTACNGATTAGATCC\n+\nIIIIIIIIIIIIIIIIIII\n")
    monkeypatch.chdir(tmp_path)
    shown = PAGE.run_program()
    assert capsys.readouterr().out == shown
