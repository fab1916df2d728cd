"""Headline and subtitle over a figure's axes, and the labels of logarithmic ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from hls_model.plots.style import GREY, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

__all__ = ["label_log_axis", "set_titles"]

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
    axes.annotate(
        below, (0, 1), xytext=(0, 10), xycoords="axes fraction", textcoords="offset points", color=GREY, fontsize=10.5
    )
