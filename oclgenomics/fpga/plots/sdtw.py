"""Samples per second of a systolic array against its PEs."""

from __future__ import annotations

import dataclasses

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hls_model.choices import ASIC
from hls_model.errors import ModelError
from hls_model.extras.sdtw.design import SystolicArray
from hls_model.extras.sdtw.resources import largest_arrays, placed
from hls_model.extras.sdtw.timing import ArrayTiming, time_read
from hls_model.ranges import Range
from oclgenomics.app.figures import BLUE, GREEN, GREY, ORANGE
from oclgenomics.fpga.plots.shared import new_figure, note, set_titles

MINION = 512 * 4_000 / 1e6  # million samples a second of a flow cell: 512 channels at 4 kHz
POINTS = 60


def plot_array(timed: ArrayTiming) -> Figure:
    """Draw the rate of arrays of all sizes, the given one, what its device holds, and what a flow cell delivers."""
    figure, (axes,) = new_figure(size=(9, 4.8))
    array = timed.array
    most = None if array.board == ASIC else largest_arrays(array, timed.columns, timed.samples)
    right = 2 * max(array.pes, round(most.high) if most else 0, timed.samples)
    sizes = _sizes(min(100, array.pes), right, timed.samples)
    # an array that does not fit crosses all borders
    slow, rates, fast = zip(*(_rates(array, pes, timed) for pes in sizes), strict=True)
    axes.fill_between(sizes, slow, fast, color=BLUE, alpha=0.18, linewidth=0, zorder=2)
    axes.plot(sizes, rates, color=BLUE, linewidth=2.4, zorder=3)
    rate = timed.samples_per_s / 1e6
    axes.plot([array.pes], [rate], "o", color=ORANGE, markersize=9, zorder=5)
    side = "right" if array.pes > 4 * sizes[0] else "left"
    text = f"{array.pes:,} PEs: {rate:,.2f} M samples/s"
    note(axes, text, (array.pes, rate), (0, 9), ha=side, color=ORANGE, fontweight="bold")
    axes.set(xscale="log", ylim=(0, 1.15 * max(*fast, rate, MINION)), xlim=(sizes[0], right))
    _mark_limits(axes, most, array.board, right, low=rates[-1] > axes.get_ylim()[1] / 2)
    axes.set(xlabel="Processing elements of one array", ylabel="Million samples a second")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    board = "an ASIC" if array.board == ASIC else array.board
    set_titles(
        axes,
        f"{timed.reads_per_s:,.0f} reads of {timed.samples:,} samples a second",
        f"{array.arrays} x {array.pes:,} PEs at {array.clock_mhz:g} MHz on {board}, {timed.columns:,} columns",
    )
    return figure


def _rates(array: SystolicArray, pes: int, timed: ArrayTiming) -> tuple[float, ...]:
    """Million samples a second of arrays of another size, at the slow end, likely and at the fast end."""
    sized = dataclasses.replace(array, pes=pes, crossings=0)
    if array.board != ASIC:
        try:
            sized = placed(sized, timed.columns, timed.samples)
        except ModelError:
            sized = dataclasses.replace(sized, crossings=len(array.hardware.regions) - 1)
    times = [time_read(one, timed.columns, timed.samples, "L0") for one in reversed(sized.within_bounds())]
    return tuple(one.samples_per_s / 1e6 for one in times)


def _sizes(least: int, most: int, samples: int) -> list[int]:
    """Sizes at which a query needs one pass less, those just before, and some between them."""
    steps = -(-samples // np.arange(1, samples // least + 2))
    between = np.geomspace(least, most, POINTS).astype(np.int64)
    sizes = np.unique(np.concatenate([steps, steps - 1, between]))
    found: list[int] = sizes[(sizes >= least) & (sizes <= most)].tolist()
    return found


def _mark_limits(axes: Axes, most: Range | None, board: str, right: int, *, low: bool) -> None:
    """Mark a flow cell's rate and what the board holds; the text of that is `low` or high."""
    axes.axhline(MINION, color=GREY, linewidth=1.1, linestyle=(0, (5, 3)), zorder=1)
    text = "one MinION flow cell:\n512 channels at 4 kHz"
    note(axes, text, (1, MINION), (8, 0), xycoords=("axes fraction", "data"), va="center", fontsize=10)
    if most:
        axes.axvspan(most.high, right, color=GREY, alpha=0.12, linewidth=0)
        axes.axvspan(most.low, most.high, color=GREEN, alpha=0.25, linewidth=0)
        axes.axvline(most.likely, color=GREEN, linewidth=1.3)
        bounds = " to ".join(f"{pes:,.0f}" for pes in sorted({most.low, most.high}))
        note(
            axes, f"no room on {board} for more than\n{bounds} PEs", (most.high, 0.04 if low else 0.97), (10, 0),
            xycoords=("data", "axes fraction"), rotation=90, va="bottom" if low else "top", color=GREEN, fontsize=10,
            bbox={"facecolor": "#ececec", "edgecolor": "none", "pad": 1},
        )  # fmt: skip
