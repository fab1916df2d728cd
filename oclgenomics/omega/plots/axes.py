"""What the figures of omega have in common: its axis, and positions as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.figures import EN_DASH

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "HEADLINE_DIGITS",
    "LONGEST_NAME",
    "LONGEST_TITLE",
    "MAX_TICKS",
    "range_text",
    "set_omega_axis",
]

HEADLINE_DIGITS = {"Mb": 3, "kb": 1, "bp": 0}
WIDE_RANGE = 40.0  # largest over median omega from which a linear axis would flatten all but one peak
MAX_TICKS = 8  # along the positions
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


def range_text(left: float, right: float, scale: float, unit: str) -> str:
    """Write two positions in bp, with as many decimals as tell them apart by two digits of their distance."""
    digits = round(np.log10(scale))
    if right > left:
        digits = min(max(int(np.ceil(-np.log10((right - left) / scale))) + 1, 0), digits)
    return f"{left / scale:,.{digits}f}{EN_DASH}{right / scale:,.{digits}f} {unit}"
