"""Mean qualities in order, exactly: as integers, since quotients in floating point may be equal where means differ."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["falling_means"]

HALF = np.uint64(32)


def falling_means(sums: NDArray[np.uint64], lengths: NDArray[Any]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return two keys that sort by falling mean, the second one first, as `numpy.lexsort` takes them.

    The keys are the integer part of the mean and its first 64 binary places. Two fractions whose denominators are less
    than 2^32 and that differ do so by more than 2^-64.

    Parameters
    ----------
    sums : ndarray, uint64
    lengths : ndarray, integers
        1 to 2^32 - 1.
    """
    by = lengths.astype(np.uint64)
    whole, rest = np.divmod(sums, by)
    high, rest = np.divmod(rest << HALF, by)
    low = (rest << HALF) // by
    return ~(high << HALF | low), ~whole
