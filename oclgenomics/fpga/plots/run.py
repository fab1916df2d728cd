"""The figure of a run: the error of the hardware's maxima along the positions, and against omega."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from hls_model.config import Config
from oclgenomics.app.figures import BLUE, GREY, ORANGE, SKY, number_text, position_unit, short_text
from oclgenomics.fpga.comparison import AlignmentRun, summary_of
from oclgenomics.fpga.plots.shared import PALE, new_figure, note, set_titles

HELD = 1.5e-7  # relative error of the scan itself: its pair values are float32
LOWEST = HELD / 10  # smaller errors are drawn here
GAP = 0.02  # between alignments, as a share of all of them
LONGEST_NAME = 12  # letters shown
NAMED = 8  # alignments at most whose names are on the axis


def plot_run(runs: Sequence[AlignmentRun], config: Config, matrix: str) -> Figure:
    """Draw each grid position: the error of its maximum, and whether the hardware has another window there."""
    figure, (along, against) = new_figure(1, 2, size=(11, 4.8), sharey=True, gridspec_kw={"width_ratios": [2.2, 1]})
    x, error, omega, other = _points(runs)
    drawn = np.isfinite(error)
    heights = np.clip(error[drawn], LOWEST, None)
    for axes, across in ((along, x[drawn]), (against, omega[drawn])):
        axes.axhspan(LOWEST / 9, HELD, color=PALE, linewidth=0, zorder=0)
        if len(heights):
            axes.axhline(float(np.median(heights)), color=SKY, linewidth=1.6, zorder=1)
        for chosen, colour, size, layer in ((~other[drawn], BLUE, 12, 2), (other[drawn], ORANGE, 42, 3)):
            axes.scatter(
                across[chosen], heights[chosen], s=size, color=colour, linewidth=0.6, zorder=layer,
                edgecolor="white" if colour == ORANGE else "none",
            )  # fmt: skip
    along.set_yscale("log")
    along.set_ylim(LOWEST / 5, max(float(heights.max(initial=0.0)), 10 * HELD) * 5)
    along.set_ylabel("Relative error of the maximum, logarithmic")
    along.yaxis.set_major_formatter(lambda value, _: f"1e{math.log10(value):.0f}" if value < 1 else f"{value:,.0f}")
    along.tick_params(axis="y", which="minor", left=False)
    against.tick_params(axis="y", which="both", left=False)
    _name_positions(along, runs)
    _label(along, heights, other[drawn])
    against.set_xscale("log")
    if not len(heights):
        against.set_xlim(1, 10)
    against.xaxis.set_major_formatter(lambda value, _: f"{value:,.12g}")
    against.tick_params(axis="x", which="minor", bottom=False)
    against.set_xlabel("Omega (ω) of the scan, logarithmic")
    set_titles(along, *_titles(runs, config, matrix))
    return figure


def _points(runs: Sequence[AlignmentRun]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """Place along the axis, error, omega of the scan, and whether the window is another, of each valid position."""
    starts = _starts(runs)
    columns = []
    for one, start in zip(runs, starts, strict=True):
        scan, shown = one.scan, one.scan.valid & (one.scan.omega > 0)
        at = scan.positions[shown] - (scan.positions[0] if len(starts) > 1 else 0) if scan.possible else scan.positions
        columns.append((start + at, np.abs(one.error[shown]), scan.omega[shown], ~one.same_window[shown]))
    x, error, omega, other = (np.concatenate([*parts, np.zeros(0)]) for parts in zip(*columns, strict=True))
    return x, error, omega, other.astype(np.bool_)


def _starts(runs: Sequence[AlignmentRun]) -> NDArray[np.float64]:
    """Where each alignment begins along the axis: its own positions if it is alone, end to end otherwise."""
    spans = np.array([float(np.ptp(one.scan.positions)) if one.scan.possible else 0.0 for one in runs])
    if len(spans) == 1:
        return np.zeros(1)
    gap = max(float(spans.sum()) * GAP, 1.0)
    return np.concatenate([[0.0], np.cumsum(spans + gap)[:-1]])


def _name_positions(axes: Axes, runs: Sequence[AlignmentRun]) -> None:
    """Positions in bp of one alignment; names under several, if there is room for them."""
    scans = [one.scan for one in runs]
    if len(scans) == 1 and scans[0].possible:
        scale, unit = position_unit(scans[0].positions)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value / scale:,.6g}")
        axes.set_xlabel(f"Position on {short_text(scans[0].name, LONGEST_NAME)} ({unit})")
        return
    axes.set_xlabel("1 alignment" if len(scans) == 1 else f"{len(scans):,} alignments, end to end")
    starts = _starts(runs)
    if len(scans) > NAMED:
        axes.set_xticks([])
        return
    middles = [
        start + float(np.ptp(scan.positions)) / 2 if scan.possible else start
        for start, scan in zip(starts, scans, strict=True)
    ]
    axes.set_xticks(middles, [short_text(scan.name, LONGEST_NAME) for scan in scans])
    axes.tick_params(axis="x", length=0)


def _label(axes: Axes, heights: NDArray[Any], other: NDArray[np.bool_]) -> None:
    """What the colours mean, above the axes' upper edge where no point can be; and the band of the scan's own error."""

    def dot(colour: str, text: str, size: int) -> Line2D:
        return Line2D([], [], linestyle="", marker="o", color=colour, markersize=size, label=text, markeredgewidth=0)

    entries = [dot(BLUE, "same window", 4)]
    if other.any():
        entries.append(dot(ORANGE, "another window than the scan's", 7))
    if len(heights):
        entries.append(Line2D([], [], color=SKY, linewidth=1.6, label=f"median {np.median(heights):.1e}"))
    axes.legend(handles=entries, loc="upper left", ncols=3, frameon=False, fontsize=10, borderaxespad=0.1,
                handletextpad=0.3, columnspacing=1.4)  # fmt: skip
    text = "grey: less than the scan itself holds; the smallest are drawn at 1.5e-8"
    note(axes, text, (0, 0), (6, 5), xycoords="axes fraction", va="bottom", fontsize=9.5, color=GREY)


def _titles(runs: Sequence[AlignmentRun], config: Config, matrix: str) -> tuple[str, str]:
    """The result in a line, and what was computed in another."""
    whole = summary_of(runs)
    if not whole["positions"]:
        return "No grid position has a window", f"{config.name}: 0 omegas"
    largest, count = whole["largest_error"], whole["other_windows"]
    share = f"{100 * largest:.2g}" if largest < 0.995 else f"{100 * largest:.0f}"
    size = f"by {share} % at most" if largest <= 1 else f"by a factor of {number_text(1 + largest)} at most"
    size = size if math.isfinite(largest) else "without bound"
    windows = "no window differs" if not count else f"{count:,} of {whole['positions']:,} windows differ"
    way = "by the recurrence in float32" if matrix == "float32" else "exact, rounded once to float32"
    below = f"{config.name}: {whole['omegas']:,} omegas at {whole['positions']:,} positions; M {way}"
    return f"In float32, maxima are off {size}; {windows}", below
