"""The Python examples of docs/signatures.md, and its table of columns."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from oclgenomics.app.files import chosen_actions
from oclgenomics.cli.main import _parser
from oclgenomics.signatures.formats.reports import (
    CERTAINTY_COLUMNS,
    COLUMNS,
    OUTSIDE_COLUMNS,
    RIVAL_COLUMNS,
    SUMMARY_COLUMNS,
)

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "signatures.md").read_text()


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "samples.fq").write_text(*blocks("fastq"))
    (tmp_path / "panel.fa").write_text(*blocks("fasta"))
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for program in blocks("python"):
        exec(compile(program, "docs/signatures.md", "exec"), names)
    assert capsys.readouterr().out == "".join(blocks("text"))


def test_every_option_and_column_is_there() -> None:
    parser = _parser()
    args = parser.parse_args(["signatures", "scan", "x", "y"])
    options = {max(action.option_strings, key=len) for action in chosen_actions(parser, args) if action.option_strings}
    options -= {"--help", "--version", "--yaml", "--verbose", "--quiet"}
    assert not [option for option in options if option not in PAGE]
    named = set(re.findall(r"`([a-z_0-9]+)`", PAGE))
    assert {*COLUMNS, *OUTSIDE_COLUMNS, *RIVAL_COLUMNS, *SUMMARY_COLUMNS, *CERTAINTY_COLUMNS} <= named
