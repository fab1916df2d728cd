"""Figures that tests have other processes draw, which import this module."""

from __future__ import annotations

from matplotlib import rc_context
from matplotlib.figure import Figure

from oclgenomics.app.figures import STYLE

__all__ = ["plot_line", "plot_nothing"]


def plot_line(*values: float, title: str) -> Figure:
    """Draw something."""
    with rc_context(STYLE):
        figure = Figure(figsize=(3, 2), layout="constrained")
        figure.add_subplot().plot(values, color="#D55E00")
        figure.axes[0].set_title(title)
    return figure


def plot_nothing() -> Figure:
    """Fail."""
    raise ZeroDivisionError("no figure")
