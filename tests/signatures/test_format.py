"""What docs/signatures-format.md says of the file of a panel: its Python example, and its example byte by byte."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from oclgenomics.signatures import Panel, panel_file
from oclgenomics.signatures.panel_file import write_panel

PAGE = Path(__file__).resolve().parents[2] / "docs" / "signatures-format.md"
TEXT = PAGE.read_text()
BYTES = re.compile(r"(?P<hex>[0-9a-f]{2}(?: [0-9a-f]{2})*)(?: x (?P<times>[0-9]+))?")


def listed(line: str) -> bytes:
    """The bytes of a line: hexadecimal, the same byte several times, or text."""
    found = BYTES.fullmatch(line)
    return bytes.fromhex(found["hex"]) * int(found["times"] or 1) if found else line.encode()


def test_the_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"<!-- example -->\n```\n(.*?)```", TEXT, re.DOTALL)
    expected = b""
    for line in example.splitlines():
        place, part = re.split("  +", line.strip())[:2]
        assert int(place) == len(expected)
        expected += listed(part)
    monkeypatch.setattr(panel_file, "__version__", "0.1.0")
    write_panel(tmp_path / "x", Panel.from_signatures([("one", "ACGTN"), ("two", "GATTACA")]))
    assert (tmp_path / "x").read_bytes() == expected


def test_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (program,), (shown,) = (re.findall(rf"```{kind}\n(.*?)```", TEXT, re.DOTALL) for kind in ("python", "text"))
    (tmp_path / "samples.fastq").write_text("@x\nCCGATTACNGATTAGATCC\n+\nIIIIIIIIIIIIIIIIIII\n")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(program, str(PAGE), "exec"), names)
    assert capsys.readouterr().out == shown
