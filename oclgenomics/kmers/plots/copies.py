"""The spectrum by copies: how many k-mers of reads of each count an assembly has once, twice, or not at all."""

from __future__ import annotations

from math import isinf

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from oclgenomics.app.figures import BLUE, GREEN, GREY, ORANGE, STYLE, short_text
from oclgenomics.kmers.analysis.spectrum import read_spectrum
from oclgenomics.kmers.result import AssemblyQuality, Histogram

PINK, YELLOW = "#CC79A7", "#E69F00"  # of Okabe and Ito, too
COLOURS = (GREY, ORANGE, BLUE, GREEN, PINK, YELLOW)  # near those that users of Merqury know
LABELS = ("reads only", "once", "twice", "3 times", "4 times", "more often")
PEAKS_SHOWN = 3.2  # the axis ends here, in coverages
WITHOUT_PEAK = 60  # counts shown where there is no peak
ROOM_ABOVE = 1.15  # the highest peak
MAX_TITLE = 50  # letters


def plot_copies(quality: AssemblyQuality, *, title: str = "") -> Figure:
    """Draw the k-mers of the reads by their counts, stacked by how often the assembly has them.

    Parameters
    ----------
    quality : AssemblyQuality
    title : str
        What was assessed, for the line above the figure; the assembly's name if not given.

    Returns
    -------
    matplotlib.figure.Figure
        To be saved by `oclgenomics.app.figures.save_plot` or changed further; no display is needed.
    """
    with rc_context(STYLE):
        figure = Figure(figsize=(10, 4.6), layout="constrained")
        axes = figure.add_subplot()
        if len(quality.spectrum.counts):
            _draw(axes, quality)
        else:
            axes.set_axis_off()
            axes.text(0.5, 0.5, "Nothing to draw: the reads have no k-mer", ha="center", va="center", color=GREY)
        _set_title(axes, quality, title or quality.name)
    return figure


def _set_title(axes: Axes, quality: AssemblyQuality, title: str) -> None:
    parts = ["no k-mers"]
    if quality.qv is not None:
        parts = ["Every k-mer is in the reads" if isinf(quality.qv) else f"QV {quality.qv:.1f}"]
    if quality.completeness is not None:
        parts.append(f"completeness {quality.completeness:.2f} %")
    axes.set_title(", ".join(parts), loc="left", fontsize=15, fontweight="bold", pad=26)
    missing = f"{quality.assembly_only:,} of {quality.kmers:,} {quality.k}-mers in no read"
    below = f"{short_text(title, MAX_TITLE)}, {missing}"
    axes.annotate(below, (0, 1), xytext=(0, 10), xycoords="axes fraction", textcoords="offset points", color=GREY)


def _draw(axes: Axes, quality: AssemblyQuality) -> None:
    spectrum = quality.spectrum
    whole = Histogram(spectrum.counts, spectrum.kmers.sum(axis=0))
    reading = read_spectrum(whole, quality.k)
    valley = reading.valley or 0
    last = WITHOUT_PEAK if reading.coverage is None else int(np.ceil(PEAKS_SHOWN * reading.coverage)) + 1
    rows = np.zeros((len(spectrum.kmers), last + 1), np.int64)
    shown = spectrum.counts <= last
    rows[:, spectrum.counts[shown]] = spectrum.kmers[:, shown]
    stacked = rows[::-1].cumsum(axis=0)[::-1]  # those of the reads alone on top
    top = ROOM_ABOVE * float(max(stacked[0, valley + 1 :].max(initial=0), 1))
    axes.set(xlim=(-1.5, last + 0.5), ylim=(0, top), xlabel="Count in the reads (0: in the assembly only)",
             ylabel="Distinct k-mers")  # fmt: skip
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.12g}")
    _draw_layers(axes, rows, stacked)
    _draw_only(axes, quality, top)
    _label(axes, rows, valley, top, int(stacked[0].max()))


def _draw_layers(axes: Axes, rows: NDArray[np.int64], stacked: NDArray[np.int64]) -> None:
    edges = np.arange(rows.shape[1] + 1) - 0.5
    for copies in range(len(rows)):
        if rows[copies].any():
            below = stacked[copies] - rows[copies]
            axes.stairs(stacked[copies][1:], edges[1:], baseline=below[1:], fill=True, color=COLOURS[copies],
                        linewidth=0)  # fmt: skip


def _draw_only(axes: Axes, quality: AssemblyQuality, top: float) -> None:
    """The k-mers of the assembly that no read has, at the count 0."""
    if quality.distinct_only:
        axes.bar(0, quality.distinct_only, 0.86, color=COLOURS[1], linewidth=0)
    more = f"\nup to {quality.distinct_only:,}" if quality.distinct_only > top else ""
    axes.axvline(0.5, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)))
    if more:
        axes.annotate(more.strip(), (0, 1), xycoords=("data", "axes fraction"), xytext=(6, -4),
                      textcoords="offset points", va="top", fontsize=9, color=COLOURS[1])  # fmt: skip


def _label(axes: Axes, rows: NDArray[np.int64], valley: int, top: float, highest: int) -> None:
    """What colours mean, in the corner where the spectrum is low, and how high errors reach."""
    totals = rows.sum(axis=1)
    axes.text(1, 0.97, "in the assembly", ha="right", va="top", transform=axes.transAxes, fontweight="bold")
    place = 0.97
    for copies, label in enumerate(LABELS):
        if not totals[copies]:
            continue
        place -= 0.085
        text = "not at all" if copies == 0 else label
        axes.text(0.965, place, text, ha="right", va="top", transform=axes.transAxes)
        axes.plot([0.985], [place - 0.024], marker="s", markersize=9, color=COLOURS[copies], transform=axes.transAxes,
                  clip_on=False)  # fmt: skip
    if highest > top:
        high = np.flatnonzero(rows[:, : valley + 1].sum(axis=0) > 0.75 * top)
        axes.annotate(f"errors of reads\nup to {highest:,} here", (high.max(initial=0) + 0.5, 1),
                      xycoords=("data", "axes fraction"), xytext=(6, -4), textcoords="offset points", va="top",
                      fontsize=10, color=GREY, linespacing=1.3)  # fmt: skip
