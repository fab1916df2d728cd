"""The page of a scan for browsers: samples, the signatures in them, and tables of both."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.figures import BLUE, LINE, ORANGE, WHITE, position_unit, short_text
from oclgenomics.app.pages import Chart, Page, Table, colour_bar, label, shading
from oclgenomics.signatures.matches.certainty import certainty
from oclgenomics.signatures.matches.totals import ScanTotals
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.plots.choice import ChosenSamples, Lane

DRAWN = 4_000  # matches
LISTED_SIGNATURES = 500
UNLIKE = 8.0  # longest over shortest sample from which each lane has a scale of its own
LONGEST_NAME = 24
MOST_ROWS = 14  # of a lane
ROW, LANE, MARGINS = 15, 14, 130  # pixels: of a row of matches, between lanes, and around them
STRANDS = "+-"


def scan_page(chosen: ChosenSamples, *, title: str, more: str = "") -> Page:
    """Return the page of a scan.

    Parameters
    ----------
    chosen : ChosenSamples
        The samples with the surest matches, and the totals of all.
    title : str
        What was scanned.
    more : str
        Where all matches are.
    """
    totals, lanes = chosen.totals, chosen.lanes
    facts = {
        "Samples": f"{totals.samples:,}\n{totals.letters:,} bp",
        "With a match": f"{totals.matching_samples:,}\nsamples",
        "Signatures": f"{len(chosen.panel):,}", "Found": f"{totals.signatures:,}\nsignatures",
        "Matches": f"{totals.hits:,}",
    }  # fmt: skip
    found = f"{totals.signatures:,} signature{'s' * (totals.signatures != 1)} found in "
    headline = f"{found}{totals.matching_samples:,} sample{'s' * (totals.matching_samples != 1)}"
    parts: list[Chart | Table] = []
    if lanes:
        parts = [_figure(chosen, lanes), _matches(chosen, lanes, more), _signatures(totals)]
    return Page(headline, title, parts, facts, totals.warnings())


def _figure(chosen: ChosenSamples, lanes: list[Lane]) -> Chart:
    """A lane for each sample, with its matches where they are."""
    letters = [lane.letters for lane in lanes]
    own = max(letters) > UNLIKE * min(letters)
    scale, unit = position_unit(np.array([float(max(letters))]))
    scales = [100 / each if own else 1 / scale for each in letters]
    most = max(1, DRAWN // len(lanes))
    shown = [_surest(lane, most) for lane in lanes]
    rows = [_rows(lane, places) for lane, places in zip(lanes, shown, strict=True)]
    traces, tracks, middles, top = [], [], [], 0.0
    for lane, places, row, factor in zip(lanes, shown, rows, scales, strict=True):
        height = int(row.max(initial=0)) + 1
        middles.append(top + height / 2)
        traces += _lane(chosen.panel, lane, places, top + row + 0.5, factor)
        tracks.append(_track(lane, top, height, factor))
        top += height + LANE / ROW
    names = [label(short_text(lane.name, LONGEST_NAME)) for lane in lanes]
    axis = {"tickmode": "array", "tickvals": middles, "ticktext": names, "ticks": "", "showgrid": False}
    place = "Place in the sample (%), each lane on a scale of its own" if own else f"Place in the sample ({unit})"
    text = "Each bar is a match, with a triangle where it ends on its strand. The darker it is, the surer. White bars "
    text += "with orange borders may be chance."
    if len(lanes) < chosen.totals.matching_samples:
        text += f" Shown are the {len(lanes)} samples with the surest matches of {chosen.totals.matching_samples:,}."
    layout = {
        "yaxis": {**axis, "range": [top, -0.5]}, "xaxis": {"title": {"text": place}}, "barmode": "overlay", "bargap": 0,
        "shapes": tracks,
        "coloraxis": {"colorscale": shading(), "cmin": 0, "cmax": 1, "colorbar": colour_bar("certainty")},
    }  # fmt: skip
    return Chart("Samples and matches", text, traces, layout, MARGINS + max(round(top * ROW), 3 * ROW))


def _surest(lane: Lane, most: int) -> NDArray[np.intp]:
    """Places of the surest matches of a lane, from left to right."""
    return np.sort(np.argsort(-certainty(lane.matches), kind="stable")[:most])


def _rows(lane: Lane, places: NDArray[np.intp]) -> NDArray[np.intp]:
    """The first row of the lane in which each match has room; the last one has all others."""
    start, end = lane.matches.start[places], lane.matches.end[places]
    free, found = [0] * MOST_ROWS, np.zeros(len(places), np.intp)
    for place in np.argsort(start, kind="stable").tolist():
        row = next((row for row, edge in enumerate(free) if edge <= start[place]), MOST_ROWS - 1)
        found[place], free[row] = row, max(free[row], int(end[place]))
    return found


def _track(lane: Lane, top: float, height: float, factor: float) -> dict[str, Any]:
    return {
        "type": "rect", "x0": 0, "x1": lane.letters * factor, "y0": top, "y1": top + height, "fillcolor": LINE,
        "opacity": 0.5, "line": {"width": 0}, "layer": "below",
    }  # fmt: skip


def _lane(
    panel: Panel, lane: Lane, places: NDArray[np.intp], y: NDArray[np.floating[Any]], factor: float
) -> list[dict[str, Any]]:
    """The matches of a lane: bars, and triangles where they end on their strands."""
    matches, doubtful = lane.matches.take(places), lane.may_be_chance[places]
    sure, expected = certainty(matches), lane.chance[places]
    sample = f"{label(lane.name)}, {lane.letters:,} bp"
    about = [
        [
            label(panel.names[signature]), STRANDS[strand], start, end, _score(score), mismatches, f"{sure:.3f}",
            _power(chance), sample,
        ]
        for signature, strand, start, end, score, mismatches, sure, chance in zip(
            *(column.tolist() for column in (
                matches.signature, matches.strand, matches.start, matches.end, matches.score, matches.mismatches, sure,
                expected,
            )), strict=True,
        )
    ]  # fmt: skip
    hover = "<b>%{customdata[0]}</b> on %{customdata[1]}<br>%{customdata[2]:,} to %{customdata[3]:,}<br>"
    hover += "%{customdata[5]} " + ("edits" if lane.edits else "mismatches") + ", quality %{customdata[4]}<br>"
    hover += "certainty %{customdata[6]}, expected by chance %{customdata[7]}<br>in %{customdata[8]}<extra></extra>"
    bars = []
    for some, marker in (
        (~doubtful, {"color": sure[~doubtful], "coloraxis": "coloraxis", "line": {"width": 0.5, "color": WHITE}}),
        (doubtful, {"color": WHITE, "line": {"width": 1.5, "color": ORANGE}}),
    ):
        if some.any():
            bars.append({
                "type": "bar", "orientation": "h", "base": matches.start[some] * factor,
                "x": (matches.end - matches.start)[some] * factor, "y": y[some], "width": 0.84, "marker": marker,
                "customdata": [one for one, there in zip(about, some.tolist(), strict=True) if there],
                "hovertemplate": hover,
            })  # fmt: skip
    forward = matches.strand == 0
    tips = {
        "type": "scatter", "mode": "markers", "x": np.where(forward, matches.end, matches.start) * factor, "y": y,
        "hoverinfo": "skip", "cliponaxis": False,
        "marker": {
            "symbol": np.where(forward, "triangle-right", "triangle-left").tolist(), "size": 8,
            "color": [ORANGE if one else BLUE for one in doubtful.tolist()],
        },
    }  # fmt: skip
    return [*bars, tips]


def _score(score: float) -> str:
    return "unknown" if score != score else f"{score:.1f}"


def _power(exponent: float) -> str:
    """A power of ten."""
    return f"{10.0**exponent:.3g}" if exponent > -3 else f"10<sup>{exponent:.1f}</sup>"


def _matches(chosen: ChosenSamples, lanes: list[Lane], more: str) -> Table:
    columns = [
        "Sample",
        "Signature",
        "Strand",
        "Start",
        "End",
        "Mismatches",
        "Quality",
        "Certainty",
        "By chance (log10)",
    ]
    if lanes[0].edits:
        columns[5] = "Edits"
    rows = []
    for lane in lanes:
        matches = lane.matches
        values = (
            matches.signature, matches.strand, matches.start, matches.end, matches.mismatches, matches.score,
            certainty(matches), lane.chance,
        )  # fmt: skip
        for signature, strand, *others, chance in zip(*(column.tolist() for column in values), strict=True):
            name = chosen.panel.names[signature]
            rows.append((lane.name, name, STRANDS[strand], *others, chance))
    rows.sort(key=lambda row: -row[7])
    note = (
        "The surest matches; start and end are counted from 0, half open. By chance: matches as good as this one that "
    )
    note += "a random sample of this length is expected to have."
    return Table("Matches", columns, rows, note, more, max(chosen.totals.rows, len(rows)))


def _signatures(totals: ScanTotals) -> Table:
    rows = totals.most_frequent(LISTED_SIGNATURES)
    return Table("Signatures", ["Signature", "Matches"], rows, "Signatures with most matches.", total=totals.signatures)
