"""The figure of a run with selection: how long decisions took, and what became of the reads."""

from __future__ import annotations

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from oclgenomics.app.figures import BLUE, GREEN, GREY, INK, ORANGE, SKY, STYLE, number_text, short_text
from oclgenomics.sdtw.live.judging import OUTCOMES
from oclgenomics.sdtw.live.playback import Played, played_headline

LONGEST_TITLE = 60  # characters shown
MAX_DOTS = 20_000
BINS = 60
LEAST_LABELLED = 0.06  # share of the reads
COLOURS = {"accept": BLUE, "reject": ORANGE, "undecided": GREY, "control": SKY, "unselected": GREEN, "delayed": INK}


def plot_played(played: Played, *, title: str = "") -> Figure:
    """Draw a run.

    Above, a dot for each decision: when the sequencer got it, and how long after the chunk that made it
    possible; next to it their histogram, on the same scale. Below, reads by what was decided of them, targets apart
    where they are known.

    Parameters
    ----------
    played : Played
    title : str
        What was played.

    Returns
    -------
    matplotlib.figure.Figure
        To be saved by `oclgenomics.app.figures.save_plot` or changed further; no display is needed.
    """
    with rc_context(STYLE):
        figure = Figure(figsize=(10, 6.4))
        grid = figure.add_gridspec(
            2, 2, width_ratios=(4, 1), height_ratios=(3, 1.2), left=0.09, right=0.97, bottom=0.09, top=0.86,
            hspace=0.42, wspace=0.1,
        )  # fmt: skip
        over_time = figure.add_subplot(grid[0, 0])
        _draw_latency(over_time, played)
        _draw_histogram(figure.add_subplot(grid[0, 1], sharey=over_time), played)
        _draw_outcomes(figure.add_subplot(grid[1, :]), played)
        _write_title(figure, played, title)
    return figure


def _draw_latency(axes: Axes, played: Played) -> None:
    told = ~np.isnan(played.latency)
    time, latency = played.time[told], 1e3 * played.latency[told]
    step = max(1, len(time) // MAX_DOTS)
    axes.plot(time[::step], latency[::step], ".", color=BLUE, markersize=3, alpha=0.4, rasterized=len(time) > 2000)
    bound = 1e3 * played.live.max_latency
    axes.axhline(bound, color=ORANGE, linewidth=1)
    axes.annotate(
        "the loop waits no longer", (1, bound), (-2, 3), xycoords=("axes fraction", "data"), textcoords="offset points",
        ha="right", color=ORANGE, fontsize=9,
    )  # fmt: skip
    axes.set(xlabel="Time of the run (s)", ylabel="Decision latency (ms)", xlim=(0, played.seconds or 1))
    axes.set_ylim(0, 1.12 * max(bound, float(latency.max(initial=0))))


def _draw_histogram(axes: Axes, played: Played) -> None:
    latency = 1e3 * played.latency[~np.isnan(played.latency)]
    axes.hist(latency, bins=np.linspace(*axes.get_ylim(), BINS).tolist(), orientation="horizontal", color=BLUE)
    axes.tick_params(axis="y", labelleft=False)
    axes.set_xlabel("Reads")
    axes.axhline(1e3 * played.live.max_latency, color=ORANGE, linewidth=1)


def _draw_outcomes(axes: Axes, played: Played) -> None:
    rows = [("targets", played.outcomes[1]), ("others", played.outcomes[0])]
    rows = rows if played.labelled else [("reads", played.outcomes.sum(axis=0))]
    before = np.zeros(len(rows), np.int64)  # reads that are drawn to the left
    totals = np.array([max(1, int(row.sum())) for _, row in rows])
    for word, colour in COLOURS.items():
        counts = np.array([int(row[OUTCOMES.index(word)]) for _, row in rows])
        if not counts.any():
            continue
        shares, left = counts / totals, before / totals
        before += counts
        axes.barh(range(len(rows)), shares, left=left, color=colour, height=0.62, label=word)
        for place in np.flatnonzero(shares > LEAST_LABELLED).tolist():
            middle = left[place] + shares[place] / 2
            axes.text(middle, place, f"{counts[place]:,}", ha="center", va="center", color="white", fontsize=10)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.set(xlim=(0, 1), xlabel="Share of the reads", ylim=(len(rows) - 0.5, -0.5))
    if played.outcomes.any():
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=6, frameon=False, fontsize=9, handlelength=1)


def _write_title(figure: Figure, played: Played, title: str) -> None:
    latency, metrics = played.metrics.latency.summary(), played.metrics
    figure.text(0.02, 0.955, played_headline(played), fontsize=13, fontweight="bold")
    chosen = f", {metrics.choice.text()} selected" if metrics.choice.short else ""
    named = f"{short_text(title, LONGEST_TITLE)}: " if title else ""
    parts = [f"{named}{played.options.channels:,} channels{chosen}", f"{metrics.reads:,} reads"]
    if latency["p99"] is not None:
        parts.append(f"p50 {number_text(1e3 * (latency['p50'] or 0))} ms, p99 {number_text(1e3 * latency['p99'])} ms")
    parts.append(f"{metrics.slow_batches:,} of {metrics.batches:,} batches slow")
    figure.text(0.02, 0.91, "; ".join(parts), color=GREY)
