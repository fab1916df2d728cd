"""What the figures have in common: colours, type, numbers and positions as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "BLUE",
    "EN_DASH",
    "GREY",
    "HEADLINE_DIGITS",
    "INK",
    "LONGEST_NAME",
    "LONGEST_TITLE",
    "MOST_TICKS",
    "ORANGE",
    "SKY",
    "STYLE",
    "number_text",
    "position_unit",
    "range_text",
    "round_ticks",
    "set_omega_axis",
    "short_text",
]

# Okabe and Ito's colours keep apart for every kind of colour vision.
BLUE, SKY, ORANGE, INK, GREY = "#0072B2", "#56B4E9", "#D55E00", "#262626", "#6B6B6B"
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "svg.fonttype": "none",  # text stays text, which a talk's author can edit
    "svg.hashsalt": "oclgenomics",
    "pdf.fonttype": 42,
}
HEADLINE_DIGITS = {"Mb": 3, "kb": 1, "bp": 0}
EN_DASH = "\N{EN DASH}"
WIDE_RANGE = 40.0  # largest over median omega from which a linear axis would flatten all but one peak
MOST_TICKS = 8  # along the positions
LONGEST_NAME, LONGEST_TITLE = 18, 50  # letters shown


def set_omega_axis(axes: Axes, omega: NDArray[np.float64]) -> None:
    """Start at 0; a logarithmic axis where one peak would flatten everything else."""
    positive = omega[np.isfinite(omega) & (omega > 0)]
    top = float(positive.max()) if len(positive) else 1.0
    if len(positive) and top > WIDE_RANGE * float(np.median(positive)):
        axes.set_yscale("log")
        axes.set_ylim(max(float(positive.min()), 0.5) / 1.3, top * 1.8)
        axes.set_ylabel("Omega (ω), logarithmic")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.12g}")
        axes.tick_params(axis="y", which="minor", left=False)
    else:
        axes.set_ylim(0, top * 1.12)
        axes.set_ylabel("Omega (ω)")


def round_ticks(first: float, last: float, count: int) -> NDArray[np.float64]:
    """Return at most about `count` round numbers from `first` to `last`."""
    from matplotlib.ticker import MaxNLocator

    ticks = np.asarray(MaxNLocator(nbins=count, steps=[1, 2, 2.5, 5, 10]).tick_values(first, last))
    return ticks[(ticks >= first) & (ticks <= last)]


def position_unit(positions: NDArray[np.float64]) -> tuple[float, str]:
    """Return the largest unit that suits, in bp, and its name."""
    last = float(positions.max())
    if last >= 1e6:
        return 1e6, "Mb"
    return (1e3, "kb") if last >= 1e4 else (1.0, "bp")


def range_text(left: float, right: float, scale: float, unit: str) -> str:
    """Write two positions in bp, with as many decimals as tell them apart by two digits of their distance."""
    digits = round(np.log10(scale))
    if right > left:
        digits = min(max(int(np.ceil(-np.log10((right - left) / scale))) + 1, 0), digits)
    return f"{left / scale:,.{digits}f}{EN_DASH}{right / scale:,.{digits}f} {unit}"


def short_text(name: str, letters: int) -> str:
    """Return a name, without its middle if it is too long."""
    if len(name) <= letters:
        return name
    half = (letters - 1) // 2
    return f"{name[:half]}\N{HORIZONTAL ELLIPSIS}{name[-half:]}"


def number_text(value: float) -> str:
    """Write a number with three digits, or all those before its point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
