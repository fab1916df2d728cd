"""The example of docs/sequence.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sequence.md"


def test_the_example_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reads, program, output = (
        re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(), re.DOTALL)[0] for kind in ("fastq", "python", "text")
    )
    (tmp_path / "reads.fq").write_text(reads)
    monkeypatch.chdir(tmp_path)
    exec(compile(program, str(PAGE), "exec"), {})
    assert capsys.readouterr().out == output
