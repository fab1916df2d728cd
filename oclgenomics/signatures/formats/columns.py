"""Columns of numbers as columns of text: a list comprehension each, and no call for a field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.text_rows import MISSING

__all__ = ["texts", "words"]


def texts(
    values: NDArray[Any], form: str = "%d", known: NDArray[np.bool_] | None = None, missing: str = MISSING
) -> list[str]:
    """Write each value.

    Parameters
    ----------
    values : ndarray
    form : str
        As `%` takes it.
    known : ndarray of bool, optional
        Where there is a value; all if not given.
    missing : str
        What is written where there is none.
    """
    if known is None or known.all():
        return [form % value for value in values.tolist()]
    if not known.any():
        return [missing] * len(values)
    return [form % value if there else missing for value, there in zip(values.tolist(), known.tolist(), strict=True)]


def words(conditions: Sequence[tuple[NDArray[np.bool_], str]]) -> list[str]:
    """Write for each row the words whose conditions hold, with commas between them; there is at least one condition."""
    lists = [[word if true else "" for true in holds.tolist()] for holds, word in conditions]
    return [",".join([word for word in row if word]) or MISSING for row in zip(*lists, strict=True)]
