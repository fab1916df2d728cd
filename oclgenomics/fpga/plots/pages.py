"""The page of a projection for browsers: where the time goes on each design, and tables of designs and phases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hls_model.phases import Phase, added, total
from hls_model.ranges import Range
from hls_model.text import range_text
from hls_model.timing.result import PHASES
from oclgenomics.app.figures import BLUE, INK
from oclgenomics.app.pages import Chart, Page, Table, label
from oclgenomics.fpga.measuring import Measured
from oclgenomics.fpga.plots.scans import Scans, cycle_seconds, phase_colour, phase_label
from oclgenomics.fpga.plots.shared import PHASE_COLOURS

WIDE, THIN = 0.34, 0.09  # heights of bars, of the space between designs
VISIBLE = 4e-3  # of the time, for a place in the legend


def projection_page(
    designs: Mapping[str, Scans], measured: Measured | None = None, *, title: str, uncertain: bool = False
) -> Page:
    """Return the page of scans that were projected onto designs.

    Parameters
    ----------
    designs : mapping of str to sequence of Projection
        The scans of each design, by its name.
    measured : Measured, optional
        What the scans took on this machine.
    title : str
        What was projected.
    uncertain : bool
        Whether the projections have ranges.
    """
    phases = {name: added(one.phases for one in scans) for name, scans in designs.items()}
    seconds = {name: total(some) for name, some in phases.items()}
    fastest = min(seconds, key=lambda name: seconds[name].likely)
    first = next(iter(designs.values()))
    facts = {"Fastest design": f"{fastest}\n{range_text(seconds[fastest])}", "Alignments": f"{len(first):,}"}
    facts["Grid positions"] = f"{sum(len(one.timing.workload.left) for one in first):,}"
    facts["Omegas"] = f"{sum(one.timing.workload.omegas for one in first):,}"
    if measured is not None:
        facts["Measured here"] = f"{range_text(Range.exactly(measured.total))}\n{measured.device}"
    parts = [_timeline(phases, seconds), _pipelines(designs), _designs(designs, seconds), _phases(phases, seconds)]
    headline = f"{fastest}: the whole scan in {range_text(seconds[fastest])}"
    notes = ["Ranges are over what no published number fixes; the likely time is the first one."] if uncertain else []
    return Page(headline, title, [part for part in parts if part is not None], facts, notes)


def _bar(name: str, colour: str) -> dict[str, Any]:
    return {
        "type": "bar", "orientation": "h", "name": name, "legendgroup": name, "marker": {"color": colour}, "base": [],
        "x": [], "y": [], "width": [], "customdata": [],
        "hovertemplate": "<b>%{customdata[0]}</b>, %{customdata[1]}<br>%{customdata[2]}, %{customdata[3]} of the "
        "likely time<extra></extra>",
    }  # fmt: skip


def _timeline(phases: dict[str, tuple[Phase, ...]], seconds: dict[str, Range]) -> Chart:
    """The phases of each design one after the other, and thin bars of what runs at the same time."""
    names, bars = list(phases), dict[str, dict[str, Any]]()
    for place, (design, some) in enumerate(phases.items()):
        start, whole = 0.0, seconds[design].likely or 1.0
        known = {phase.name for phase in some}
        for phase in (one for one in some if one.beside not in known):
            beside = sorted((one for one in some if one.beside == phase.name), key=lambda one: -one.seconds.likely)
            for row, one in enumerate((phase, *beside)):
                share = one.seconds.likely / whole
                bar = bars.setdefault(phase_label(one), _bar(phase_label(one), phase_colour(one)))
                about = [one.name, one.where, range_text(one.seconds), f"{100 * share:.1f} %"]
                height, middle = (WIDE, place) if row == 0 else (THIN, place + WIDE / 2 + 0.1 * row)
                for key, value in (
                    ("base", start),
                    ("x", one.seconds.likely),
                    ("y", middle),
                    ("width", height),
                    ("customdata", about),
                ):
                    bar[key].append(value)
            start += max(one.seconds.likely for one in (phase, *beside))
    for bar in bars.values():
        bar["showlegend"] = max(bar["x"]) > VISIBLE * max(one.likely for one in seconds.values())
    bounds = {
        "type": "scatter", "mode": "markers", "name": "bounds of the total",
        "y": [place - 0.27 for place in range(len(names))],
        "x": [one.likely for one in seconds.values()], "marker": {"color": INK, "size": 6},
        "error_x": {
            "type": "data", "symmetric": False, "array": [one.high - one.likely for one in seconds.values()],
            "arrayminus": [one.likely - one.low for one in seconds.values()], "color": INK,
            "thickness": 1.4, "width": 4,
        },
        "customdata": [[range_text(one)] for one in seconds.values()],
        "hovertemplate": "total %{customdata[0]}<extra></extra>",
    }  # fmt: skip
    layout = {**_layout(names), "xaxis": {"title": {"text": "Seconds"}, "showgrid": True, "rangemode": "tozero"}}
    text = "Phases in turn; thin bars run at the same time as the phase above them. Points: the total and its bounds. "
    text += "* rests on hardware that nobody has built."
    return Chart("Where the time goes", text, [*bars.values(), bounds], layout, 210 + 90 * len(names))


def _layout(names: list[str]) -> dict[str, Any]:
    return {
        "yaxis": {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": [label(name) for name in names],
                  "range": [len(names) - 0.4, -0.5], "ticks": "", "showgrid": False},
        "barmode": "overlay", "showlegend": True,
    }  # fmt: skip


def _pipelines(designs: Mapping[str, Scans]) -> Chart | None:
    """The time of the omega pipelines by what they do in it."""
    times = {name: cycle_seconds(scans) for name, scans in designs.items()}
    if not any(sum(time.values()) for time in times.values()):
        return None
    traces = []
    for phase in PHASES:
        values = [time[phase] for time in times.values()]
        wholes = [sum(time.values()) or 1.0 for time in times.values()]
        if max(value / whole for value, whole in zip(values, wholes, strict=True)) <= VISIBLE:
            continue
        traces.append({
            "type": "bar", "orientation": "h", "name": phase, "y": list(range(len(times))), "width": 0.4,
            "x": [value / whole for value, whole in zip(values, wholes, strict=True)],
            "marker": {"color": PHASE_COLOURS.get(phase, BLUE)},
            "customdata": [[range_text(Range.exactly(value))] for value in values],
            "hovertemplate": f"{phase}: %{{customdata[0]}}, %{{x:.1%}}<extra></extra>",
        })  # fmt: skip
    layout = {**_layout(list(times)), "barmode": "stack"}
    layout["xaxis"] = {"title": {"text": "Share of the pipelines' time"}, "range": [0, 1], "tickformat": ".0%"}
    text = "What the omega pipelines do, as shares of their time."
    return Chart("Omega pipelines", text, traces, layout, 190 + 50 * len(times))


def _designs(designs: Mapping[str, Scans], seconds: dict[str, Range]) -> Table:
    rows = []
    for name, scans in designs.items():
        one, time = scans[0].timing.config, seconds[name]
        omegas = sum(scan.timing.workload.omegas for scan in scans)
        rows.append((name, one.clock_mhz, time.likely, time.low, time.high, _rate(omegas, time)))
    columns = ["Design", "Clock (MHz)", "Seconds, likely", "low", "high", "M omega/s"]
    return Table("Designs", columns, rows, "The whole scan, and all its omegas over that time.")


def _rate(omegas: int, time: Range) -> float | None:
    return omegas / time.likely / 1e6 if time.likely else None


def _phases(phases: dict[str, tuple[Phase, ...]], seconds: dict[str, Range]) -> Table:
    rows = [
        (
            design, phase_label(phase), phase.where, phase.seconds.likely, phase.seconds.low, phase.seconds.high,
            100 * phase.seconds.likely / seconds[design].likely if seconds[design].likely else None,
            phase.bytes or None, phase.operations or None,
        )
        for design, some in phases.items() for phase in some
    ]  # fmt: skip
    columns = ["Design", "Phase", "Where", "Seconds, likely", "low", "high", "% of total", "Bytes moved", "Operations"]
    return Table("Phases", columns, rows)
