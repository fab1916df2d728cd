"""Normally distributed numbers made of random bits, the same with every NumPy and on every machine."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from oclgenomics.simulate.random_bits import RandomBits

__all__ = ["normals"]

STEPS = 1 << 10  # of a standard deviation
LARGEST = 5  # standard deviations; no value of the table is so large


def normals(draws: RandomBits, count: int) -> NDArray[np.float64]:
    """Return numbers with mean 0 and standard deviation 1, float64 (count,).

    They are one of 65,536 equally likely values, multiples of 1/1024 up to 4.2.
    """
    return _table()[draws.uint16(count)]


@cache
def _table() -> NDArray[np.float64]:
    """The equally likely values in ascending order."""
    steps = range(-LARGEST * STEPS, LARGEST * STEPS + 1)
    scale = STEPS * math.sqrt(2)
    below = [round((1 + math.erf((step + 0.5) / scale)) * (1 << 15)) for step in steps]
    return np.repeat(np.array(steps), np.diff(below, prepend=0)) / STEPS
