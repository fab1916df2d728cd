"""The example of docs/signals.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "signals.md"


def test_the_example_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program, output = (
        re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(), re.DOTALL)[0] for kind in ("python", "text")
    )
    monkeypatch.chdir(tmp_path)
    exec(compile(program, str(PAGE), "exec"), {})
    assert capsys.readouterr().out == output
    assert (tmp_path / "trimmed.npz").exists()
