"""What the figures share on top of `oclgenomics.app.figures`: more colours, headlines, logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.figure import Figure

from oclgenomics.app.figures import BLUE, GREEN, GREY, INK, ORANGE, SKY, STYLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


YELLOW, PURPLE, PALE = "#E69F00", "#CC79A7", "#E4E4E4"
COLOURS = (BLUE, ORANGE, GREEN, SKY, PURPLE, YELLOW)
PHASE_COLOURS = {  # one for each of hls_model.timing.result.PHASES
    "prefetch": PURPLE,
    "fill": SKY,
    "stream": BLUE,
    "stall": ORANGE,
    "drain": YELLOW,
    "merge": GREEN,
    "overhead": GREY,
}


def new_figure(
    rows: int = 1, columns: int = 1, *, size: tuple[float, float], **options: Any
) -> tuple[Figure, Sequence[Axes]]:
    """Return a figure of `size` inches and its axes, row by row; `options` go to `Figure.subplots`."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(axes.flat)


def note(axes: Axes, text: str, at: tuple[float, float], shift: tuple[float, float], **style: Any) -> None:
    """Write text so many points from a place in the data, in ink unless `style` says otherwise."""
    axes.annotate(text, at, shift, textcoords="offset points", **{"color": INK} | style)


def thousands(value: float, _: object = None) -> str:
    """Write a number of an axis, such as 12,500."""
    return f"{value:,.0f}"


MANY_DECADES = 4


def label_log_axis(axis: Axis, text: Callable[[float], str]) -> None:
    """Label 1, 2 and 5 of each power of ten, all in one way, or fewer where there are many powers.

    Call it after the scale and the limits are set.
    """
    low, high = axis.get_view_interval()
    decades = math.log10(high / low)
    between = "25" if decades <= MANY_DECADES else "3" if decades <= 1.5 * MANY_DECADES else ""
    axis.set_major_formatter(lambda value, _: text(value))
    axis.set_minor_formatter(lambda value, _: text(value) if f"{value:e}"[0] in between else "")
    axis.set_tick_params(which="both", length=4, pad=4)


def set_titles(axes: Axes, headline: str, below: str) -> None:
    """Put a bold line over the axes, and a grey one between them."""
    axes.set_title(headline, loc="left", fontsize=14, fontweight="bold", pad=26, color=INK)
    note(axes, below, (0, 1), (0, 10), xycoords="axes fraction", color=GREY, fontsize=10.5)
