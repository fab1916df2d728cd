"""Positions in base pairs: how far they go, and how relative ones become such."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_BP", "base_pairs"]

MAX_BP = 10**15 - 1  # of a position or a length: far beyond every chromosome, and exact in float64


def base_pairs(fractions: NDArray[np.float64], length: float) -> NDArray[np.int64]:
    """Base pairs of relative positions, int64, as OmegaPlus has them: trunc(float32(position) * float32(length))."""
    return (fractions.astype(np.float32) * np.float32(length)).astype(np.int64)
