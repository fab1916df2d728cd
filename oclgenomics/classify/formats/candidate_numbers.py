"""Candidates as columns of numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.candidates import Candidates
from oclgenomics.classify.formats.lines import NO_NUMBER

__all__ = ["target_numbers", "target_range", "where_known"]


def target_numbers(targets: NDArray[np.uint32]) -> NDArray[np.int32]:
    """Return the numbers of targets as tables take them, `NO_TEXT` for `NO_TARGET`."""
    return np.ascontiguousarray(targets).view(np.int32)


def where_known(values: NDArray[np.unsignedinteger], known: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return numbers for a column, `NO_NUMBER` where they mean nothing."""
    return np.where(known, values.astype(np.uint64), np.uint64(NO_NUMBER))


def target_range(
    candidates: Candidates, place: int, stride: int, window: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return where the first window that was hit begins, and where the last one ends if it is whole.

    Parameters
    ----------
    candidates : Candidates
    place : int
        0 for the best ones.
    stride, window : int
        Letters of the database.
    """
    first, last = (
        array[:, place].astype(np.uint64) * np.uint64(stride) for array in (candidates.first, candidates.last)
    )
    return first, last + np.uint64(window)
