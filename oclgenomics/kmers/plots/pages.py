"""Pages of k-mers for browsers: the spectrum, and how samples of a matrix resemble each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.figures import BLUE, GREY, INK, ORANGE, number_text
from oclgenomics.app.pages import Chart, Page, Table, height_axis, height_views
from oclgenomics.kmers.analysis.spectrum import Spectrum, fitted_from
from oclgenomics.kmers.formats.histogram import (
    INTERVALS,
    bases_between,
    bases_text,
    headline,
    percent_between,
    short_percent,
)
from oclgenomics.kmers.result import Histogram

PEAKS_SHOWN = 3.2  # where the axis ends at first, in coverages
ROOM_ABOVE = 1.35  # the highest peak, for labels
EACH, DRAWN = 1_000, 2_000  # counts: so many are all drawn, and so many at most
REPEATS_NAMED = 0.01  # share of the genome
LEAST = 0.7  # k-mers at the lower end of a logarithmic axis
FEW_COUNTS = 120  # on a linear axis without a peak


def spectrum_page(histogram: Histogram, spectrum: Spectrum, *, k: int, title: str, more: str = "") -> Page:
    """Return the page of a histogram and its reading.

    Parameters
    ----------
    histogram : Histogram
    spectrum : Spectrum
        Its reading.
    k : int
    title : str
        What was counted.
    more : str
        Where all counts are, if they are too many for the table.
    """
    facts = _reading(spectrum) | {"Distinct k-mers": f"{histogram.distinct:,}", "K-mers": f"{histogram.total:,}"}
    notes = list(spectrum.notes)
    if spectrum.intervals is not None:
        notes.append(f"In brackets: {INTERVALS}.")
    chart = [_chart(histogram, spectrum, k)] if histogram.distinct else []
    return Page(headline(spectrum), f"{title}: {k}-mers", [*chart, _table(histogram, more)], facts, notes)


def _reading(spectrum: Spectrum) -> dict[str, str]:
    if spectrum.coverage is None or spectrum.genome_size is None:
        return {}
    sure = spectrum.intervals
    facts = {"Coverage": number_text(spectrum.coverage), "Genome size": bases_text(spectrum.genome_size)}
    rate = "left open" if spectrum.heterozygous is None else "no peak of it"
    facts["Heterozygosity"] = rate if spectrum.heterozygosity is None else short_percent(spectrum.heterozygosity)
    if sure is not None:
        facts["Coverage"] += f"\n({number_text(sure.coverage.low)} to {number_text(sure.coverage.high)})"
        facts["Genome size"] += f"\n({bases_between(sure.genome_size)})"
        if sure.heterozygosity is not None:
            facts["Heterozygosity"] += f"\n({percent_between(sure.heterozygosity)})"
    if spectrum.other is not None:
        facts["Or, as likely"] = (
            f"{bases_text(spectrum.other.genome_size)}\ncoverage {number_text(spectrum.other.coverage)}, "
            f"heterozygosity {short_percent(spectrum.other.heterozygosity)}"
        )
    facts["Repeats"] = f"{short_percent(spectrum.repeat_share or 0)}\nof the genome"
    return facts | {"Errors": f"{short_percent(spectrum.error_share or 0)}\nof all k-mers"}


def _drawn(counts: NDArray[np.int64]) -> NDArray[np.intp]:
    """Places of the counts that are drawn: the first ones, and some of the others in even steps of the logarithm."""
    if len(counts) <= DRAWN:
        return np.arange(len(counts))
    steps = np.geomspace(counts[EACH], counts[-1], DRAWN - EACH)
    return np.unique(np.append(np.arange(EACH), np.searchsorted(counts, steps).clip(max=len(counts) - 1)))


def _chart(histogram: Histogram, spectrum: Spectrum, k: int) -> Chart:
    drawn = _drawn(histogram.counts)
    counts, found = histogram.counts[drawn], histogram.kmers[drawn]
    text = f"Each bar is the number of distinct {k}-mers that occur so many times."
    if len(drawn) < len(histogram.counts):
        some = f"{len(drawn):,} of {len(histogram.counts):,} counts"
        text += f" Drawn are {some}: all to {counts[EACH - 1]:,}, some above."
    if spectrum.coverage is None:
        return Chart("Spectrum", text, [_bars("k-mers", BLUE, counts, found, k)], _without_peak(histogram), 460)
    valley = spectrum.valley or 0
    errors = counts <= valley
    traces = [_bars("k-mers of the genome", BLUE, counts[~errors], found[~errors], k)]
    if valley:
        name = f"errors: {short_percent(spectrum.error_share or 0.0)} of all k-mers"
        traces.insert(0, _bars(name, GREY, counts[errors], found[errors], k))
    first, last = fitted_from(valley), int(np.ceil(PEAKS_SHOWN * spectrum.coverage)) + 1
    if spectrum.fit is not None:
        model = spectrum.fit.genuine(last + 1) + spectrum.fit.erroneous(last + 1)
        traces.append({
            "type": "scatter", "mode": "lines", "name": "model", "x": np.arange(first, last + 1), "y": model[first:],
            "line": {"color": INK, "width": 1.6}, "hovertemplate": "model at %{x:,}: %{y:,.0f}<extra></extra>",
        })  # fmt: skip
        text += " The line is the model that was fitted."
    top = ROOM_ABOVE * float(histogram.dense(last + 1)[valley + 1 :].max(initial=1))
    marks = [(spectrum.coverage, "coverage", ORANGE, "solid")]
    if spectrum.half_peak is not None:
        what = "half coverage" if spectrum.heterozygosity is None else "heterozygous"
        marks.append((spectrum.half_peak, what, INK, "dash"))
    if (spectrum.repeat_share or 0) >= REPEATS_NAMED:
        marks.append((2 * spectrum.coverage, "twice the coverage", GREY, "dot"))
    traces += [_mark(*mark, top / ROOM_ABOVE) for mark in marks]
    return Chart("Spectrum", text, traces, _with_peak(histogram, spectrum, last, top), 480)


def _bars(name: str, colour: str, counts: NDArray[np.int64], found: NDArray[np.int64], k: int) -> dict[str, Any]:
    return {
        "type": "bar", "name": name, "x": counts, "y": found, "marker": {"color": colour, "line": {"width": 0}},
        "hovertemplate": "%{x:,} times: %{y:,} " + f"{k}-mers<extra></extra>",
    }  # fmt: skip


def _mark(place: float, name: str, colour: str, dash: str, top: float) -> dict[str, Any]:
    """A line across that the legend names."""
    return {
        "type": "scatter", "mode": "lines", "name": f"{name} {number_text(place)}", "x": [place, place],
        "y": [LEAST, top], "line": {"color": colour, "width": 2, "dash": dash}, "hoverinfo": "name",
        "hoverlabel": {"namelength": -1},
    }  # fmt: skip


def _without_peak(histogram: Histogram) -> dict[str, Any]:
    axis: dict[str, Any] = {"title": {"text": "Times that a k-mer occurs"}}
    if histogram.largest > FEW_COUNTS:
        axis |= {"type": "log", "dtick": "D2"}
    views = height_views(LEAST * 1.3, float(histogram.kmers.max()))
    return {**height_axis(views, "logarithmic", "Distinct k-mers"), "xaxis": axis, "bargap": 0.1}


def _with_peak(histogram: Histogram, spectrum: Spectrum, last: int, top: float) -> dict[str, Any]:
    shapes = []
    if spectrum.intervals is not None:
        sure = spectrum.intervals.coverage
        shapes.append({
            "type": "rect", "x0": sure.low, "x1": sure.high, "yref": "paper", "y0": 0, "y1": 1 / ROOM_ABOVE,
            "line": {"width": 0}, "fillcolor": ORANGE, "opacity": 0.25,
        })  # fmt: skip
    views = height_views(LEAST * 1.3, float(histogram.kmers.max()))
    views["linear"]["yaxis.range"] = [0, top]
    return {
        **height_axis(views, "linear", "Distinct k-mers"),
        "xaxis": {"title": {"text": "Times that a k-mer occurs"}, "range": [0.5, last + 0.5]},
        "shapes": shapes, "bargap": 0.1 if last <= FEW_COUNTS else 0, "barmode": "overlay", "showlegend": True,
    }  # fmt: skip


def _table(histogram: Histogram, more: str) -> Table:
    total, distinct = max(histogram.total, 1), max(histogram.distinct, 1)
    columns = ["Times", "Distinct k-mers", "% of distinct", "% of all k-mers"]
    rows = [(count, kmers, 100 * kmers / distinct, 100 * count * kmers / total) for count, kmers in histogram.rows()]
    return Table("Counts", columns, rows, "Distinct k-mers that occur so many times.", more)
