"""The layout of a figure of samples: lanes from top to bottom, and matches and labels in them; all in inches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.figures import short_text
from oclgenomics.signatures.matches.certainty import informative_share
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.plots.choice import Lane

WIDTH = 10.0
TOP, BOTTOM, RIGHT = 1.25, 0.62, 2.3  # margins of the lanes
NAME_LETTER, LONGEST_NAME = 0.095, 22
SHORTEST_MARGIN = 0.9
ROW_HEIGHTS = ((6, 0.36, 9.5), (30, 0.24, 9.0), (1 << 30, 0.19, 7.5))  # up to so many rows: height, and size of type
GAP = 0.12  # between lanes
LETTER = 0.0081  # width of a letter for each point of type
PADDING = 0.07  # on either side of a label
APART = 0.1  # of a label from what is not its own
LABELLED = 12  # matches of a lane that are named; with more, the lane shows where they crowd
LONGEST_LABEL = 18
UNLIKE = 8.0  # longest over shortest sample from which each lane has a scale of its own
CROWDED_ROWS = 4  # of a lane that names nothing
ALL_ROWS, FEWEST_ROWS, MOST_ROWS = 80, 3, 14


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


class Scene:
    """The layout of a figure.

    Parameters
    ----------
    panel : Panel
    lanes : list of Lane
        At least one.

    Attributes
    ----------
    names : list of str
        Of the samples, as long as there is room for.
    left, width, height : float
        The left margin, the width of the lanes, and the height of the figure.
    lanes_height : float
    own_scales : bool
        Whether each lane has a scale of its own.
    scales : list of float
        Inches a letter, for each lane.
    placed : list of Placed
        The matches of each lane.
    tops : list of float
        Of the lanes, from the upper end of all of them.
    row, type_size : float
        The height of a row, and points of its type.
    """

    def __init__(self, panel: Panel, lanes: list[Lane]) -> None:
        self.names = [short_text(lane.name, LONGEST_NAME) for lane in lanes]
        self.left = max(max(map(len, self.names)) * NAME_LETTER, SHORTEST_MARGIN) + 0.3
        self.width = WIDTH - self.left - RIGHT
        letters = np.array([lane.letters for lane in lanes], np.float64)
        self.own_scales = float(letters.max()) > UNLIKE * float(letters.min())
        self.scales = (self.width / (letters if self.own_scales else np.full(len(lanes), letters.max()))).tolist()
        most = min(max(ALL_ROWS // len(lanes), FEWEST_ROWS), MOST_ROWS)
        for rows, self.row, self.type_size in ROW_HEIGHTS:
            self.placed = [
                self._place(panel, lane, scale, most) for lane, scale in zip(lanes, self.scales, strict=True)
            ]
            if sum(placed.rows for placed in self.placed) <= rows:
                break
        heights = np.array([placed.rows * self.row + GAP for placed in self.placed])
        self.tops = (np.cumsum(heights) - heights + GAP / 2).tolist()
        self.lanes_height = float(heights.sum())
        self.height = self.lanes_height + TOP + BOTTOM

    def _place(self, panel: Panel, lane: Lane, scale: float, most: int) -> Placed:
        """Name all matches, else those that are hardly chance, else none."""
        start, end = (place.astype(np.float64) * scale for place in (lane.matches.start, lane.matches.end))
        if len(start) <= LABELLED:
            every = np.array([self.label_width(text) for text in labels(panel, lane)])
            for width in (every, np.where(lane.may_be_chance, 0.0, every)):
                placed = place(start, end, width, self.width, most, APART)
                if not placed.crowded:
                    return placed
            return place(start, end, np.zeros(len(start)), self.width, most)
        return place(start, end, np.zeros(len(start)), self.width, min(most, CROWDED_ROWS))

    def label_width(self, text: str) -> float:
        """The room that a label takes."""
        return LETTER * self.type_size * len(text) + 2 * PADDING


def labels(panel: Panel, lane: Lane) -> list[str]:
    """Name the matches of a lane, with their score or, without qualities, their informative share."""
    matches = lane.matches
    names = [short_text(panel.names[number], LONGEST_LABEL) for number in matches.signature.tolist()]
    share = informative_share(matches).tolist()
    return [
        f"{name}  Q {score:.1f}" if known else f"{name}  {100 * part:.0f} %"
        for name, score, known, part in zip(
            names, matches.score.tolist(), matches.has_qualities.tolist(), share, strict=True
        )
    ]
