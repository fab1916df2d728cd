"""A grid position as a figure: how busy every stage is, and when each column runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from hls_model.extras.trace import Column, Stage, Trace, shares_of
from oclgenomics.app.figures import BLUE, GREEN, GREY, INK, SKY
from oclgenomics.fpga.plots.shared import PALE, PHASE_COLOURS, PURPLE, new_figure, thousands

SHARPEST = 2_400  # cycles that can be drawn one by one
LEAST, MOST = 16, 400  # cycles that are drawn together where there are more, and stretches of so many
MAX_COLUMNS = 8
BAND = 0.78  # of a row's height
LOWEST = 0.05  # of a row's height, so that anything but idle shows
STAGE_COLOURS = {
    "requests": SKY,
    "bus": SKY,
    "FIFO": SKY,
    "RS buffer": PURPLE,
    "issue": BLUE,
    "lanes": BLUE,
    "merge": GREEN,
}
PHASE_NAMES = {
    "prefetch": "RS prefetch",
    "fill": "fill: first request to first beat",
    "stream": "stream: a beat every II cycles",
    "stall": "stall: waiting for data",
    "drain": "drain, and turn to the next column",
    "merge": "merge of the lanes' maxima",
}


def plot_trace(trace: Trace) -> Figure:
    """Draw a position: stages over cycles above, columns over cycles below.

    Only the first columns are drawn where there are many.

    Raises
    ------
    ModelError
        Matplotlib is not installed.
    """
    columns, recording = trace.columns(), trace.recording
    shown = columns[:MAX_COLUMNS]
    stop = recording.cycles if len(shown) == len(columns) else max(column.stop for column in shown)
    stages = [Stage(stage.name, stage.full, stage.busy[:stop]) for stage in trace.stages()]
    heights = [len(stages), 1.2 * (len(shown) + 2)]
    size = (11, 2.2 + 0.42 * sum(heights))
    figure, (above, below) = new_figure(2, size=size, sharex=True, gridspec_kw={"height_ratios": heights})
    below.set_xlim(0, stop)
    _draw_stages(above, stages)
    _draw_columns(below, trace, shown, stop)
    if len(shown) < len(columns):
        below.set_title(f"When each column runs: the first {len(shown)} of {len(columns):,}", fontsize=11, loc="left")
    _label_time(above, below, recording.config.clock_mhz)
    drawn = [
        name for name, cycles in recording.phases.items() if cycles and (name != "merge" or stop == recording.cycles)
    ]
    _legend(figure, [(PHASE_COLOURS[name], PHASE_NAMES[name]) for name in drawn])
    rate = f"{trace.rate / 1e6:,.0f} of {recording.config.ideal_rate / 1e6:,.0f} M\N{NO-BREAK SPACE}ω/s"
    figure.suptitle(f"{trace.title}\n{recording.cycles:,} cycles in all, {rate}", fontsize=13, fontweight="bold")
    return figure


def _label_time(above: Axes, below: Axes, clock_mhz: float) -> None:
    below.set_xlabel("cycle")
    below.xaxis.set_major_formatter(thousands)
    to_micro: Any = (lambda cycle: cycle / clock_mhz, lambda time: time * clock_mhz)
    micro = above.secondary_xaxis("top", functions=to_micro)
    micro.set_xlabel("time (µs)", color=INK)
    micro.spines["top"].set_edgecolor(GREY)
    micro.tick_params(color=GREY, labelcolor=INK)


def _legend(figure: Figure, phases: Sequence[tuple[str, str]]) -> None:
    handles = [Patch(color=colour, label=label) for colour, label in phases]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)


def _draw_stages(axes: Axes, stages: Sequence[Stage]) -> None:
    for base, stage in enumerate(reversed(stages)):
        axes.axhline(base, color=PALE, linewidth=0.8)
        _area(axes, base, stage.busy, 0, STAGE_COLOURS[stage.name])
    names = [f"{stage.name} ({stage.full})" for stage in reversed(stages)]
    axes.set_yticks([base + BAND / 2 for base in range(len(stages))], names)
    axes.set_ylim(-0.1, len(stages))
    axes.tick_params(axis="y", length=0)
    axes.set_title("How busy each stage is (a full band is what stands in brackets)", fontsize=11, loc="left")


def _area(axes: Axes, base: float, busy: NDArray[np.float64], start: int, colour: str) -> None:
    """Fill a band to the share that is busy, from cycle `start` on."""
    cycles = len(busy)
    bins = cycles if axes.get_xlim()[1] <= SHARPEST else max(1, min(MOST, cycles // LEAST))
    shares = shares_of(busy, bins)
    tops = base + np.where(shares > 0, np.maximum(BAND * shares, LOWEST), 0)
    edges = start + np.arange(bins + 1) * cycles / bins
    axes.stairs(tops, edges, baseline=base, fill=True, color=colour, linewidth=0, antialiased=False)


def _draw_columns(axes: Axes, trace: Trace, columns: Sequence[Column], stop: int) -> None:
    recording, top = trace.recording, len(columns) + 1
    tiled, stalled = len(recording.columns) > 1, _stalled(trace)
    labels = {}
    for y, column in zip(range(top - 1, 0, -1), columns, strict=True):
        labels[y] = f"tile {column.tile + 1}, column {column.number + 1}" if tiled else f"column {column.number + 1}"
        _bar(axes, y, column.request, column.first, "fill")
        _bar(axes, y, column.first, column.last + 1, "stream")
        _bar(axes, y, column.last + 1, column.stop, "drain")
        _area(axes, y - BAND / 2, stalled[column.first : column.last + 1], column.first, PHASE_COLOURS["stall"])
    for state, name, y in (("prefetch", "RS prefetch", top), ("merge", "merge", 0)):
        for span in recording.spans:
            if span.state == state and span.start < stop:
                labels[y] = name
                _bar(axes, y, span.start, span.stop, state)
    axes.set_yticks(list(labels), list(labels.values()))
    axes.set_ylim(min(labels) - 0.6, max(labels) + 0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_title("When each column runs", fontsize=11, loc="left")


def _bar(axes: Axes, y: int, start: int, stop: int, phase: str) -> None:
    axes.barh(y, stop - start, BAND, start, color=PHASE_COLOURS[phase], linewidth=0)


def _stalled(trace: Trace) -> NDArray[np.float64]:
    """Return 1 for cycles in which the interval has passed and no beat is issued."""
    issues = trace.recording.signals["lanes.issue"][:-1] > 0
    cycles = np.arange(len(issues))
    since = cycles - np.maximum.accumulate(np.where(issues, cycles, -len(issues)))
    return (since >= trace.recording.config.ii).astype(np.float64)
