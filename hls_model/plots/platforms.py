"""Fig. 14: seconds of LD and omega on each platform, and on the model's FPGA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hls_model.paper.table3 import Row, Seconds
from hls_model.plots.labels import set_titles
from hls_model.plots.style import BLUE, GREY, INK, ORANGE, SKY, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_platforms"]

KINDS = {"50/50": "Balanced", "90/10": "High omega", "10/90": "High LD"}


def plot_platforms(rows: list[Row], *, uncertainty: bool = True) -> Figure:
    """Draw a panel for each data set, with a stacked bar for each platform.

    The model's FPGA gets the range that the board's memory and all else that is not known leave, if asked for.
    """
    figure, panels = new_figure(1, len(rows), size=(11, 4.6))
    for panel, row in zip(panels, rows, strict=True):
        _draw_panel(panel, row, uncertainty)
    panels[0].set_ylabel("Seconds")
    handles, labels = panels[0].get_legend_handles_labels()
    panels[-1].legend(handles, labels, frameon=False, loc="upper right", fontsize=10.5)
    return figure


def _draw_panel(axes: Axes, row: Row, uncertainty: bool) -> None:
    bars: dict[str, Seconds] = {"CPU": row.cpu, "GPU": row.gpu, "FPGA": row.fpga, "FPGA,\nmodel": row.model}
    ld = [bar.ld for bar in bars.values()]
    omega = [bar.omega for bar in bars.values()]
    places = range(len(bars))
    axes.bar(places, ld, color=SKY, width=0.66, label="LD")
    axes.bar(places, omega, bottom=ld, color=BLUE, width=0.66, label="omega")
    for place, bar in zip(places, bars.values(), strict=True):
        bounds = row.board_seconds if uncertainty and bar is row.model else (bar.total, bar.total)
        _draw_range(axes, place, *bounds)
        between = f"\n({bounds[0]:.1f}-{bounds[1]:.1f})" if bounds[0] < bounds[1] else ""
        speedup = "" if place == 0 else f"\n{row.cpu.total / bar.total:.1f}x"
        axes.annotate(
            f"{bar.total:.1f} s{between}{speedup}",
            (place, max(bar.total, bounds[1])),
            (0, 4),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=10,
            linespacing=1.2,
            color=INK,
        )
    axes.set_xticks(list(places), list(bars))
    axes.tick_params(axis="x", length=0)
    axes.set_ylim(0, row.cpu.total * 1.1)
    axes.spines["bottom"].set_color(GREY)
    mix = row.mix
    set_titles(axes, KINDS[mix.name], f"{mix.snps:,} SNPs, {mix.samples:,} sequences")


def _draw_range(axes: Axes, place: int, low: float, high: float) -> None:
    """A line between the bounds of a bar's total."""
    if low < high:
        axes.vlines(place, low, high, color=ORANGE, linewidth=4, zorder=5)
