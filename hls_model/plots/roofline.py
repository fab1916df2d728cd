"""Roofs over a workload, in omegas a second against omegas a byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hls_model.plots.labels import label_log_axis, set_titles
from hls_model.plots.style import BLUE, GREEN, INK, ORANGE, PURPLE, new_figure
from hls_model.ranges import Range
from hls_model.roofline import Roofline, ports_gbps, roof_gbps
from hls_model.text import percent, range_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_roofline"]


def plot_roofline(found: Roofline, reached: Range | None = None) -> Figure:
    """Draw the lanes as a level, ports and banks as slopes, and the design as a point with the range of its rate."""
    reached = Range.exactly(found.rate) if reached is None else reached
    figure, (axes,) = new_figure(size=(9, 4.8))
    intensity = 1 / found.bytes_per_omega if found.bytes_per_omega else 0.25
    x = np.geomspace(intensity / 10, intensity * 10, 200)
    _draw_roofs(axes, found, x)
    _draw_design(axes, found, intensity, reached)
    top = max(found.roofs["lanes"], found.rate) / 1e6
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(x[0], x[-1])
    axes.set_ylim(top / 30, top * 2.5)
    label_log_axis(axes.xaxis, lambda value: f"{value:g}")
    label_log_axis(axes.yaxis, lambda value: f"{value:,.0f}")
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
    axes.annotate(
        f"{found.timing.config.name}: {range_text(bounds.times(1e-6), 'M omega/s')}", (intensity, reached), (12, -3),
        textcoords="offset points", va="top", fontweight="bold",
    )  # fmt: skip
