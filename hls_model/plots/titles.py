"""Headline and subtitle over a figure's axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hls_model.plots.style import GREY, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["set_titles"]


def set_titles(axes: Axes, headline: str, below: str) -> None:
    """Put a bold line over the axes, and a grey one between them."""
    axes.set_title(headline, loc="left", fontsize=14, fontweight="bold", pad=26, color=INK)
    axes.annotate(
        below, (0, 1), xytext=(0, 10), xycoords="axes fraction", textcoords="offset points", color=GREY, fontsize=10.5
    )
