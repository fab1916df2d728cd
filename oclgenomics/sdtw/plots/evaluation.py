"""Figures of evaluations: F by prefix, ROC curves, and the scores of both classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from oclgenomics.app.figures import BLUE, EN_DASH, GREY, INK, ORANGE, SKY, STYLE, TONES, short_text
from oclgenomics.sdtw.decisions.evaluation import Evaluation, PrefixEvaluation
from oclgenomics.sdtw.decisions.thresholds import Thresholds

WIDTH, HEIGHT = 12.0, 8.0
MAX_HISTOGRAMS, WIDEST_HISTOGRAM = 4, 0.4
LONGEST_TITLE = 60
COLOURS = (BLUE, ORANGE, "#009E73", "#CC79A7", SKY, INK)  # of Okabe and Ito, too
MARKERS = ("o", "s", "D", "^", "v", "P")
LONGEST_NAME = 20
LABEL_HEIGHT = 0.062  # of the axes
LEAST_SPAN = 0.1  # of F on the axis
SHOWN_FPR = (0.1, 0.25, 0.5, 1.0)  # ends of the axis
HIGH_TPR = 0.97  # that the lowest curve reaches at the end of the axis
BINS = 40
TAIL = 1  # percent of the scores at each end that may lie outside the histogram
LONGEST_LEGEND = 9


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
    colours = LinearSegmentedColormap.from_list("prefixes", TONES[3:])
    end = shown_fpr(evaluation)
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


def shown_fpr(evaluation: Evaluation) -> float:
    """Return where the axis of false positive rates ends, so that all curves are seen to rise."""
    return next(e for e in SHOWN_FPR if e == 1 or min(one.sweep.tpr_at(e) for one in evaluation.prefixes) >= HIGH_TPR)


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
