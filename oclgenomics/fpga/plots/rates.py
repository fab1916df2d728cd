"""What designs reach: throughput by right-side iterations, efficiency by unroll, roofs, and the Pareto front."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from hls_model.curve import Curve
from hls_model.extras.explore import Design, Exploration
from hls_model.paper.published import TABLE1, TABLE3
from hls_model.paper.table3 import widest_right
from hls_model.ranges import Range
from hls_model.roofline import Roofline, ports_gbps, roof_gbps
from hls_model.text import percent, range_text
from oclgenomics.app.figures import BLUE, GREEN, GREY, INK, ORANGE, SKY
from oclgenomics.fpga.plots.shared import PURPLE, label_log_axis, new_figure, note, set_titles, thousands


def plot_curve(curve: Curve) -> Figure:
    """Draw the curve, its ideal, the share looked for, and Table III's points where the design is its own."""
    figure, (axes,) = new_figure(size=(9, 4.8))
    config, ideal = curve.config, curve.config.ideal_rate / 1e6
    axes.plot(curve.right, curve.rate / 1e6, color=BLUE, linewidth=2.4, solid_capstyle="round", zorder=3)
    if curve.slow is not None and curve.fast is not None:
        axes.fill_between(
            curve.right, curve.slow / 1e6, curve.fast / 1e6, color=SKY, alpha=0.3, linewidth=0, zorder=2,
            label="range over what no published number fixes",
        )  # fmt: skip
    _draw_line(axes, ideal, f"ideal {ideal:,.0f}", "-")
    _draw_line(axes, curve.share * ideal, f"{percent(curve.share)}: {curve.share * ideal:,.0f}", (0, (5, 3)))
    _mark_crossing(axes, curve)
    if _is_table3(curve):
        _mark_table3(axes)
    if axes.get_legend_handles_labels()[0]:
        crosses_left = curve.crossing is not None and curve.crossing < curve.right[-1] / 2
        axes.legend(
            frameon=False, loc="lower center", fontsize=10.5, bbox_to_anchor=(0.75 if crosses_left else 0.55, 0.03)
        )
    axes.set(xlim=(0, int(curve.right[-1])), ylim=(0, ideal * 1.06))
    axes.set(xlabel="Right-side iterations", ylabel="Million omegas a second")
    axes.xaxis.set_major_formatter(thousands)
    axes.yaxis.set_major_formatter(thousands)
    end = f"are not reached by {int(curve.right[-1]):,} right-side iterations"
    reached = f"from {curve.crossing:,} right-side iterations on" if curve.crossing else end
    set_titles(
        axes,
        f"{percent(curve.share)} of the ideal rate {reached}",
        f"{config.name}: unroll {config.unroll} at {config.clock_mhz:g} MHz, {curve.left:,} left borders",
    )
    return figure


def _draw_line(axes: Axes, height: float, label: str, line: str | tuple[int, tuple[int, int]]) -> None:
    axes.axhline(height, color=GREY, linewidth=1.1, linestyle=line, zorder=1)
    note(axes, label, (1, height), (8, 0), xycoords=("axes fraction", "data"), va="center", fontsize=10)


def _mark_crossing(axes: Axes, curve: Curve) -> None:
    if curve.crossing is None:
        return
    height = float(curve.rate[curve.right == curve.crossing][0]) / 1e6
    axes.plot([curve.crossing] * 2, [0, height], color=ORANGE, linewidth=1.3, linestyle=(0, (1, 2)))
    axes.plot([curve.crossing], [height], "o", color=ORANGE, markersize=8, zorder=5, clip_on=False)
    note(axes, f"{curve.crossing:,}", (curve.crossing, 0), (-6, 8), ha="right", color=ORANGE, fontweight="bold")


def _is_table3(curve: Curve) -> bool:
    system = TABLE1["u200"]
    design = (curve.config.board, curve.config.unroll, curve.config.clock_mhz)
    return design == (system.board, system.unroll, system.clock_mhz)


def _mark_table3(axes: Axes) -> None:
    """The published rates at the widest right side of the data set assumed for each."""
    mixes = sorted(TABLE3.values(), key=lambda mix: mix.snps)
    places = [widest_right(mix) for mix in mixes]
    axes.plot(
        places, [mix.fpga.omega for mix in mixes], "D", color="white",
        markeredgecolor=INK, markeredgewidth=1.6, markersize=7, zorder=6,
        label="Table III, at the widest right side that we assume",
    )  # fmt: skip
    for mix, place, shift in zip(mixes, places, (0, -9, 5), strict=True):
        text = f"{mix.snps:,} SNPs: {mix.fpga.omega:,.0f}"
        note(axes, text, (place, mix.fpga.omega), (14, shift), fontsize=10, va="center")


POINTS = 240  # along the right-side iterations


