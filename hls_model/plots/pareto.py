"""Rate against resources of many designs, and the front that nothing beats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hls_model.extras.explore import Design, Exploration
from hls_model.plots.labels import label_log_axis, set_titles
from hls_model.plots.style import GREY, INK, ORANGE, new_figure
from hls_model.text import percent, range_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_pareto"]

APART = 0.055  # of the height of the axes, between two labels
MARKERS = {False: "o", True: "s"}
LABELS = {False: "one column after the other", True: "columns overlap"}


def plot_pareto(found: Exploration) -> Figure:
    """Draw all designs that fit as points, and the Pareto front as a line with its designs named."""
    figure, (axes,) = new_figure(size=(9, 5))
    _draw_points(axes, found.designs, color=GREY, alpha=0.4, markersize=5, markeredgewidth=0)
    front = sorted(found.front, key=lambda design: design.cost)
    axes.step([d.cost for d in front], [d.rate / 1e6 for d in front], where="post", color=ORANGE, linewidth=1.6)
    _draw_points(axes, front, color=ORANGE, markersize=8, zorder=4, markeredgecolor="white")
    for design in front:
        if design.band is not None:
            bounds = design.rate_range.times(1e-6)
            axes.vlines(design.cost, bounds.low, bounds.high, color=ORANGE, linewidth=5, alpha=0.35, zorder=3)
    top = max((*(design.rate for design in found.designs), *(design.rate_range.high for design in front))) / 1e6 or 1.0
    least, most = front[0].cost, max(design.cost for design in found.designs)
    axes.set_xscale("log")
    axes.set_xlim(least / 2.6, max(most * 1.15, least * 2.6))  # names of the cheapest need room
    axes.set_ylim(0, top * 1.12)
    _label(axes, front, top)
    label_log_axis(axes.xaxis, lambda share: f"{100 * share:g} %")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel("Largest share of any resource of the device, logarithmic")
    axes.set_ylabel("Million omegas of the pipelines a second")
    handles = [axes.plot([], [], MARKERS[o], color=GREY, label=LABELS[o])[0] for o in _overlaps(found.designs)]
    figure.legend(handles=handles, frameon=False, loc="outside lower center", fontsize=10.5, ncols=2)
    best = front[-1]
    rate = range_text(best.rate_range.times(1e-9), "billion omegas a second")
    set_titles(
        axes,
        f"Up to {rate} with {percent(best.cost)} of the device",
        f"{best.timing.workload.name} on {best.config.board}, {len(found.designs)} designs; "
        "orange: nothing is faster for as little" + (", with its range" if front[0].band is not None else ""),
    )
    return figure


def _overlaps(designs: Iterable[Design]) -> list[bool]:
    return sorted({design.config.overlap_outer for design in designs})


def _draw_points(axes: Axes, designs: list[Design], **style: Any) -> None:
    for overlap in _overlaps(designs):
        chosen = [design for design in designs if design.config.overlap_outer == overlap]
        axes.plot([d.cost for d in chosen], [d.rate / 1e6 for d in chosen], MARKERS[overlap], **style)


def _label(axes: Axes, front: list[Design], top: float) -> None:
    """Names of the front's designs, the fastest first, as far as they have room."""
    free = float("inf")
    for design in reversed(front):
        config, height = design.config, design.rate / 1e6
        if free - height < APART * top:
            continue
        free = height
        ports = f"{config.memory.ports} port{'s' * (config.memory.ports > 1)}"
        kernels = f"{config.kernels} kernels, " * (config.kernels > 1)
        axes.annotate(
            f"{kernels}unroll {config.unroll}, {config.clock_mhz:.4g} MHz, {ports}", (design.cost, height), (-9, 3),
            textcoords="offset points", ha="right", va="bottom", fontsize=9.5, color=INK,
        )  # fmt: skip
