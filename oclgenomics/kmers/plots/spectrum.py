"""The k-mer spectrum as a figure: how many k-mers there are of each count, and what that says."""

from __future__ import annotations

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from oclgenomics.app.figures import BLUE, GREY, INK, ORANGE, STYLE, number_text, short_text
from oclgenomics.kmers.analysis.spectrum import Spectrum, fitted_from
from oclgenomics.kmers.formats.histogram import bases_between, bases_text, headline, percent_between, short_percent
from oclgenomics.kmers.result import Histogram

PEAKS_SHOWN = 3.2  # the axis ends here, in coverages
ROOM_ABOVE = 1.42  # the highest peak, for labels
MAX_BARS = 120  # that are drawn apart
MIN_COUNTS = 10  # on an axis without a peak
REPEATS_NAMED = 0.01  # share of the genome
MAX_TITLE = 50  # letters
LINE = 0.085  # of the axes' height, between lines of the summary


def plot_spectrum(histogram: Histogram, spectrum: Spectrum, *, k: int, title: str = "") -> Figure:
    """Draw a histogram with its reading.

    With a coverage peak, the axes are linear and cut where the peak is well seen: errors may reach higher, and say so.
    A line shows the model that was fitted.
    Without one, both axes are logarithmic.

    Parameters
    ----------
    histogram : Histogram
    spectrum : Spectrum
        Its reading.
    k : int
    title : str
        What was counted, for the line above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        To be saved by `oclgenomics.app.figures.save_plot` or changed further; no display is needed.
    """
    with rc_context(STYLE):
        figure = Figure(figsize=(10, 4.6), layout="constrained")
        axes = figure.add_subplot()
        if not histogram.distinct:
            axes.set_axis_off()
            axes.text(0.5, 0.5, "Nothing to draw: no k-mer", ha="center", va="center", color=GREY)
        elif spectrum.coverage is None:
            _draw_without_peak(axes, histogram)
        else:
            _draw_peak(axes, histogram, spectrum, spectrum.coverage)
        _set_title(axes, histogram, spectrum, k, title)
    return figure


def _set_title(axes: Axes, histogram: Histogram, spectrum: Spectrum, k: int, title: str) -> None:
    axes.set_title(headline(spectrum), loc="left", fontsize=15, fontweight="bold", pad=26)
    parts = short_text(title, MAX_TITLE), f"{histogram.total:,} {k}-mers, {histogram.distinct:,} distinct"
    below = ", ".join(part for part in parts if part)
    axes.annotate(below, (0, 1), xytext=(0, 10), xycoords="axes fraction", textcoords="offset points", color=GREY)


def _draw_without_peak(axes: Axes, histogram: Histogram) -> None:
    last = histogram.largest
    if last <= MAX_BARS:
        axes.set_xlim(0.4, max(last, MIN_COUNTS) + 0.6)
        axes.set_xlabel("Count")
        axes.bar(histogram.counts, histogram.kmers, 0.86, color=BLUE, linewidth=0)
    else:
        axes.set(xscale="log", xlabel="Count, logarithmic", xlim=(histogram.counts[0] / 1.2, last * 1.2))
        axes.xaxis.set_major_formatter(_grouped)
        axes.plot(histogram.counts, histogram.kmers, ".-", color=BLUE, linewidth=1.1, markersize=5)
    axes.set(yscale="log", ylim=(0.7, 3 * max(int(histogram.kmers.max()), 5)), ylabel="Distinct k-mers, logarithmic")
    axes.yaxis.set_major_formatter(_grouped)
    axes.tick_params(which="minor", left=False, bottom=False, labelleft=False, labelbottom=False)


def _grouped(value: float, _: float) -> str:
    return f"{value:,.12g}"


def _draw_peak(axes: Axes, histogram: Histogram, spectrum: Spectrum, coverage: float) -> None:
    valley = spectrum.valley or 0
    last = int(np.ceil(PEAKS_SHOWN * coverage)) + 1
    tally = histogram.dense(last + 1)
    top = ROOM_ABOVE * float(tally[valley + 1 :].max())
    axes.set(xlim=(0.5, last + 0.5), ylim=(0, top), xlabel="Count", ylabel="Distinct k-mers")
    axes.yaxis.set_major_formatter(_grouped)
    _draw_bars(axes, tally, valley)
    if spectrum.fit is not None:
        model = spectrum.fit.genuine(last + 1) + spectrum.fit.erroneous(last + 1)
        first = fitted_from(valley)
        axes.plot(np.arange(first, last + 1), model[first:], color=INK, linewidth=1.3, zorder=3)
    if valley:
        _mark_errors(axes, tally, spectrum, valley, top)
    _mark_coverage(axes, spectrum, coverage)
    _summarise(axes, spectrum)


