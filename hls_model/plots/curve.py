"""Figs. 10 and 11: throughput against right-side iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hls_model.curve import Curve
from hls_model.paper.published import TABLE1, TABLE3
from hls_model.paper.table3 import widest_right
from hls_model.plots.labels import set_titles
from hls_model.plots.style import BLUE, GREY, INK, ORANGE, SKY, new_figure
from hls_model.text import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_curve"]


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
    axes.set_xlim(0, int(curve.right[-1]))
    axes.set_ylim(0, ideal * 1.06)
    axes.set_xlabel("Right-side iterations")
    axes.set_ylabel("Million omegas a second")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,.0f}")
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
    axes.annotate(
        label, (1, height), (8, 0), xycoords=("axes fraction", "data"), textcoords="offset points", va="center",
        color=INK, fontsize=10,
    )  # fmt: skip


def _mark_crossing(axes: Axes, curve: Curve) -> None:
    if curve.crossing is None:
        return
    height = float(curve.rate[curve.right == curve.crossing][0]) / 1e6
    axes.plot([curve.crossing] * 2, [0, height], color=ORANGE, linewidth=1.3, linestyle=(0, (1, 2)))
    axes.plot([curve.crossing], [height], "o", color=ORANGE, markersize=8, zorder=5, clip_on=False)
    axes.annotate(
        f"{curve.crossing:,}", (curve.crossing, 0), (-6, 8), textcoords="offset points", ha="right", color=ORANGE,
        fontweight="bold",
    )  # fmt: skip


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
        axes.annotate(
            f"{mix.snps:,} SNPs: {mix.fpga.omega:,.0f}", (place, mix.fpga.omega), (14, shift),
            textcoords="offset points", fontsize=10, color=INK, va="center",
        )  # fmt: skip
