"""Columns of arrays as columns of text."""

from __future__ import annotations

import math
from json.encoder import encode_basestring_ascii
from typing import Any

from numpy.typing import NDArray

from oclgenomics.io.text_rows import MISSING

__all__ = ["json_column", "table_column"]

WHOLE, REAL = "%.0f", "%.9g"  # REAL tells floats of single precision apart


def table_column(column: NDArray[Any], *, whole: bool) -> list[str]:
    """Write the values of a column of a table.

    Parameters
    ----------
    column : ndarray
        Texts, whole numbers from 0 on, or floating-point numbers; an empty text, -1 and NaN stand for nothing.
    whole : bool
        Floating-point numbers are whole numbers.
    """
    values = column.tolist()
    if column.dtype.kind == "f":
        form = WHOLE if whole else REAL
        return [form % value if value == value else MISSING for value in values]
    if column.dtype.kind == "i":
        return [str(value) if value >= 0 else MISSING for value in values]
    return [value or MISSING for value in values]


def json_column(column: NDArray[Any], *, whole: bool) -> list[str]:
    """Write the values of a column as JSON, null for nothing and for infinity; parameters as for `table_column`."""
    values = column.tolist()
    if column.dtype.kind == "f":
        form = WHOLE if whole else REAL
        return [form % value if math.isfinite(value) else "null" for value in values]
    if column.dtype.kind == "i":
        return [str(value) if value >= 0 else "null" for value in values]
    return [encode_basestring_ascii(value) if value else "null" for value in values]