def _draw_bars(axes: Axes, tally: NDArray[np.int64], valley: int) -> None:
    counts = np.arange(1, len(tally))
    colours = np.where(counts <= valley, GREY, BLUE).tolist()
    width = 0.86 if len(counts) <= MAX_BARS else 1.0
    axes.bar(counts, tally[1:], width, color=colours, linewidth=0)


def _mark_errors(axes: Axes, tally: NDArray[np.int64], spectrum: Spectrum, valley: int, top: float) -> None:
    axes.axvspan(0.5, valley + 0.5, facecolor=GREY, alpha=0.14, linewidth=0, zorder=0.5)
    highest = int(tally[: valley + 1].max())
    share = f"errors: {short_percent(spectrum.error_share or 0.0)} of k-mers"
    if highest > top:
        share += f"\nup to {highest:,} here"
    axes.annotate(
        share, (valley + 0.5, 1), xycoords=("data", "axes fraction"), xytext=(6, -4), textcoords="offset points",
        va="top", fontsize=10, color=GREY, linespacing=1.3,
    )  # fmt: skip


def _mark_coverage(axes: Axes, spectrum: Spectrum, coverage: float) -> None:
    height = 1 / ROOM_ABOVE + 0.05
    if spectrum.intervals is not None:
        sure = spectrum.intervals.coverage
        axes.axvspan(sure.low, sure.high, 0, height, facecolor=ORANGE, alpha=0.25, linewidth=0, zorder=3.5)
    axes.axvline(coverage, 0, height, color=ORANGE, linewidth=1.8, zorder=4)
    axes.annotate(
        f"coverage {number_text(coverage)}", (coverage, height), xycoords=("data", "axes fraction"), xytext=(6, 0),
        textcoords="offset points", va="top", fontsize=11, fontweight="bold", color=ORANGE,
    )  # fmt: skip
    if spectrum.half_peak is not None:
        axes.axvline(spectrum.half_peak, 0, height, color=INK, linewidth=1.2, linestyle=(0, (5, 3)), zorder=4)
        what = "half coverage" if spectrum.heterozygosity is None else "heterozygous"
        axes.annotate(
            f"{what}\n{number_text(spectrum.half_peak)}", (spectrum.half_peak, height),
            xycoords=("data", "axes fraction"), xytext=(0, 2), textcoords="offset points", ha="center", va="bottom",
            fontsize=10,
        )  # fmt: skip
    if (spectrum.repeat_share or 0) >= REPEATS_NAMED:
        axes.axvline(2 * coverage, 0, height / 2, color=GREY, linewidth=1.2, linestyle=(0, (1, 2)), zorder=4)
        axes.annotate(
            "twice the coverage", (2 * coverage, height / 2), xycoords=("data", "axes fraction"), xytext=(5, 0),
            textcoords="offset points", va="top", fontsize=10, color=GREY,
        )  # fmt: skip


def _summarise(axes: Axes, spectrum: Spectrum) -> None:
    """What was read, in the corner where the histogram is low."""
    left_open = "heterozygosity left open"
    percent = (
        left_open if spectrum.heterozygosity is None else f"heterozygosity {short_percent(spectrum.heterozygosity)}"
    )
    rate = None if spectrum.intervals is None else spectrum.intervals.heterozygosity
    if rate is not None:
        percent += f" ({percent_between(rate)})"
    lines = [{True: percent, False: "no heterozygous peak", None: left_open}[spectrum.heterozygous]]
    if spectrum.other is not None:
        lines = [percent, f"or {bases_text(spectrum.other.genome_size)},", "if the second peak"]
        lines += ["is of repeats" if spectrum.other.coverage < (spectrum.coverage or 0) else "is of both chromosomes"]
    if spectrum.genome_size is not None and spectrum.repeat_share is not None:
        size, share = bases_text(spectrum.genome_size), short_percent(spectrum.repeat_share)
        if spectrum.intervals is not None:
            size = f"{size} ({bases_between(spectrum.intervals.genome_size)})"
        lines = [f"genome size {size}", f"repeats {share}", *lines]
    if spectrum.intervals is not None:
        lines.extend(("in brackets: 95 % confidence,", "random error alone"))
    for number, line in enumerate(lines):
        axes.text(1, 0.97 - LINE * number, line, ha="right", va="top", transform=axes.transAxes,
                  fontweight="normal" if number else "bold")  # fmt: skip
