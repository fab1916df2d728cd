"""Resources as shares of the device: of one design by its parts, and of Table I and the model."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hls_model.boards import KINDS
from hls_model.paper.table1 import Column
from hls_model.resources import REPORT_ROWS, Resources
from oclgenomics.app.figures import BLUE, GREY, INK, SKY
from oclgenomics.fpga.plots.shared import COLOURS, new_figure, note, set_titles

NAMES = ("BRAM18K", "DSP", "FF", "LUT")


def plot_resources(resources: Resources) -> Figure:
    """Draw a bar for each resource, stacked by the kind of thing that takes it."""
    figure, (axes,) = new_figure(size=(9, 4.2))
    ends = [0.0] * len(KINDS)
    for colour, row in zip((*COLOURS, GREY), REPORT_ROWS, strict=True):
        shares = resources.by_kind(row).shares(resources.board.available)
        taken = [100 * shares[kind] for kind in KINDS]
        if any(taken):
            axes.barh(range(len(KINDS)), taken, left=ends, color=colour, height=0.62, label=row)
        ends = [end + more for end, more in zip(ends, taken, strict=True)]
    for place, (kind, end) in enumerate(zip(KINDS, ends, strict=True)):
        label = f"{end:.2f} %  ({getattr(resources.total, kind):,})"
        note(axes, label, (end, place), (6, 0), va="center", fontsize=10)
    axes.set_yticks(range(len(KINDS)), NAMES)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    axes.set(xlim=(0, max(ends) * 1.22), xlabel="Percent of the device")
    figure.legend(loc="outside lower center", frameon=False, fontsize=10, ncols=len(REPORT_ROWS))
    config = resources.config
    set_titles(
        axes,
        f"{config.lanes} lane{'s' * (config.lanes > 1)} take {max(ends):.1f} % of the {resources.board.device}",
        f"{config.name}, {resources.method}, by what takes it",
    )
    return figure


def plot_table1(columns: list[Column]) -> Figure:
    """Draw published and estimated shares of both boards."""
    figure, panels = new_figure(1, len(columns), size=(11, 4.6))
    for axes, column in zip(panels, columns, strict=True):
        _draw_board(axes, column)
    panels[0].set_ylabel("Percent of the device")
    return figure


def _draw_board(axes: Axes, column: Column) -> None:
    bars = [("Table I", INK, column.percent)]
    for colour, one in zip((BLUE, SKY), column.estimates[1:], strict=False):
        shares = {kind: 100 * share for kind, share in one.shares.items()}
        bars.append((f"bottom-up, {one.config.lanes} lanes", colour, shares))
    width = 0.8 / len(bars)
    for number, (label, colour, shares) in enumerate(bars):
        places = [place + (number - (len(bars) - 1) / 2) * width for place in range(len(KINDS))]
        heights = [shares[kind] for kind in KINDS]
        axes.bar(places, heights, color=colour, width=width * 0.92, label=label)
        for place, height in zip(places, heights, strict=True):
            note(axes, f"{height:.1f}", (place, height), (0, 2), ha="center", va="bottom", fontsize=9)
    axes.set_xticks(range(len(KINDS)), NAMES)
    axes.tick_params(axis="x", length=0)
    axes.margins(y=0.12)
    axes.legend(frameon=False, fontsize=10, loc="upper left")
    system = column.system
    set_titles(axes, f"{system.board.upper()}", f"unroll {system.unroll} at {system.clock_mhz:g} MHz")
