"""The page of scans for browsers: a panel for each statistic above one axis of positions, and tables of windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.figures import (
    ALPHA,
    BLUE,
    EN_DASH,
    GREEN,
    INK,
    ORANGE,
    SKY,
    distance_text,
    position_unit,
    short_text,
)
from oclgenomics.app.pages import (
    LONGEST_NAME,
    Chart,
    Page,
    Table,
    across,
    chromosome_axis,
    count_range,
    label,
    note_at,
    pale,
    window_band,
)
from oclgenomics.app.tracks import Track, end_to_end, quantiles_along
from oclgenomics.sweeps.options import LOW
from oclgenomics.sweeps.plots.refined import (
    fine_line,
    fine_stretches,
    has_fine_rows,
    limit_of,
    refined_place,
    step_of,
)
from oclgenomics.sweeps.plots.scans import (
    SHORT,
    are_replicates,
    around,
    compared_in,
    drawn_rows,
    extremes_of,
    headline,
    labelled_peaks,
    most_extreme,
    panel_range,
    place_text,
    shown_of,
    value_text,
)
from oclgenomics.sweeps.result import LABELS, SCALES, Scan
from oclgenomics.sweeps.significance.thresholds import Significance, SweepThreshold, sign_of

COLUMNS = 2_000  # of a panel, of all its chromosomes together, with two points each at most
SUMMARISED, DRAWN_EXTREMES = 500, 1_000  # positions of quantiles; extremes of replicates
FEW_REPLICATES, FEW_ROWS = 5, 500  # fewer are drawn one by one, and with larger points
LISTED_WINDOWS, AT_ONCE = 200, 4_096  # of each statistic; rows looked at in one step
PANEL, LONE_PANEL, MARGINS = 165, 380, 90  # pixels
APART, ROOM = 0.028, 40  # between panels, as a share of the figure; pixels for the label of the best one
NOTE, OFF_LINES = 16, 4  # pixels: height of what names the best row; between that and a threshold
LABEL, RATES, NARROW_RATES, TITLES = 15, 84, 56, 56  # pixels: height of a threshold's label; margins; axes' titles
UPRIGHT: dict[str, Any] = {
    "font": {"size": 13}, "xref": "paper", "textangle": -90, "xanchor": "center", "yanchor": "middle",
    "xshift": -TITLES,
}  # fmt: skip
REFINED = {"color": ORANGE, "size": 11, "symbol": "diamond-open", "line": {"width": 1.6}}
HARD = "\N{NO-BREAK SPACE}"
SIDE = 0.12  # of the axis, in which labels lie inward


def scans_page(scans: Sequence[Scan], *, title: str, null: Significance | None = None, more: str = "") -> Page:
    """Return the page of scans, which shows what `plot_scans` does and the windows that look most like a sweep.

    Parameters
    ----------
    scans : sequence of Scan
    title : str
        What was scanned.
    null : Significance, optional
        Its thresholds are lines, and the windows get its p-values.
    more : str
        Where the rows are that the tables leave out.
    """
    names, shown = shown_of(scans)
    sites = sum(scan.sites for scan in scans)
    count = sum(len(scan.positions) for scan in scans)
    rows = f"{count:,} row{'s' * (count != 1)}"
    if not shown:
        why = "no window with enough sites" if scans else "no alignment"
        facts = {"Alignments": f"{len(scans):,}", "Sites": f"{sites:,}"}
        return Page(f"No statistics: {why}", title, [], facts)
    kind = "replicates" if are_replicates(shown) else "chromosomes"
    several = f"{len(scans):,} {kind}, " if len(scans) > 1 else ""
    facts = {"Sites": f"{sites:,}\n{count_range([scan.haplotypes for scan in scans])} haplotypes, {several}{rows}"}
    if null is not None:
        facts["Neutral replicates"] = f"{len(null):,}"
    replicates = are_replicates(scans)
    limits = {name: _limit(name, null) for name in names}
    extremes = {name: extremes_of(name, shown) for name in names}
    found = dict(
        _fact(name, extremes[name], null, limits[name], replicates, len(scans) > 1) for name in names if extremes[name]
    )
    chart = _chart([name for name in names if extremes[name]], shown, null, replicates=replicates)
    tables = [_windows(name, names, shown, null, limits[name], more, replicates) for name in names if extremes[name]]
    words = headline(names, shown, () if null is None else null.thresholds, replicates=replicates)
    return Page(words, title, [chart, *tables], found | facts)


def _limit(name: str, null: Significance | None) -> float | None:
    return None if null is None else limit_of([one for one in null.thresholds if one.statistic == name])


def _kind(name: str) -> str:
    return "lowest" if name in LOW else "highest"


def _title(name: str) -> str:
    return LABELS[name].replace("Watterson's ", "")


def _fact(
    name: str, found: Sequence[tuple[float, Scan, int]], null: Significance | None, limit: float | None,
    replicates: bool, named: bool,
) -> tuple[str, str]:  # fmt: skip
    """The extreme of a statistic, where it is, and its p-value."""
    what = f"{_kind(name).capitalize()} {_title(name).replace('Combined', 'combined')}"
    if replicates:
        return what, f"{value_text(float(np.median([value for value, _, _ in found])))}\nmedian of replicates"
    value, scan, row = most_extreme(name, found)
    where = f"at {scan.positions[row]:,.0f}{HARD}bp"
    if named:
        where = f"{short_text(scan.name, LONGEST_NAME)} {where}"
    refined = refined_place(name, scan, row, limit)
    if refined is not None:
        where += f", refined to {refined[0]:,.0f}{HARD}bp"
    if null is not None and name in null.extremes:
        p = float(null.p_values(name, scan.values[name][row]))
        where += f", p{HARD}={HARD}{p:.2g}"
    return what, f"{value_text(value)}\n{where}"


# Statistics along positions


def _chart(names: Sequence[str], scans: Sequence[Scan], null: Significance | None, *, replicates: bool) -> Chart:
    """A panel for each statistic, all above one axis, so that they are zoomed together."""
    scale, unit = position_unit(np.concatenate([scan.positions[[0, -1]] for scan in scans]))
    shifts = [0.0] * len(scans) if replicates else end_to_end([scan.positions for scan in scans])[0].tolist()
    ends = np.array([scan.positions[[0, -1]] + shift for scan, shift in zip(scans, shifts, strict=True)]) / scale
    axis: dict[str, Any] = {"title": {"text": f"Position ({unit})"}}
    if len(scans) > 1 and not replicates:
        placed = [(scan.name, scan.positions + shift) for scan, shift in zip(scans, shifts, strict=True)]
        axis = chromosome_axis(placed, scale)
    first, last = around(scans, float(ends.min()) * scale, float(ends.max()) * scale)
    span = (first / scale, last / scale)
    axis |= {"anchor": f"y{len(names)}" if len(names) > 1 else "y", "range": list(span)}
    height = (1 - APART * (len(names) - 1)) / len(names)
    pixels = PANEL if len(names) > 1 else LONE_PANEL
    layout: dict[str, Any] = {"xaxis": axis, "shapes": [], "annotations": [], "showlegend": False}
    traces: list[dict[str, Any]] = []
    summarised = replicates and len(scans) >= FEW_REPLICATES
    for number, name in enumerate(names):
        y = "y" if number == 0 else f"y{number + 1}"
        panel = _Panel(name, y, scale, unit, span, ROOM / pixels / (2 if replicates else 1))
        if replicates:
            panel.replicates(scans, shifts, first=number == 0, summarised=summarised)
        else:
            panel.chromosomes(scans, shifts, null)
        panel.thresholds(null, pixels)
        top = 1 - number * (height + APART)
        traces += panel.traces
        layout[y.replace("y", "yaxis")] = {
            "title": {"text": ""}, "domain": [max(top - height, 0.0), top],
            "range": panel.range, "nticks": 5 if len(names) > 1 else 8,
        }  # fmt: skip
        layout["shapes"] += panel.shapes
        words = "<br>".join([_title(name), *map(label, compared_in(name, scans))])
        layout["annotations"] += [*panel.notes, note_at(0, max(top - height / 2, 0.0), words, **UPRIGHT)]
    layout["showlegend"] = summarised
    layout["margin"] = {"l": TITLES + 14, **({} if null is None else {"r": RATES})}
    layout["narrow"] = {"margin": {"l": TITLES + 14, "r": 16 if null is None else NARROW_RATES}}
    text = _description(names, scans, null, replicates=replicates, summarised=summarised)
    return Chart("Statistics along positions", text, traces, layout, MARGINS + pixels * len(names))


def _description(
    names: Sequence[str], scans: Sequence[Scan], null: Significance | None, *, replicates: bool, summarised: bool
) -> str:  # fmt: skip
    text = "The window that looks most like a sweep is marked."
    if replicates:
        text = "Replicates lie over each other; the extreme of each is orange."
    if summarised:
        text = "Median and middle 90 % of the replicates, and the extreme of each."
        step = -(-len(scans) // DRAWN_EXTREMES)
        text += f" One in {step:,} replicates has its extreme drawn." if step > 1 else ""
    elif sum(len(scan.positions) for scan in scans) > 2 * COLUMNS:
        text += f" The lowest and the highest row of each of {COLUMNS:,} stretches are drawn."
    refined = [scan for scan in scans if has_fine_rows(names[0], [scan])] if names and not replicates else []
    if refined:
        between = step_of(refined[0])
        every = "" if between is None else f", every {distance_text(between)}"
        text += f" Green: fine rows{every}, which place a peak (diamond) and are not tested."
    if null is not None:
        text += f" Dashed: thresholds; {ALPHA} is the share of {null.described} that go beyond them."
    return text


class _Panel:
    """What is drawn of a statistic: traces, shapes and notes of the axis `y`."""

    def __init__(
        self, name: str, y: str, scale: float, unit: str, span: tuple[float, float], room: float
    ) -> None:  # fmt: skip
        self._name, self._y, self._scale, self._unit, self._span, self._room = name, y, scale, unit, span, room
        self._factor = SCALES.get(name, 1.0)
        self._low, self._high = np.inf, -np.inf
        self.traces: list[dict[str, Any]] = []
        self.shapes: list[dict[str, Any]] = []
        self.notes: list[dict[str, Any]] = []

    @property
    def range(self) -> list[float]:
        """Ends of the axis, which reach all that is drawn."""
        return list(panel_range(self._name, self._low, self._high, self._room))

    @property
    def _hover(self) -> str:
        per = " per kb" if self._name in SCALES else ""
        return f"{SHORT[self._name]} %{{y:,.5~r}}{per}"

    def _trace(self, x: Any, y: NDArray[np.float64], **other: Any) -> None:
        if len(y):
            self._low, self._high = min(self._low, float(np.nanmin(y))), max(self._high, float(np.nanmax(y)))
        self.traces.append({"type": "scatter", "mode": "markers", "x": x, "y": y, "yaxis": self._y, **other})

    def replicates(self, scans: Sequence[Scan], shifts: Sequence[float], *, first: bool, summarised: bool) -> None:
        """Replicates over each other, or a summary of them, and the extreme of each."""
        if summarised:
            self.summary(scans, first=first)
        else:
            self.points(scans, shifts, faint=True)
        self.extremes(scans, first=first)

    def chromosomes(self, scans: Sequence[Scan], shifts: Sequence[float], null: Significance | None) -> None:
        """Rows end to end, and the best ones."""
        self.points(scans, shifts, faint=False)
        self.fine(scans, shifts)
        own = () if null is None else null.thresholds
        self.best(scans, shifts, [one for one in own if one.statistic == self._name])

    def points(self, scans: Sequence[Scan], shifts: Sequence[float], *, faint: bool) -> None:
        """A point for each row, or for the extremes of many."""
        spans = np.array([float(scan.positions[-1] - scan.positions[0]) for scan in scans])
        shares = np.maximum(spans / (spans.sum() or 1.0) * COLUMNS, 1.0).astype(np.int64)
        sizes = [len(scan.positions) for scan in scans]
        many = sum(sizes) > 2 * COLUMNS
        hover = f"%{{fullData.name}}: %{{customdata[0]:,.0f}} bp<br>{self._hover}<br>window %{{customdata[1]:,.0f}}"
        hover += f"{EN_DASH}%{{customdata[2]:,.0f}}, %{{customdata[3]:,}} sites<extra></extra>"
        for number, (scan, shift) in enumerate(zip(scans, shifts, strict=True)):
            values = scan.values[self._name] * self._factor
            rows = drawn_rows(scan.positions, values, int(shares[number]) if many else sizes[number])
            last = scan.end[rows] - scan.by_bp
            about = np.stack([scan.positions[rows], scan.start[rows], last, scan.window_sites[rows]], axis=1)
            marker = {
                "color": (BLUE, SKY)[number % 2],
                "size": 4 if sum(sizes) > FEW_ROWS else 6,
                "opacity": 0.6 if faint else 1.0,
            }
            x = (scan.positions[rows] + shift) / self._scale
            self._trace(x, values[rows], name=label(scan.name), customdata=about, marker=marker, hovertemplate=hover)

    def fine(self, scans: Sequence[Scan], shifts: Sequence[float]) -> None:
        """Fine rows: bands where there are any, and a line, or of many the extremes."""
        many = sum(0 if scan.fine is None else len(scan.fine.positions) for scan in scans) > 2 * COLUMNS
        hover = f"%{{fullData.name}}: %{{customdata:,.0f}} bp, fine row<br>{self._hover}<extra></extra>"
        for scan, shift in zip(scans, shifts, strict=True):
            if scan.fine is None or not has_fine_rows(self._name, [scan]):
                continue
            for rows in fine_stretches(scan):
                first, last = ((float(scan.fine.positions[row]) + shift) / self._scale for row in (rows[0], rows[-1]))
                self.shapes.append(window_band(first, last, GREEN, 0.12, f"{self._y} domain"))
            share = max(COLUMNS // len(scans), 1)
            shown = drawn_rows(scan.fine.positions, scan.fine.values[self._name], share) if many else None
            x, y = fine_line(self._name, scan, shown)
            self._trace(
                (x + shift) / self._scale, y, mode="lines+markers", name=label(scan.name), customdata=x,
                line={"color": GREEN, "width": 1}, marker={"color": GREEN, "size": 3}, hovertemplate=hover,
            )  # fmt: skip

    def best(self, scans: Sequence[Scan], shifts: Sequence[float], thresholds: Sequence[SweepThreshold]) -> None:
        """The row that is most like a sweep, with its window and what it is; the other peaks and refined places."""
        value, scan, row = most_extreme(self._name, extremes_of(self._name, scans))
        shift = shifts[list(map(id, scans)).index(id(scan))]
        left, x, right = (
            (float(one[row]) + shift) / self._scale for one in (scan.start, scan.positions, scan.end - scan.by_bp)
        )
        self.shapes.append(window_band(left, right, ORANGE, 0.18, f"{self._y} domain"))
        refined = refined_place(self._name, scan, row, limit_of(thresholds))
        where = label(place_text(scans, scan, row, refined, short=True))
        words = f"<b>{SHORT[self._name]} {value_text(value)}</b> {where}"
        first, *others = labelled_peaks(self._name, scans, shifts, thresholds)
        closer = [peak.refined for peak in (first, *others) if peak.refined is not None]
        marks: list[tuple[Sequence[tuple[float, float]], dict[str, Any]]] = [
            (closer, REFINED),
            ([(peak.place, peak.value) for peak in others], {"color": ORANGE, "size": 6}),
            ([(first.place, first.value)], {"color": ORANGE, "size": 9}),
        ]
        for points, marker in marks:
            if points:
                at, heights = np.array(points).T
                self._trace(at / self._scale, heights, marker=marker, hoverinfo="skip", cliponaxis=False)
        height = value
        if refined is not None:
            x, height = (refined[0] + shift) / self._scale, refined[1]
        low, high = self._span
        share = (x - low) / (high - low)
        anchor = "left" if share < SIDE else "right" if share > 1 - SIDE else "center"
        below = self._name in LOW
        self.notes.append(note_at(
            x, height, words, ORANGE, yref=self._y, xanchor=anchor, yanchor="top" if below else "bottom",
            yshift=-6 if below else 6,
        ))  # fmt: skip

    def summary(self, scans: Sequence[Scan], *, first: bool) -> None:
        """The median and the middle 90 % of replicates."""
        tracks = [
            Track(scan.name, scan.positions, scan.values[self._name] * self._factor)
            for scan in scans
            if scan.best(self._name) is not None
        ]
        at, low, middle, high = quantiles_along(tracks, SUMMARISED)
        x, band = at / self._scale, {"mode": "lines", "hoverinfo": "skip", "line": {"width": 0}}
        self._trace(x, low, **band, showlegend=False)
        self._trace(x, high, **band, fill="tonexty", fillcolor=pale(SKY, 0.35), name="middle 90 %", showlegend=first)
        self._trace(
            x, middle, mode="lines", name="median", showlegend=first, line={"color": BLUE, "width": 2},
            hovertemplate=f"%{{x:,.6~r}} {self._unit}: median {self._hover}<extra></extra>",
        )  # fmt: skip

    def extremes(self, scans: Sequence[Scan], *, first: bool) -> None:
        """The row of each replicate that is most like a sweep."""
        found = extremes_of(self._name, scans[:: -(-len(scans) // DRAWN_EXTREMES)])
        places = np.array([scan.positions[row] for _, scan, row in found])
        self._trace(
            places / self._scale, np.array([value for value, *_ in found]), name="extreme of each", showlegend=first,
            text=[label(scan.name) for _, scan, _ in found], customdata=places, cliponaxis=False,
            marker={"color": ORANGE, "size": 6},
            hovertemplate=f"replicate %{{text}}: {self._hover}<br>at %{{customdata:,.0f}} bp<extra></extra>",
        )  # fmt: skip

    def thresholds(self, null: Significance | None, pixels: int) -> None:
        """Lines across, with their rates in the right margin, one above the other where they are close."""
        every = () if null is None else null.thresholds
        own = [one for one in every if one.statistic == self._name]
        lines = sorted((one.value * self._factor, one.fpr) for one in own if np.isfinite(one.value))
        rates = sorted({one.fpr for one in every}, reverse=True)  # the same dashes in all panels
        if not lines:
            return
        self._low, self._high = min(self._low, lines[0][0]), max(self._high, lines[-1][0])
        low, high = self.range
        self._clear([(value - low) / (high - low) * pixels for value, _ in lines], low, high, pixels)
        free = -np.inf
        for value, fpr in lines:
            self.shapes.append(across(value, rates.index(fpr), self._y))
            height = (value - low) / (high - low) * pixels
            shift = max(0.0, free - height)
            free = height + shift + LABEL
            side = "below" if self._name in LOW else "above"
            words = f"{100 * fpr:g} % of neutral alignments have {SHORT[self._name]} {side} {value_text(value)}"
            self.notes.append(note_at(
                1, value, f"{ALPHA} = {100 * fpr:g} %", INK, xref="paper", yref=self._y, xanchor="left",
                yanchor="middle", xshift=3, yshift=shift, hovertext=words,
            ))  # fmt: skip

    def _clear(self, lines: Sequence[float], low: float, high: float, pixels: float) -> None:
        """Move what names the best row off the lines, whose heights in pixels ascend."""
        for note in (note for note in self.notes if note["yref"] == self._y):
            sign = -1 if self._name in LOW else 1
            base = (note["y"] - low) / (high - low) * pixels
            for line in lines[::sign]:
                if 0 < sign * (line - base) - abs(note["yshift"]) + OFF_LINES < NOTE + 2 * OFF_LINES:
                    note["yshift"] = sign * (sign * (line - base) + OFF_LINES)


# Windows


def _windows(
    name: str, names: Sequence[str], scans: Sequence[Scan], null: Significance | None, limit: float | None, more: str,
    replicates: bool,
) -> Table:  # fmt: skip
    """The rows that are most like a sweep, with their other statistics."""
    others = [name, *(one for one in names if one != name)]
    judged = null is not None and name in null.extremes
    heads = [_title(one) for one in others]
    heads[1:1] = ["p-value"] * judged
    refined = has_fine_rows(name, scans)
    places = ["Position (bp)", *["Fine position (bp)"] * refined]
    columns = ["Replicate" if replicates else "Chromosome", *places, *heads, "From (bp)", "To (bp)", "Sites"]
    rows = []
    for owner, row in best_rows(scans, name, LISTED_WINDOWS):
        scan = scans[owner]
        values: list[float] = [float(f"{scan.values[one][row] * SCALES.get(one, 1.0):.7g}") for one in others]
        window = (round(float(end)) for end in (scan.start[row], scan.end[row] - scan.by_bp))
        if null is not None and judged:
            values.insert(1, float(null.p_values(name, scan.values[name][row])))
        fine = refined_place(name, scan, row, limit)
        own = [round(float(scan.positions[row])), *[None if fine is None else round(fine[0])] * refined]
        rows.append((scan.name, *own, *values, *window, int(scan.window_sites[row])))
    note = f"Windows that do not overlap, {LISTED_WINDOWS} at most; all rows are {more or 'in the report'}."
    if judged:
        note += " A p-value is the probability of so extreme a value anywhere in a neutral replicate."
    if refined:
        note += " The fine position is that of the best fine row of the peak; it has no p-value of its own."
    return Table(f"Windows with the {_kind(name)} {SHORT[name]}", columns, rows, note)


def best_rows(scans: Sequence[Scan], name: str, count: int) -> list[tuple[int, int]]:
    """Return scan and row of the values most like a sweep whose windows do not overlap, best first."""
    first = np.cumsum([0, *(len(scan.positions) for scan in scans)])
    scores = np.concatenate([np.where(np.isnan(scan.values[name]), -np.inf, sign_of(name) * scan.values[name])
                             for scan in scans])  # fmt: skip
    order = np.argsort(-scores, kind="stable")
    free = scores > -np.inf
    chosen: list[tuple[int, int]] = []
    for number in _still(order, free):
        owner = int(np.searchsorted(first, number, side="right")) - 1
        scan, row = scans[owner], number - int(first[owner])
        chosen.append((owner, row))
        if len(chosen) == count:
            break
        last = scan.end - scan.by_bp
        free[first[owner] : first[owner + 1]] &= (scan.start > last[row]) | (last < scan.start[row])
    return chosen


def _still(order: NDArray[np.intp], free: NDArray[np.bool_]) -> Iterator[int]:
    """Items of an order that are free when their turn comes; what is chosen is no longer."""
    for begin in range(0, len(order), AT_ONCE):
        part = order[begin : begin + AT_ONCE]
        while len(part := part[free[part]]):
            yield int(part[0])
            free[part[0]] = False
