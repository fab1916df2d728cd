"""The figure of an evaluation: F by prefix, ROC curves, and the scores of both classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from oclgenomics.app.figures import BLUE, EN_DASH, GREY, ORANGE, STYLE, short_text
from oclgenomics.sdtw.decisions.thresholds import Thresholds
from oclgenomics.sdtw.evaluation.result import Evaluation, PrefixEvaluation
from oclgenomics.sdtw.plots.f_curves import draw_f_curves
from oclgenomics.sdtw.plots.separation import draw_histogram, draw_roc

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_evaluation"]

WIDTH, HEIGHT = 12.0, 8.0
MAX_HISTOGRAMS, WIDEST_HISTOGRAM = 4, 0.4
LONGEST_TITLE = 60


def plot_evaluation(
    evaluations: Sequence[Evaluation], thresholds: Thresholds | None = None, *, title: str = ""
) -> Figure:
    """Draw evaluations of the same reads.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        Each is a line of F; ROC curves and histograms are of the first one.
    thresholds : Thresholds, optional
        Marked in the ROC curves and histograms; those of the highest F if not given.
    title : str
        What was evaluated, for the line below the headline.

    Returns
    -------
    matplotlib.figure.Figure
        To be saved by `oclgenomics.app.figures.save_plot` or changed further; no display is needed.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    first = evaluations[0]
    if thresholds is None:
        marked = {one.prefix: one.threshold for one in first.prefixes}
    else:
        marked = {stage.prefix: stage.reject_above for stage in thresholds.stages}
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, HEIGHT))
        draw_f_curves(figure.add_axes((0.065, 0.50, 0.40, 0.36)), evaluations)
        what = "highest F" if thresholds is None else "threshold"
        draw_roc(figure.add_axes((0.67, 0.50, 0.30, 0.36)), first, marked, what)
        shown = _shown(first, marked)
        wide = min(0.905 / len(shown), WIDEST_HISTOGRAM)
        word = "Cost" if first.labelled.score == "cost" else "Difference of costs"
        for number, one in enumerate(shown):
            axes = figure.add_axes((0.065 + number * wide, 0.09, wide - 0.03, 0.27))
            draw_histogram(axes, one, marked.get(one.prefix), word)
        _write_titles(figure, evaluations, title)
    return figure


def _shown(evaluation: Evaluation, marked: dict[int, float]) -> list[PrefixEvaluation]:
    """Prefixes that get a histogram, from the shortest to the longest."""
    known = [one for one in evaluation.prefixes if one.prefix in marked] or list(evaluation.prefixes)
    places = np.unique(np.linspace(0, len(known) - 1, MAX_HISTOGRAMS).round()).astype(int)
    return [known[place] for place in places.tolist()]


def _write_titles(figure: Figure, evaluations: Sequence[Evaluation], title: str) -> None:
    first = evaluations[0]
    best = max(first.prefixes, key=lambda one: one.f.value)
    headline = f"F {best.f.value:.3f} at {best.prefix:,} samples"
    if not np.isnan(best.f.low):
        headline += f" ({best.f.low:.3f}{EN_DASH}{best.f.high:.3f})"
    if not np.isnan(best.held_out.value):
        headline += f", {best.held_out.value:.3f} held out"
    reads = [len(scores) for scores in (first.labelled.target, first.labelled.other)]
    below = ": ".join(
        part for part in (short_text(title, LONGEST_TITLE), f"{reads[0]:,} target and {reads[1]:,} other reads") if part
    )
    below += "; both classes weigh the same" if first.balanced else "; each read weighs the same"
    figure.text(0.02, 0.955, headline, fontsize=15, fontweight="bold", va="center")
    figure.text(0.02, 0.915, below, va="center", color=GREY)
    line = 0.395
    figure.text(0.065, line, "Scores of targets", color=BLUE, fontweight="bold", va="center")
    figure.text(0.202, line, "and of other reads", color=ORANGE, fontweight="bold", va="center")
    figure.text(0.350, line, "as shares of each class, and what the threshold keeps", color=GREY, va="center")
