"""What depends on nothing but the length of a read, worked out once for each length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["by_length"]

ItemT = TypeVar("ItemT", bound=np.generic)


def by_length(
    values_of: Callable[[NDArray[np.int64]], NDArray[ItemT]], lengths: NDArray[np.integer[Any]]
) -> NDArray[ItemT]:
    """Return `values_of(lengths)`.

    Reads are many and their lengths are few: the values of all lengths up to the longest one make a table, unless that
    has more rows than there are reads.

    Parameters
    ----------
    values_of : callable
        Takes lengths and returns a value for each, which depends on that length alone.
    lengths : ndarray of int (reads,)
        Letters, 0 or more.
    """
    longest = int(lengths.max(initial=0))
    if longest >= len(lengths):
        return values_of(lengths.astype(np.int64))
    return values_of(np.arange(longest + 1)).take(lengths)