def plot_efficiency(curves: list[Curve]) -> Figure:
    """Draw the rate of each curve as a share of its ideal, one row for each, and mark the share looked for."""
    figure, (axes,) = new_figure(size=(9, 1.9 + 0.5 * len(curves)))
    least = min(int(curve.right[0]) for curve in curves)
    most = max(2 * least, *(int(curve.right[-1]) for curve in curves))
    edges = np.geomspace(least, most, POINTS + 1)
    rows = np.array([curve.efficiency(np.sqrt(edges[1:] * edges[:-1])) for curve in curves])
    borders = np.arange(len(curves) + 1) - 0.5
    mesh = axes.pcolormesh(edges, borders, rows, cmap="cividis", vmin=0, vmax=1, rasterized=True)
    for row, curve in enumerate(curves):
        _mark_in_row(axes, row, curve, leftward=curve.crossing is not None and curve.crossing > most / 3)
    axes.set(xscale="log", xlim=(least, most), xlabel="Right-side iterations, logarithmic", ylabel="Unroll")
    label_log_axis(axes.xaxis, thousands)
    axes.set_yticks(range(len(curves)), [str(curve.config.unroll) for curve in curves])
    axes.tick_params(axis="y", length=0)
    bar = figure.colorbar(mesh, ax=axes, pad=0.02)
    bar.ax.yaxis.set_major_formatter(lambda value, _: percent(value))
    bar.outline.set_visible(False)
    config = curves[0].config
    set_titles(
        axes,
        f"More lanes need longer right sides to reach {percent(curves[0].share)}",
        f"rate of the pipelines as a share of the ideal; {config.name} at {config.clock_mhz:g} MHz, "
        f"{curves[0].left:,} left borders",
    )
    return figure


def _mark_in_row(axes: Axes, row: int, curve: Curve, *, leftward: bool) -> None:
    if curve.crossing is None:
        return
    axes.plot([curve.crossing] * 2, [row - 0.5, row + 0.5], color=INK, linewidth=2)
    note(
        axes, f"{curve.crossing:,}", (curve.crossing, row), (-7 if leftward else 7, 0), va="center",
        ha="right" if leftward else "left", fontsize=10,
        path_effects=[withStroke(linewidth=2.5, foreground="white", alpha=0.6)],
    )  # fmt: skip


def plot_roofline(found: Roofline, reached: Range | None = None) -> Figure:
    """Draw the lanes as a level, ports and banks as slopes, and the design as a point with the range of its rate."""
    reached = Range.exactly(found.rate) if reached is None else reached
    figure, (axes,) = new_figure(size=(9, 4.8))
    intensity = 1 / found.bytes_per_omega if found.bytes_per_omega else 0.25
    x = np.geomspace(intensity / 10, intensity * 10, 200)
    _draw_roofs(axes, found, x)
    _draw_design(axes, found, intensity, reached)
    top = max(found.roofs["lanes"], found.rate) / 1e6
    axes.set(xscale="log", yscale="log", xlim=(x[0], x[-1]), ylim=(top / 30, top * 2.5))
    label_log_axis(axes.xaxis, lambda value: f"{value:g}")
    label_log_axis(axes.yaxis, thousands)
    axes.set_xlabel("Omegas for each byte read from memory, logarithmic")
    axes.set_ylabel("Million omegas a second, logarithmic")
    axes.legend(frameon=False, loc="lower right", fontsize=10.5)
    allow = "allow" if found.binding != "host link" else "allows"
    set_titles(
        axes,
        f"{percent(found.share)} of what the {found.binding} {allow}",
        f"{found.timing.workload.name} on {found.timing.config.name}, {found.bytes_per_omega:.2f} bytes for each omega",
    )
    return figure


def _draw_roofs(axes: Axes, found: Roofline, x: NDArray[np.float64]) -> None:
    config, lanes = found.timing.config, found.roofs["lanes"] / 1e6
    axes.axhline(lanes, color=BLUE, linewidth=2.2, label=f"lanes: {lanes:,.0f} M omega/s")
    ports, banks = ports_gbps(config), roof_gbps(config)
    axes.plot(x, ports * 1e3 * x, color=ORANGE, linewidth=2.2, label=f"ports: {ports:.1f} GB/s")
    axes.plot(x, banks * 1e3 * x, color=GREEN, linewidth=2.2, linestyle=(0, (5, 2)), label=f"banks: {banks:.1f} GB/s")
    if "host link" in found.roofs:
        rate = found.roofs["host link"] / 1e6
        label = f"host link: {rate:,.0f} M omega/s"
        axes.axhline(rate, color=PURPLE, linewidth=2.2, linestyle=(0, (1, 1.5)), label=label)


def _draw_design(axes: Axes, found: Roofline, intensity: float, bounds: Range) -> None:
    reached = found.rate / 1e6
    if not reached:
        return
    if bounds.low < bounds.high:
        axes.vlines(intensity, bounds.low / 1e6, bounds.high / 1e6, color=INK, linewidth=5, alpha=0.3, zorder=4)
    axes.axvline(intensity, color=INK, linewidth=0.8, linestyle=(0, (2, 3)), zorder=1)
    axes.plot([intensity], [reached], "o", color=INK, markersize=9, zorder=5)
    text = f"{found.timing.config.name}: {range_text(bounds.times(1e-6), 'M omega/s')}"
    axes.annotate(text, (intensity, reached), (12, -3), textcoords="offset points", va="top", fontweight="bold")


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
    right = max(most * 1.15, least * 2.6)  # names of the cheapest need room
    axes.set(xscale="log", xlim=(least / 2.6, right), ylim=(0, top * 1.12))
    _label(axes, front, top)
    label_log_axis(axes.xaxis, lambda share: f"{100 * share:g} %")
    axes.yaxis.set_major_formatter(thousands)
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
        name = f"{kernels}unroll {config.unroll}, {config.clock_mhz:.4g} MHz, {ports}"
        note(axes, name, (design.cost, height), (-9, 3), ha="right", va="bottom", fontsize=9.5)
