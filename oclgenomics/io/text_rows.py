"""Columns of text as lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["MISSING", "rows_of"]

MISSING = "."  # in a table, where there is nothing


def rows_of(columns: Sequence[Sequence[Any]], form: str | None = None) -> str:
    """Write rows of columns of one length, with tabs between them unless `form`, as `%` takes it, says otherwise."""
    form = form or "\t".join(["%s"] * len(columns)) + "\n"
    return "".join([form % row for row in zip(*columns, strict=True)])
