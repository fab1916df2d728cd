"""The figure of an evaluation: precision against sensitivity, a point for each result, a panel for each rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oclgenomics.app.figures import GREY, INK, STYLE, short_text
from oclgenomics.classify.plots.colours import HUES
from oclgenomics.classify.taxonomy.evaluation import Estimate, Evaluation, RankMeasures

PANEL, HEIGHT = 4.6, 6.4  # inches
LEFT, KEY, BOTTOM, TOP, BETWEEN = 0.85, 3.6, 0.85, 1.55, 0.75
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "p", "h")  # no divisor of the number of hues
LEAST_SPAN = 0.1  # of an axis
LINE = 0.3  # inches, of the key
LONGEST_NAME, LONGEST_TITLE = 26, 90


def plot_accuracy(results: Sequence[tuple[str, Evaluation]], *, title: str = "") -> Figure:
    """Draw evaluations of the same reads at the same ranks.

    Parameters
    ----------
    results : sequence of (name, Evaluation)
        At least one: of tools, or of settings.
    title : str
        What was evaluated.

    Returns
    -------
    matplotlib.figure.Figure
        To be saved by `oclgenomics.app.figures.save_plot` or changed further; no display is needed.
    """
    ranks = results[0][1].ranks
    width = LEFT + len(ranks) * (PANEL + BETWEEN) - BETWEEN + 0.3 + KEY
    with rc_context(STYLE):
        figure = Figure(figsize=(width, HEIGHT))
        for panel, rank in enumerate(ranks):
            left = LEFT + panel * (PANEL + BETWEEN)
            room = (left / width, BOTTOM / HEIGHT, PANEL / width, 1 - (BOTTOM + TOP) / HEIGHT)
            _draw_panel(figure.add_axes(room), [one.ranks[panel] for _, one in results], labelled=not panel)
            figure.text(left / width, 1 - (TOP - 0.33) / HEIGHT, rank.rank, fontsize=12, fontweight="bold", color=GREY)
        _draw_key(figure, results, width)
        best = max(results, key=lambda result: result[1].ranks[0].f1.value)
        headline = (
            f"{short_text(best[0], LONGEST_NAME)}: F1 {best[1].ranks[0].f1.value:.3f} at the rank of {ranks[0].rank}"
        )
        if len(results) > 1:
            headline += f", the best of {len(results)}"
        figure.text(LEFT / width, 1 - 0.42 / HEIGHT, headline, fontsize=17, fontweight="bold", va="center", color=INK)
        counted = f"{results[0][1].reads:,} reads; lines: equal F1"
        if ranks[0].f1.low is not None:
            counted += "; bars: 95 % of bootstrap rounds"
        below = ": ".join(part for part in (short_text(title, LONGEST_TITLE), counted) if part)
        figure.text(LEFT / width, 1 - 0.82 / HEIGHT, below, va="center", color=GREY)
    return figure


def _draw_panel(axes: Axes, measures: list[RankMeasures], *, labelled: bool) -> None:
    x_low = _lower_end([one.sensitivity for one in measures])
    y_low = _lower_end([one.precision for one in measures])
    axes.set(xlim=(x_low, 1 + 0.02 * (1 - x_low)), ylim=(y_low, 1 + 0.02 * (1 - y_low)), xlabel="sensitivity")
    if labelled:
        axes.set_ylabel("precision")
    _draw_equal_f1(axes, x_low, y_low)
    for number, one in enumerate(measures):
        colour, x, y = HUES[number % len(HUES)], one.sensitivity, one.precision
        style: dict[str, Any] = {"fmt": MARKERS[number % len(MARKERS)], "color": colour, "markersize": 9}
        axes.errorbar(
            [x.value], [y.value], xerr=_arms(x), yerr=_arms(y), markeredgecolor="white", elinewidth=1.4, capsize=0,
            clip_on=False, zorder=3 + number, **style,
        )  # fmt: skip


def _lower_end(shares: list[Estimate]) -> float:
    """A round number below all shares, so that the axis is not too short."""
    least = min(share.value if share.low is None else share.low for share in shares)
    return max(0.0, float(np.floor(20 * min(least - 0.02, 1 - LEAST_SPAN)) / 20))


def _arms(share: Estimate) -> list[list[float]] | None:
    """How far an interval reaches to either side."""
    if share.low is None or share.high is None:
        return None
    return [[max(share.value - share.low, 0.0)], [max(share.high - share.value, 0.0)]]


def _draw_equal_f1(axes: Axes, x_low: float, y_low: float) -> None:
    """Lines on which F1 is the same, named where they begin, at a precision of 1."""
    least = min(x_low, y_low)
    step = 0.1 if least < 0.5 else 0.05 if least < 0.8 else 0.02
    for f1 in np.arange(step, 1, step).tolist():
        precision = np.linspace(max(y_low, f1 / 2 + 1e-6), 1, 200)
        sensitivity = f1 * precision / (2 * precision - f1)
        inside = (sensitivity >= x_low) & (sensitivity <= 1)
        axes.plot(sensitivity[inside], precision[inside], color="#DADADA", linewidth=0.9, zorder=1)
        if sensitivity[-1] >= x_low:
            place = (sensitivity[-1], 1 + 0.025 * (1 - y_low))
            axes.text(*place, f"{f1:.2f}", color="#9A9A9A", fontsize=8, ha="center", va="bottom")


def _draw_key(figure: Figure, results: Sequence[tuple[str, Evaluation]], width: float) -> None:
    """Names of results and their F1 at each rank, in the order in which they were given."""
    left = (width - KEY + 0.25) / width
    axes = figure.add_axes((left, 0, 1 - left, 1))
    axes.set(xlim=(0, KEY - 0.25), ylim=(0, HEIGHT))
    axes.set_axis_off()
    top = HEIGHT - TOP - 0.1
    for number, (name, one) in enumerate(results):
        y = top - number * (LINE + 0.17)
        marker, colour = MARKERS[number % len(MARKERS)], HUES[number % len(HUES)]
        axes.plot([0.12], [y], marker, color=colour, markersize=9, markeredgecolor="white")
        shares = "   ".join(f"{at.rank} {at.f1.value:.3f}" for at in one.ranks)
        axes.text(0.32, y, short_text(name, LONGEST_NAME), va="center_baseline", fontsize=10.5, fontweight="bold")
        axes.text(0.32, y - 0.19, f"F1: {shares}", va="center_baseline", fontsize=9, color=GREY)
