"""Labels of points in a panel, placed where they hide no point, with a thin line to their point if they are far."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.figures import GREY
from oclgenomics.app.streams import drawable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# In points of type.
GAP = 5.0  # from the middle of a point to its label
CLEAR = 2.0  # around a label
MARKER = 3.0  # radius of a point that is labelled
LEADER = 9.0  # so far from its point a label has a line to it
INSET = 4.0  # from the side of the panel
LINE = 14.0  # height of a label, about
ROWS = 3  # a label is tried so many lines higher
# What a place costs, in height.
ASIDE = 6.0  # the point is not under the middle of its label
ACROSS = 16.0  # the label lies on a threshold
IN_THE_WAY = 20.0  # another point has no room for its label below this one
SHIFTS = (0.5, 0.25, 0.75, 0.02, 0.98)  # where the point is along its label, from left to right
Box = tuple[float, float, float, float]  # from left to right, and from the points outward


class Labels:
    """The labels of one panel, whose place and size in the figure are known.

    A label lies above its point, or below it, as near as it can be without hiding a point or another label.

    Parameters
    ----------
    axes : Axes
    x, y : ndarray of float64, shape (points,)
        The points that are drawn.
    below : bool
        Labels lie below.
    lines : sequence of float
        Values at which lines are drawn across.
    """

    def __init__(
        self, axes: Axes, x: NDArray[np.float64], y: NDArray[np.float64], *, below: bool, lines: Sequence[float] = ()
    ) -> None:
        self._axes, self._below = axes, below
        self._scale = axes.get_figure(root=True).dpi / 72  # type: ignore[union-attr]
        window = axes.get_window_extent()
        self._left, self._right = window.x0 / self._scale + INSET, window.x1 / self._scale - INSET
        self._top = (-window.y0 if below else window.y1) / self._scale
        self._points = self._placed(x, y)
        self._lines = self._placed(np.zeros(len(lines)), np.array(lines, np.float64))[1].tolist()
        self._taken: list[Box] = []
        self._waiting: list[tuple[float, float]] = []

    def _placed(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Points (2, points) in points of type; those that lie further out are higher."""
        found = self._axes.transData.transform(np.stack([x, y], axis=1)).T / self._scale
        return np.stack([found[0], -found[1] if self._below else found[1]])

    def expect(self, x: float, y: float) -> None:
        """Keep a point free that gets a label later."""
        u, v = self._placed(np.array([x]), np.array([y]))[:, 0].tolist()
        self._taken.append((u - MARKER, u + MARKER, v - MARKER, v + MARKER))
        self._waiting.append((u, v))

    def add(self, x: float, y: float, text: str, *, always: bool = False, **style: Any) -> bool:
        """Label a point that is expected; say whether there was room.

        Parameters
        ----------
        x, y : float
        text : str
        always : bool
            Without room the label goes to the border of the panel.
        **style
            Of the text.
        """
        from matplotlib.patheffects import withStroke

        label = self._axes.annotate(
            drawable(text), (x, y), xytext=(0, 0), textcoords="offset points", ha="left",
            va="top" if self._below else "bottom", zorder=6,
            path_effects=[withStroke(linewidth=2, foreground="white")], **style,
        )  # fmt: skip
        label.set_in_layout(False)
        size = label.get_window_extent()
        width, height = size.width / self._scale, size.height / self._scale
        u, v = self._placed(np.array([x]), np.array([y]))[:, 0].tolist()
        self._waiting = [one for one in self._waiting if one != (u, v)]
        found = []
        starts = [v + GAP + row * LINE for row in range(ROWS)] + [line + CLEAR for line in self._lines if line > v]
        for shift, start in itertools.product(SHIFTS, starts):
            left = max(min(u - shift * width, self._right - width), self._left)
            begin = self._lowest(u, v, max(start, v + GAP), left, width, height)
            if begin + height <= self._top:
                found.append((self._cost(left, begin, width, height) + ASIDE * (shift != SHIFTS[0]), begin, left))
        if not found and not always:
            label.remove()
            return False
        _, begin, left = min(found, default=(0.0, self._top - height, left))
        self._taken.append((left, left + width, begin, begin + height))
        sign = -1 if self._below else 1
        label.set_position((left - u, sign * (begin - v)))
        if begin - v > LEADER:
            self._taken.append((u - 1, u + 1, v, begin))
            self._axes.annotate(
                "", (x, y), xytext=(0, sign * (begin - v)), textcoords="offset points",
                arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.7, "shrinkA": 0, "shrinkB": MARKER},
            ).set_in_layout(False)  # fmt: skip
        return True

    def _cost(self, left: float, begin: float, width: float, height: float) -> float:
        """What a place of a label costs, in height."""
        across = any(begin < line < begin + height for line in self._lines)
        stuck = sum(left - CLEAR < u < left + width + CLEAR and v < begin < v + GAP + LINE for u, v in self._waiting)
        return begin + ACROSS * across + IN_THE_WAY * stuck

    def _lowest(self, u: float, v: float, begin: float, left: float, width: float, height: float) -> float:
        """The least height from `begin` on at which a label and its line hide nothing; infinity without any."""
        x, y = self._points
        over = y[(x > left - CLEAR) & (x < left + width + CLEAR) & (y > begin - CLEAR)]
        blocked = list(zip((over - height - CLEAR).tolist(), (over + CLEAR).tolist(), strict=True))
        for first, last, bottom, top in self._taken:
            if first < left + width + CLEAR and last > left - CLEAR:
                blocked.append((bottom - height - CLEAR, top + CLEAR))
            if first < u + 1 and last > u - 1 and bottom > v:
                blocked.append((bottom - CLEAR, np.inf))  # the line would cross it
        for first, last in sorted(blocked):
            if first >= begin:
                break
            begin = max(begin, last)
        return begin
