"""Efficiency by unroll and right-side iterations, as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hls_model.curve import Curve
from hls_model.plots.labels import label_log_axis, set_titles
from hls_model.plots.style import INK, new_figure
from hls_model.text import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_efficiency"]

POINTS = 240  # along the right-side iterations


def plot_efficiency(curves: list[Curve]) -> Figure:
    """Draw the rate of each curve as a share of its ideal, one row for each, and mark the share looked for."""
    figure, (axes,) = new_figure(size=(9, 1.9 + 0.5 * len(curves)))
    least = min(int(curve.right[0]) for curve in curves)
    most = max(2 * least, *(int(curve.right[-1]) for curve in curves))
    edges = np.geomspace(least, most, POINTS + 1)
    rows = np.array([_efficiency(curve, np.sqrt(edges[1:] * edges[:-1])) for curve in curves])
    borders = np.arange(len(curves) + 1) - 0.5
    mesh = axes.pcolormesh(edges, borders, rows, cmap="cividis", vmin=0, vmax=1, rasterized=True)
    for row, curve in enumerate(curves):
        _mark_crossing(axes, row, curve, leftward=curve.crossing is not None and curve.crossing > most / 3)
    axes.set_xscale("log")
    axes.set_xlim(least, most)
    label_log_axis(axes.xaxis, lambda value: f"{value:,.0f}")
    axes.set_yticks(range(len(curves)), [str(curve.config.unroll) for curve in curves])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("Right-side iterations, logarithmic")
    axes.set_ylabel("Unroll")
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


def _mark_crossing(axes: Axes, row: int, curve: Curve, *, leftward: bool) -> None:
    from matplotlib.patheffects import withStroke

    if curve.crossing is None:
        return
    axes.plot([curve.crossing] * 2, [row - 0.5, row + 0.5], color=INK, linewidth=2)
    axes.annotate(
        f"{curve.crossing:,}", (curve.crossing, row), (-7 if leftward else 7, 0), textcoords="offset points",
        va="center", ha="right" if leftward else "left", fontsize=10, color=INK,
        path_effects=[withStroke(linewidth=2.5, foreground="white", alpha=0.6)],
    )  # fmt: skip


def _efficiency(curve: Curve, right: np.ndarray) -> np.ndarray:
    index = np.searchsorted(curve.right, right, side="right") - 1
    return np.where(index >= 0, curve.rate[np.maximum(index, 0)] / curve.config.ideal_rate, 0.0)
