"""Where matches and their labels go in a lane: pure geometry, with one unit throughout."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Placed", "place"]


@dataclass(frozen=True)
class Placed:
    """Where the matches of a lane are drawn; arrays of one length.

    Attributes
    ----------
    start, end : ndarray, float64
        The arrow.
    row : ndarray, intp
    label : ndarray, float64
        The left end of the label; NaN where there is none.
    inside : ndarray, bool
        Whether the label is within the arrow.
    rows : int
        Rows in use, 1 or more.
    crowded : bool
        Whether matches of the last row lie over each other.
    """

    start: NDArray[np.float64]
    end: NDArray[np.float64]
    row: NDArray[np.intp]
    label: NDArray[np.float64]
    inside: NDArray[np.bool_]
    rows: int
    crowded: bool


def place(
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    width: NDArray[np.float64],
    bound: float,
    most_rows: int,
    apart: float = 0.0,
) -> Placed:
    """Lay out the matches of a lane so that neither they nor their labels meet.

    From left to right, each match goes into the first row that has room for it and its label: within the arrow, before
    it, or behind it. What no row has room for goes into the last one without a label.

    Parameters
    ----------
    start, end : ndarray, float64
        Matches between 0 and `bound`.
    width : ndarray, float64
        Of their labels; 0 for a match without one.
    bound : float
        Where the lane ends.
    most_rows : int
    apart : float
        Room to the next match that a label before or behind an arrow needs.
    """
    count = len(start)
    rows, labels, crowded = np.zeros(count, np.intp), np.full(count, np.nan), False
    free = [-np.inf] * most_rows  # where each row is free from
    for i in np.argsort(start, kind="stable").tolist():
        begin, stop, wide = float(start[i]), float(end[i]), float(width[i])
        for row, edge in enumerate(free):
            label = _label(begin, stop, wide, edge, bound, apart)
            if edge <= begin and label is not None:
                rows[i], labels[i] = row, label if wide else np.nan
                free[row] = max(stop, label + wide + (apart if label >= stop and wide else 0.0))
                break
        else:
            crowded, rows[i] = True, most_rows - 1
            free[-1] = max(free[-1], stop)
    inside = (labels >= start) & (labels < end)
    return Placed(start, end, rows, labels, inside, int(rows.max(initial=0)) + 1, crowded)


def _label(begin: float, stop: float, wide: float, edge: float, bound: float, apart: float) -> float | None:
    """The left end of a label in a row that is free from `edge` on."""
    if stop - begin >= wide:
        return (begin + stop - wide) / 2
    if begin - wide >= max(edge + apart, 0.0):
        return begin - wide
    return stop if stop + wide <= bound else None
