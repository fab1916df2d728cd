"""What golden jobs are made of: numbers without a pattern, by integer arithmetic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["numbers"]


def numbers(count: int, seed: int) -> NDArray[np.uint64]:
    """Numbers without a pattern, uint64 (count,): SplitMix64."""
    with np.errstate(over="ignore"):
        x = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(seed << 32)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        return x ^ x >> np.uint64(31)
