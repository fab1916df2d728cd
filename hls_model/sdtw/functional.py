"""What the array computes, wavefront by wavefront, as its PEs do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hls_model.sdtw.design import SystolicArray

__all__ = ["scores"]

Row = NDArray[np.int64]


def scores(array: SystolicArray, query: Row, reference: Row) -> tuple[int, Row]:
    """Run a query through the array.

    Parameters
    ----------
    array : SystolicArray
        Its PEs decide about the passes; scores saturate at `score_bits`.
    query, reference : ndarray, int64 (samples,), (columns,)
        Normalised samples and levels.

    Returns
    -------
    score : int
        The least score of the last row.
    row : ndarray, int64 (columns,)
        The last row.
    """
    row, first, start = np.zeros(len(reference), np.int64), True, 0
    for rows in array.passes(len(query)):
        row = _one_pass(query[start : start + rows], reference, row, (1 << array.score_bits) - 1, first=first)
        first, start = False, start + rows
    return int(row.min()), row


def _one_pass(samples: Row, reference: Row, above: Row, most: int, *, first: bool) -> Row:
    """Run a pass: in step t, PE i has column t - i; a PE's registers are its score and the one before."""
    pes, columns = len(samples), len(reference)
    score, before = np.full(pes + 1, most, np.int64), np.full(pes + 1, most, np.int64)
    held = np.zeros(pes, np.int64)  # the column's level in each PE
    last = np.zeros(columns, np.int64)
    for step in range(columns + pes - 1):
        held = np.concatenate([reference[step : step + 1], held[:-1]]) if step < columns else np.roll(held, 1)
        before[0] = score[0] if step else before[0]
        score[0] = above[step] if step < columns else most
        cell = np.minimum(np.abs(samples - held) + np.minimum(score[:-1], before[:-1]), most)
        at = step - np.arange(pes)
        if first and step:
            cell[0] = 0  # an alignment starts anywhere, and its first sample is free but in the first column
        active = (at >= 0) & (at < columns)
        before[1:] = np.where(active, score[1:], before[1:])
        score[1:] = np.where(active, cell, score[1:])
        if step >= pes - 1:
            last[step - pes + 1] = score[-1]
    return last
