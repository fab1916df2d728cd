"""Pages for browsers: omega along alignments, and linkage disequilibrium around a peak."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.figures import BLUE, EN_DASH, GREY, INK, ORANGE, SKY, number_text, position_unit
from oclgenomics.app.pages import (
    Chart,
    Page,
    Table,
    across,
    chromosome_axis,
    colour_bar,
    count_range,
    height_axis,
    height_views,
    label,
    note_at,
    shading,
    window_band,
)
from oclgenomics.app.tracks import end_to_end
from oclgenomics.omega.ld.map import PART_COLUMNS, LdMap, part_records
from oclgenomics.omega.ld.region import GridPoint, LdRegion
from oclgenomics.omega.plots.scans import (
    FEW_REPLICATES,
    Layout,
    headline,
    is_wide,
    layout_of,
    omega_quantiles,
    range_text,
    window_text,
)
from oclgenomics.omega.result import Scan
from oclgenomics.omega.significance.peaks import best_positions, top_threshold

DRAWN = 20_000  # grid positions
DRAWN_MAXIMA = 5_000  # of replicates
SHADED = 3  # windows
LISTED_WINDOWS, LOOKED_AT = 200, 5_000  # of the grid positions with the largest omegas
NAMED_PART = 0.06  # of the sides of the map, which the name of a part needs
PIXELS = 400  # of a side of the map of linkage disequilibrium


def scans_page(
    scans: Sequence[Scan],
    *,
    title: str,
    layout: Layout = "auto",
    thresholds: Sequence[tuple[float, str]] = (),
    more: str = "",
) -> Page:
    """Return the page of scans; what it shows, and the parameters, are those of `plot_scans`.

    Parameters
    ----------
    more : str
        Where the windows are that the table leaves out.
    """
    shown = [scan for scan in scans if scan.best is not None]
    sites = sum(scan.sites for scan in scans)
    facts = {"Alignments": f"{len(scans):,}", "Sites": f"{sites:,}"}
    facts["Grid positions"] = f"{sum(len(scan.positions) for scan in scans):,}"
    if not shown:
        why = "no window with enough sites" if scans else "no alignment"
        return Page(f"No omega: {why}", title, [], facts)
    best = max(shown, key=_largest)
    facts["Haplotypes"] = count_range([scan.haplotypes for scan in scans])
    facts = {"Largest ω": number_text(_largest(best)), "Its window": _window_fact(best)} | facts
    replicates = len(scans) > 1 and layout_of(scans, layout) == "replicates"
    words = headline(best, named=len(scans) > 1)
    if replicates:
        middle = number_text(float(np.median([*map(_largest, shown)])))
        words = f"Largest ω of {len(shown):,} replicates: {middle} (median)"
    chart = _replicates(shown) if replicates else _chromosomes(shown)
    chart = _with_thresholds(chart, thresholds)
    return Page(words, title, [chart, _windows(shown, more)], facts)


def _largest(scan: Scan) -> float:
    return 0.0 if scan.best is None else float(scan.omega[scan.best])


def _window_fact(scan: Scan) -> str:
    assert scan.best is not None
    sites = "" if scan.window_sites is None else f"\n{scan.window_sites[scan.best]:,} sites"
    return f"{window_text(scan, scan.best)}{sites}"


# Omega along positions


def _chromosomes(scans: Sequence[Scan]) -> Chart:
    """Omega along chromosomes, end to end."""
    shifts = end_to_end([scan.positions for scan in scans])[0].tolist()
    scale, unit = position_unit(np.concatenate([scan.positions for scan in scans]))
    every = max(1, -(-sum(len(scan.positions) for scan in scans) // DRAWN))
    traces, shapes = [], []
    for number, (scan, shift) in enumerate(zip(scans, shifts, strict=True)):
        traces += _lines(scan, shift, scale, (BLUE, SKY)[number % 2], every)
    for rank, (owner, index) in enumerate(_best(scans, SHADED)):
        scan, shift = scans[owner], shifts[owner]
        x0, x1 = ((float(border[index]) + shift) / scale for border in (scan.left, scan.right))
        colour = GREY if rank else ORANGE
        shapes.append(window_band(x0, x1, colour, 0.12 if rank else 0.25))
        traces.append(_peak(scan, index, shift, scale, colour))
    axis: dict[str, Any] = {"title": {"text": f"Position ({unit})"}}
    if len(scans) > 1:
        axis = chromosome_axis(
            [(scan.name, scan.positions + shift) for scan, shift in zip(scans, shifts, strict=True)], scale
        )
    text = "The largest omega of all windows at each grid position; gaps have no window with enough sites."
    if every > 1:
        text += f" Of each {every:,} neighbouring positions the one with the largest omega is drawn."
    text += " The windows with the largest omegas are shaded."
    drawn = np.concatenate([scan.omega[scan.valid] for scan in scans])
    return Chart("Omega along positions", text, traces, {**_omega_axis(drawn), "xaxis": axis, "shapes": shapes}, 460)


def _lines(scan: Scan, shift: float, scale: float, colour: str, every: int) -> list[dict[str, Any]]:
    """Omega as a line, and dots where a position stands alone."""
    places = _highest(scan, every)
    valid = scan.valid[places]
    x = (scan.positions[places] + shift) / scale
    sites = np.full(len(places), np.nan) if scan.window_sites is None else scan.window_sites[places]
    about = np.stack([scan.positions[places], scan.left[places], scan.right[places], sites], axis=1)
    hover = "%{fullData.name}: %{customdata[0]:,.0f} bp<br>ω %{y:,.5~r}<br>window "
    hover += f"%{{customdata[1]:,.0f}}{EN_DASH}%{{customdata[2]:,.0f}}, %{{customdata[3]:,}} sites<extra></extra>"
    shared = {"type": "scatter", "name": label(scan.name), "hovertemplate": hover}
    line = {
        **shared, "mode": "lines", "x": x, "y": np.where(valid, scan.omega[places], np.nan).astype(np.float64),
        "customdata": about, "line": {"color": colour, "width": 1.5},
    }  # fmt: skip
    around = np.concatenate([[False], valid, [False]])
    alone = valid & ~around[:-2] & ~around[2:]
    dots = {
        **shared, "mode": "markers", "x": x[alone], "y": scan.omega[places][alone].astype(np.float64),
        "customdata": about[alone], "marker": {"color": colour, "size": 4},
    }  # fmt: skip
    return [line, dots] if alone.any() else [line]


def _highest(scan: Scan, every: int) -> NDArray[np.intp]:
    """The place with the largest omega of so many neighbours each."""
    omega = np.where(scan.valid, scan.omega, -1.0)
    starts = np.arange(0, len(omega), every)
    if every == 1:
        return starts
    padded = np.append(omega, np.full(-len(omega) % every, -2.0)).reshape(-1, every)
    return np.asarray(starts + padded.argmax(axis=1))


def _peak(scan: Scan, index: int, shift: float, scale: float, colour: str) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers", "x": [(float(scan.positions[index]) + shift) / scale],
        "y": [float(scan.omega[index])], "marker": {"color": colour, "size": 9}, "hoverinfo": "skip",
        "cliponaxis": False,
    }  # fmt: skip


def _omega_axis(omega: NDArray[np.float64]) -> dict[str, Any]:
    """The axis of omega, with buttons for both of its kinds."""
    positive = omega[np.isfinite(omega) & (omega > 0)]
    top, low = (float(positive.max()), float(positive.min())) if len(positive) else (1.0, 1.0)
    return height_axis(height_views(max(low, 1e-3), top), "logarithmic" if is_wide(omega) else "linear", "Omega (ω)")


def _replicates(scans: Sequence[Scan]) -> Chart:
    """The largest omega of each replicate, and the median and middle 90 % of all."""
    scale, unit = position_unit(np.concatenate([scan.positions[[0, -1]] for scan in scans]))
    traces: list[dict[str, Any]] = []
    if len(scans) < FEW_REPLICATES:
        for number, scan in enumerate(scans):
            traces += _lines(scan, 0.0, scale, (BLUE, SKY)[number % 2], 1)
        text = "Omega of each replicate, and its largest one."
    else:
        at, low, middle, high = omega_quantiles(scans)
        band = {"type": "scatter", "mode": "lines", "x": at / scale, "hoverinfo": "skip", "line": {"width": 0}}
        each = "%{x:,.6~r} " + unit + ": median ω %{y:,.4~r}<extra></extra>"
        traces = [
            {**band, "y": low, "showlegend": False},
            {**band, "y": high, "fill": "tonexty", "fillcolor": "rgba(86,180,233,0.35)", "name": "middle 90 %"},
            {**band, "y": middle, "name": "median", "hoverinfo": None, "hovertemplate": each,
             "line": {"color": BLUE, "width": 2}},
        ]  # fmt: skip
        text = "Median and middle 90 % of omega over the replicates, and the largest omega of each."
    step = -(-len(scans) // DRAWN_MAXIMA)
    if step > 1:
        text += f" One in {step:,} replicates has its largest omega drawn."
    some = [(scan, scan.best) for scan in scans[::step] if scan.best is not None]
    y = np.array([scan.omega[index] for scan, index in some], np.float64)
    traces.append({
        "type": "scatter", "mode": "markers", "name": "largest of each", "y": y,
        "x": np.array([scan.positions[index] for scan, index in some]) / scale,
        "text": [label(scan.name) for scan, _ in some], "marker": {"color": ORANGE, "size": 7},
        "hovertemplate": "replicate %{text}: ω %{y:,.5~r}<extra></extra>", "cliponaxis": False,
    })  # fmt: skip
    layout = {**_omega_axis(y), "xaxis": {"title": {"text": f"Position ({unit})"}}, "showlegend": len(scans) > 4}
    return Chart("Omega along positions", text, traces, layout, 460)


def _with_thresholds(chart: Chart, thresholds: Sequence[tuple[float, str]]) -> Chart:
    """The same with lines across."""
    if not thresholds:
        return chart
    shapes, lines = list(chart.layout.get("shapes", [])), []
    for number, (omega, name) in enumerate(sorted(thresholds, reverse=True)):
        shapes.append(across(omega, number))
        text = f"ω {number_text(omega)}, {name}"
        lines.append(
            {"type": "scatter", "mode": "lines", "x": [None], "y": [None], "name": text, "line": shapes[-1]["line"]}
        )
    quiet = [{**trace, "showlegend": trace.get("showlegend", chart.layout.get("showlegend", False))}
             for trace in chart.traces]  # fmt: skip
    return replace(chart, traces=[*quiet, *lines], layout={**chart.layout, "shapes": shapes, "showlegend": True})


def _best(scans: Sequence[Scan], count: int) -> list[tuple[int, int]]:
    """Scan and grid position of the largest omegas whose windows do not overlap, best first."""
    least = top_threshold(scans, LOOKED_AT)
    known = [replace(scan, omega=np.where(scan.valid & (scan.omega >= least), scan.omega, 0.0)) for scan in scans]
    return best_positions(known, count)


def _windows(scans: Sequence[Scan], more: str) -> Table:
    columns = ["Alignment", "Position (bp)", "Omega", "Window from (bp)", "to (bp)", "Width (bp)", "Sites"]
    rows = []
    for owner, index in _best(scans, LISTED_WINDOWS):
        scan, left, right = scans[owner], int(scans[owner].left[index]), int(scans[owner].right[index])
        sites = None if scan.window_sites is None else int(scan.window_sites[index])
        omega = float(f"{scan.omega[index]:.{scan.digits}g}")
        rows.append((scan.name, round(float(scan.positions[index])), omega, left, right, right - left, sites))
    what = f"The largest omegas whose windows do not overlap, {LISTED_WINDOWS} at most"
    return Table("Windows", columns, rows, f"{what}; all grid positions are {more or 'in the report'}.")


# Linkage disequilibrium


def ld_page(found: LdMap, *, title: str, label: str = "") -> Page:
    """Return the page of linkage disequilibrium between the sites of a region.

    Parameters
    ----------
    found : LdMap
    title : str
        What was scanned.
    label : str
        Name of the chromosome or replicate.
    """
    region, point = found.region, found.region.point
    scale, unit = position_unit(np.array([region.end], np.float64))
    where = range_text(float(region.start), float(region.end), scale, unit)
    facts = {"Sites shown": f"{region.alignment.sites:,}", "Region": where}
    words = "Linkage disequilibrium"
    if point is not None:
        words = f"ω {number_text(point.omega)} at {point.position:,.0f} bp"
        window = range_text(float(point.window[0]), float(point.window[1]), scale, unit)
        facts = {"ω": number_text(point.omega), "Window": window} | facts
    for part in region.parts and found.parts[:3]:
        name = {"left": "left of ω (LS)", "right": "right of ω (RS)", "across": "across (X)"}[part.name]
        facts[f"r² {name}"] = f"{part.mean:.3g}" if part.defined else "no pairs"
    rows = [tuple(record[name] for name in PART_COLUMNS) for record in part_records(region, found.parts)]
    table = Table("Means of r²", ["Chromosome", "Part", "From (bp)", "To (bp)", "Sites", "Pairs", "Mean r²"], rows)
    track = [] if point is None else [_track(region, point, scale, unit)]
    words = f"{words}, {label}" if label else words
    return Page(words, f"{title}: {where}", [*track, _map(found), table], facts)


def _track(region: LdRegion, point: GridPoint, scale: float, unit: str) -> Chart:
    track = point.track
    inside = np.flatnonzero((track.positions >= region.start) & (track.positions <= region.end))
    drawn = slice(max(int(inside[0]) - 1, 0), int(inside[-1]) + 2)
    y = np.where(track.omega > 0, track.omega, np.nan)[drawn].astype(np.float64)
    left, right = (border / scale for border in point.window)
    trace = {
        "type": "scatter", "mode": "lines+markers", "x": track.positions[drawn] / scale, "y": y,
        "customdata": track.positions[drawn], "line": {"color": BLUE, "width": 1.5}, "marker": {"size": 4},
        "hovertemplate": "%{customdata:,.0f} bp<br>ω %{y:,.5~r}<extra></extra>",
    }  # fmt: skip
    peak = {
        "type": "scatter", "mode": "markers", "x": [point.position / scale], "y": [point.omega], "hoverinfo": "skip",
        "marker": {"color": ORANGE, "size": 9}, "cliponaxis": False,
    }  # fmt: skip
    axis = {"title": {"text": f"Position ({unit})"}, "range": [region.start / scale, region.end / scale]}
    layout = {**_omega_axis(y), "xaxis": axis, "shapes": [window_band(left, right, ORANGE, 0.2)]}
    return Chart("Omega", "Omega along the region; the window is shaded.", [trace, peak], layout, 340)


def _map(found: LdMap) -> Chart:
    region, picture = found.region, found.picture
    means, starts = _coarser(picture.means(), picture.starts)
    bins, sites = len(means), region.alignment.sites
    both = np.fmax(means, means.T).astype(np.float32)
    names = _site_names(region.positions, starts)
    averaged = bins < sites
    each = -(-sites // bins)
    value = "mean r² %{z:.3f}" if averaged else "r² %{z:.3f}"
    trace = {
        "type": "heatmap", "x": names, "y": names, "z": both, "zmin": 0, "zmax": 1,
        "colorscale": shading(2 if averaged else 1), "hoverongaps": False,
        "hovertemplate": f"%{{x}} bp<br>%{{y}} bp<br>{value}<extra></extra>",
        "colorbar": colour_bar("r²"),
    }  # fmt: skip
    text = "r² of each pair of sites, which lie in their order."
    if averaged:
        text = f"Mean r² of the pairs of up to {each} by {each} sites, which lie in their order."
    shapes, notes = [], []
    if region.parts:
        text += " Outlined: the pairs left of ω (LS), right of it (RS) and across (X)."
    for part, short in zip(region.parts, ("LS", "RS", "X"), strict=False):
        colour = INK if short == "X" else ORANGE
        x0, x1, y0, y1 = (
            float(np.interp(end, starts, np.arange(bins + 1))) - 0.5
            for end in (part.columns[0], part.columns[1] + 1, part.rows[0], part.rows[1] + 1)
        )
        shapes.append({"type": "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": {"color": colour, "width": 2}})
        if min(x1 - x0, y1 - y0) < NAMED_PART * bins:
            continue
        notes.append(note_at((x0 + x1) / 2, (y0 + y1) / 2, f"<b>{short}</b>", colour, yref="y", bgcolor="#FFFFFF"))
    axis: dict[str, Any] = {"type": "category", "showgrid": False, "constrain": "domain", "tickangle": 0}
    across = {**axis, "title": {"text": "Position of a site (bp)"}}
    layout = {
        "xaxis": {**across, "nticks": 6}, "yaxis": {**axis, "nticks": 8, "autorange": "reversed", "scaleanchor": "x"},
        "shapes": shapes, "annotations": notes, "widest": 820,
        "narrow": {"height": 420, "xaxis": {**across, "nticks": 2}},
    }  # fmt: skip
    return Chart("Linkage disequilibrium", text, [trace], layout, 720)


def _coarser(means: NDArray[np.float64], starts: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The same with `PIXELS` bins at most."""
    step = -(-len(means) // PIXELS)
    if step == 1:
        return means, starts
    at = np.arange(0, len(means), step)
    known, values = ~np.isnan(means), np.nan_to_num(means)
    both = values, known.astype(np.int64)
    sums, counts = (np.add.reduceat(np.add.reduceat(one, at, axis=0), at, axis=1) for one in both)
    coarse = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return coarse, np.append(starts[at], starts[-1])


def _site_names(positions: NDArray[np.int64], starts: NDArray[np.int64]) -> list[str]:
    """The position of the first site of each bin; equal ones are numbered, as names of an axis are all different."""
    seen: Counter[int] = Counter()
    names = []
    for position in positions[starts[:-1]].tolist():
        seen[position] += 1
        names.append(f"{position:,}" + (f" ({seen[position]})" if seen[position] > 1 else ""))
    return names
