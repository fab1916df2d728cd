"""The figure of thresholds: precision, sensitivity and F1 over the confidence of calls, a panel for each rank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oclgenomics.app.figures import BLUE, GREY, INK, ORANGE, STYLE, short_text
from oclgenomics.classify.taxonomy.evaluation import ThresholdCurve

PANEL, HEIGHT = 5.2, 5.4  # inches
LEFT, BOTTOM, TOP, BETWEEN, RIGHT = 0.85, 0.85, 1.5, 1.55, 1.35
LONGEST_TITLE = 90
LEAST_APART = 0.055  # of a panel: names of lines
Line = tuple[str, str, str]  # attribute, name, colour
LINES: tuple[Line, ...] = (
    ("precision", "precision", BLUE), ("sensitivity", "sensitivity", ORANGE), ("f1", "F1", INK),
)  # fmt: skip


def plot_thresholds(curves: Sequence[ThresholdCurve], *, title: str = "") -> Figure:
    """Draw measures over the threshold of confidence.

    Parameters
    ----------
    curves : sequence of ThresholdCurve
        One for each rank, at least one.
    title : str
        What was evaluated.

    Returns
    -------
    matplotlib.figure.Figure
        To be saved by `oclgenomics.app.figures.save_plot` or changed further; no display is needed.
    """
    width = LEFT + len(curves) * (PANEL + BETWEEN) - BETWEEN + RIGHT
    with rc_context(STYLE):
        figure = Figure(figsize=(width, HEIGHT))
        for panel, curve in enumerate(curves):
            left = LEFT + panel * (PANEL + BETWEEN)
            room = (left / width, BOTTOM / HEIGHT, PANEL / width, 1 - (BOTTOM + TOP) / HEIGHT)
            _draw_panel(figure.add_axes(room), curve, _usable_end(curves[0]))
            figure.text(left / width, 1 - (TOP - 0.3) / HEIGHT, curve.rank, fontsize=12, fontweight="bold", color=GREY)
        first = curves[0]
        at = _usable_end(first)
        headline = (
            f"Precision of {first.rank} rises from {first.precision[0]:.3f} to {first.precision[at]:.3f}, "
            f"sensitivity falls from {first.sensitivity[0]:.3f} to {first.sensitivity[at]:.3f}"
        )
        if first.precision[at] <= first.precision[0]:
            headline = f"No threshold raises the precision of {first.rank}, {first.precision[0]:.3f}"
        figure.text(LEFT / width, 1 - 0.4 / HEIGHT, headline, fontsize=16, fontweight="bold", va="center", color=INK)
        what = f"dotted: a confidence of {first.thresholds[at]:.2f}; circles: highest F1"
        below = ": ".join(part for part in (short_text(title, LONGEST_TITLE), what) if part)
        figure.text(LEFT / width, 1 - 0.78 / HEIGHT, below, va="center", color=GREY)
    return figure


def _usable_end(curve: ThresholdCurve) -> int:
    """The threshold that raises precision most by what it costs in sensitivity: beyond it, more is lost than gained."""
    gain = curve.precision - curve.precision[0]
    loss = curve.sensitivity[0] - curve.sensitivity
    return int(np.argmax(gain - loss))


def _draw_panel(axes: Axes, curve: ThresholdCurve, marked: int) -> None:
    axes.axvline(curve.thresholds[marked], color=GREY, linewidth=1, linestyle=(0, (2, 2)), zorder=1)
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="confidence: least share of a read's features in the best reference")
    axes.set_xticks(np.arange(0, 1.01, 0.2))
    axes.grid(axis="y", color="#E4E4E4", linewidth=0.8)
    axes.set_axisbelow(True)
    some = curve.called > 0
    for attribute, _, colour in LINES:
        values = getattr(curve, attribute)
        shown = values[some] if attribute == "precision" else values
        axes.plot(curve.thresholds[: len(shown)], shown, color=colour, linewidth=2.4, solid_capstyle="round", zorder=3)
    best = int(np.argmax(curve.f1))
    axes.plot([curve.thresholds[best]], [curve.f1[best]], "o", color=INK, markersize=8, markeredgecolor="white",
              clip_on=False, zorder=4)  # fmt: skip
    _name_lines(axes, curve)


def _name_lines(axes: Axes, curve: ThresholdCurve) -> None:
    """Write the name of each line where it ends, in its colour, and none over another."""
    some = np.flatnonzero(curve.called > 0)
    ends = {"precision": int(some[-1]) if len(some) else 0}
    lines = sorted((float(getattr(curve, line[0])[ends.get(line[0], -1)]), *line[1:]) for line in LINES)
    at = -LEAST_APART
    for value, name, colour in lines:
        at = max(value, at + LEAST_APART)
        axes.text(1.02, at, name, color=colour, fontsize=11, fontweight="bold", va="center", clip_on=False)
