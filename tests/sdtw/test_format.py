"""What docs/sdtw-format.md says of the file of a squiggle: its Python example, and its example byte by byte."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oclgenomics.sdtw import build_squiggle, squiggle_file, write_squiggle
from oclgenomics.signals import KmerModel

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sdtw-format.md"
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
    monkeypatch.setattr(squiggle_file, "__version__", "0.1.0")
    (tmp_path / "x.fa").write_text(">one\nACGNAA\n")
    model = KmerModel("pairs", 2, np.arange(80.0, 96.0), np.ones(16))
    write_squiggle(tmp_path / "x", build_squiggle(tmp_path / "x.fa", model, name="example"))
    assert (tmp_path / "x").read_bytes() == expected


def test_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (program,), (shown,) = (re.findall(rf"```{kind}\n(.*?)```", TEXT, re.DOTALL) for kind in ("python", "text"))
    (tmp_path / "reference.fa").write_text(">one\nGATTACAGATTACATGTAAC\n")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(compile(program, str(PAGE), "exec"), names)
    assert capsys.readouterr().out == shown
