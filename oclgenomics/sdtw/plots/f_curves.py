"""F against the length of prefixes, a line for each kind of alignment or reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.figures import BLUE, GREY, INK, ORANGE, SKY, STYLE, short_text
from oclgenomics.sdtw.evaluation.result import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "draw_f_curves", "plot_f_curves", "spread"]

COLOURS = (BLUE, ORANGE, "#009E73", "#CC79A7", SKY, INK)  # of Okabe and Ito, too
MARKERS = ("o", "s", "D", "^", "v", "P")
LONGEST_NAME = 20
LABEL_HEIGHT = 0.062  # of the axes
LEAST_SPAN = 0.1  # of F on the axis


def plot_f_curves(evaluations: Sequence[Evaluation], *, title: str = "") -> Figure:
    """Draw F against the length of prefixes, as Crescent's Fig. 8 does.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        Of several kinds of alignments of the same reads, or of several references.
    title : str

    Returns
    -------
    matplotlib.figure.Figure
        To be saved by `oclgenomics.app.figures.save_plot` or changed further; no display is needed.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=(9, 5.2))
        axes = figure.add_axes((0.09, 0.13, 0.66, 0.74))
        draw_f_curves(axes, evaluations)
        figure.text(0.025, 0.94, title, fontsize=14, fontweight="bold", va="center")
    return figure


def draw_f_curves(axes: Axes, evaluations: Sequence[Evaluation]) -> None:
    """Draw the lines with their intervals, and name each at its end."""
    values = [one.f for evaluation in evaluations for one in evaluation.prefixes]
    lowest = min(min(f.value, f.value if np.isnan(f.low) else f.low) for f in values)
    bottom = max(0.0, np.floor(20 * min(lowest - 0.01, 1 - LEAST_SPAN)) / 20)
    axes.set_ylim(bottom, 1.0 + 0.01 * (1 - bottom))
    longest = max(one.prefix for evaluation in evaluations for one in evaluation.prefixes)
    axes.set_xlim(0, longest * 1.03)
    for number, evaluation in enumerate(evaluations):
        _draw_line(axes, evaluation, number)
    axes.grid(axis="y", color="#E6E6E6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.locator_params(axis="y", nbins=6)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set(xlabel="Samples of a read", ylabel="Highest F")
    _name_lines(axes, evaluations)


def _draw_line(axes: Axes, evaluation: Evaluation, number: int) -> None:
    colour = COLOURS[number % len(COLOURS)]
    x = [one.prefix for one in evaluation.prefixes]
    low, middle, high = (
        np.array([getattr(one.f, end) for one in evaluation.prefixes]) for end in ("low", "value", "high")
    )
    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    dashes = ("-", "--", ":")[number // len(COLOURS) % 3]
    axes.plot(
        x, middle, dashes, color=colour, linewidth=2.2, marker=MARKERS[number % len(MARKERS)], markersize=6,
        markeredgecolor="white", clip_on=False, zorder=3,
    )  # fmt: skip


def _name_lines(axes: Axes, evaluations: Sequence[Evaluation]) -> None:
    """Names at the right, in the order of the last values, apart from each other."""
    bottom, top = axes.get_ylim()
    ends = np.array([(evaluation.prefixes[-1].f.value - bottom) / (top - bottom) for evaluation in evaluations])
    for number, place in enumerate(spread(ends, LABEL_HEIGHT).tolist()):
        name, last = evaluations[number].labelled.name, evaluations[number].prefixes[-1].f.value
        text = f"{short_text(name, LONGEST_NAME)}  {last:.3f}"
        colour = COLOURS[number % len(COLOURS)]
        axes.text(
            1.02, place, text, transform=axes.transAxes, color=colour, va="center", fontweight="bold", fontsize=10
        )
    if any(len(one.f_rounds) for evaluation in evaluations for one in evaluation.prefixes):
        note = "bands: 95 % of bootstrap rounds"
        axes.text(0.99, 0.03, note, transform=axes.transAxes, ha="right", va="bottom", color=GREY, fontsize=9)


def spread(places: NDArray[np.float64], apart: float) -> NDArray[np.float64]:
    """Move places from 0 to 1 as little as keeps them in order and apart, and below 1 if there is room for all."""
    order = np.argsort(-places, kind="stable")
    result = places.copy()
    limit = 1.0
    for number in order:
        result[number] = min(result[number], limit)
        limit = result[number] - apart
    lowest = result.min(initial=0)
    if lowest < 0:  # then from below
        limit = 0.0
        for number in order[::-1]:
            result[number] = max(result[number], limit)
            limit = result[number] + apart
    return result
