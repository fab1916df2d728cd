"""Tables of results, made by whichever library is there."""

from __future__ import annotations

import importlib
import types
from typing import Any

import numpy as np
import pytest

from oclgenomics.app.frames import to_frame
from oclgenomics.errors import MissingDependencyError

COLUMNS = {"position": np.array([1, 2]), "name": ["a", "b"]}


def only(monkeypatch: pytest.MonkeyPatch, *installed: str) -> None:
    """Have some libraries installed, whose tables tell where they come from and what they hold."""

    def find(name: str) -> Any:
        if name not in installed:
            raise ImportError(name)
        return types.SimpleNamespace(DataFrame=lambda columns: (name, columns))

    monkeypatch.setattr(importlib, "import_module", find)


@pytest.mark.parametrize(
    ("installed", "taken"), [(("pandas",), "pandas"), (("polars",), "polars"), (("polars", "pandas"), "pandas")]
)
def test_the_library_that_is_there_makes_the_table(
    monkeypatch: pytest.MonkeyPatch, installed: tuple[str, ...], taken: str
) -> None:
    only(monkeypatch, *installed)
    assert to_frame(COLUMNS) == (taken, COLUMNS)


def test_neither_is_an_error_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch)
    with pytest.raises(MissingDependencyError, match="pip install pandas"):
        to_frame(COLUMNS)


def test_real_tables() -> None:
    pytest.importorskip("pandas", reason="pandas is not needed to test what it is given")
    assert to_frame(COLUMNS).to_dict("list") == {"position": [1, 2], "name": ["a", "b"]}
