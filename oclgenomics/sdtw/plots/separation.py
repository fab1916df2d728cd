"""How scores of targets and others lie apart: ROC curves, and histograms with thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from oclgenomics.app.figures import BLUE, GREY, INK, ORANGE, TONES
from oclgenomics.sdtw.evaluation.result import Evaluation, PrefixEvaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_histogram", "draw_roc"]

SHOWN_FPR = (0.1, 0.25, 0.5, 1.0)  # ends of the axis
HIGH_TPR = 0.97  # that the lowest curve reaches at the end of the axis
BINS = 40
TAIL = 1  # percent of the scores at each end that may lie outside the histogram
LONGEST_LEGEND = 9


def draw_roc(axes: Axes, evaluation: Evaluation, thresholds: Mapping[int, float], what: str) -> None:
    """Draw the ROC curve of each prefix, with its threshold marked.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    evaluation : Evaluation
    thresholds : mapping of int to float
        Of each prefix to be marked.
    what : str
        What these are.
    """
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("prefixes", TONES[3:])
    end = next(e for e in SHOWN_FPR if e == 1 or min(one.sweep.tpr_at(e) for one in evaluation.prefixes) >= HIGH_TPR)
    last = max(len(evaluation.prefixes) - 1, 1)
    shown = np.unique(np.linspace(0, len(evaluation.prefixes) - 1, LONGEST_LEGEND).round()).astype(int)
    for number, one in enumerate(evaluation.prefixes):
        colour = colours(number / last if len(evaluation.prefixes) > 1 else 0.5)
        fpr, tpr = one.sweep.roc
        label = f"{one.prefix:,}   {one.sweep.auc:.3f}" if number in shown else None
        axes.plot(fpr, tpr, color=colour, linewidth=2, label=label, zorder=2, solid_joinstyle="round")
    rates = [one.sweep.rates(thresholds[one.prefix]) for one in evaluation.prefixes if one.prefix in thresholds]
    inside = [(fpr, tpr) for tpr, fpr in rates if fpr <= end]
    if inside:
        x, y = zip(*inside, strict=True)
        axes.plot(x, y, "o", color=ORANGE, markersize=7, markeredgecolor="white", clip_on=False, zorder=4, label=what)
    if end == 1:
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=(0, (4, 4)), zorder=1)
    axes.set(xlim=(0, end), ylim=(0, 1.01), xlabel="False positive rate", ylabel="True positive rate")
    key = axes.legend(
        title="samples   AUC", frameon=False, loc="lower right", fontsize=9, title_fontsize=9, handlelength=1.4,
        labelspacing=0.3,
    )  # fmt: skip
    key.get_title().set_color(GREY)


def draw_histogram(axes: Axes, one: PrefixEvaluation, threshold: float | None, score: str) -> None:
    """Draw the scores of both classes at a prefix.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    one : PrefixEvaluation
    threshold : float or None
        Marked, if there is one.
    score : str
        What a score is.
    """
    finite = [scores[np.isfinite(scores)] for scores in (one.sweep.target, one.sweep.other)]
    together = np.concatenate(finite)
    low, high = np.percentile(together, [TAIL, 100 - TAIL]).tolist()
    low, high = (min(low, threshold), max(high, threshold)) if threshold is not None else (low, high)
    room = max((high - low) * 0.03, 0.5)
    edges = np.linspace(low - room, high + room, BINS + 1)
    for scores, total, colour in (
        (finite[0], len(one.sweep.target), BLUE), (finite[1], len(one.sweep.other), ORANGE),
    ):  # fmt: skip
        shares = np.histogram(scores, edges)[0] / total
        axes.stairs(shares, edges, fill=True, color=colour, alpha=0.35, linewidth=0)
        axes.stairs(shares, edges, color=colour, linewidth=1.4)
    axes.set(xlim=(edges[0], edges[-1]), xlabel=f"{score} at {one.prefix:,} samples", yticks=[])
    axes.set_ylim(0, axes.get_ylim()[1] * 1.22)
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.locator_params(axis="x", nbins=4)
    if threshold is not None:
        _mark(axes, one, threshold)


def _mark(axes: Axes, one: PrefixEvaluation, threshold: float) -> None:
    """The threshold, with the shares of both classes that it keeps."""
    recall, fpr = one.sweep.rates(threshold)
    axes.axvline(threshold, ymax=0.92, color=INK, linewidth=1.4)
    for text, side, shift, colour in (
        (f"keeps {100 * recall:.1f} %", "right", -4, BLUE),
        (f"{100 * fpr:.1f} %", "left", 4, ORANGE),
    ):
        axes.annotate(
            text, (threshold, 0.88), (shift, 0), xycoords=("data", "axes fraction"), textcoords="offset points",
            ha=side, va="center", fontsize=9.5, fontweight="bold", color=colour,
        )  # fmt: skip
