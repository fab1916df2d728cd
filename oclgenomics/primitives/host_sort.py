"""Sorting on CPU devices: a radix pass distributes the keys, NumPy's vectorised sort orders the parts, on all cores."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.threads import usable_cores
from oclgenomics.primitives.radix import RadixSort
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["sort_on_host", "sort_parts"]

FEW = 1 << 16  # keys that are sorted at once


def sort_on_host(engine: Engine, keys: DeviceArray, size: int, bits: int, radix: RadixSort, spare: DeviceArray) -> bool:
    """Sort keys of one word whose bits from `bits` up are 0.

    Returns
    -------
    bool
        Whether the result is in `spare`; else it is in `keys`.
    """
    if size <= FEW:
        with engine.mapped(keys) as host:
            host[:size].sort()
        return False
    digit_bits = min(bits, 8)
    radix.run(0, bits - digit_bits, digit_bits, keys, spare, None, None)
    starts = engine.download(radix.places)[:, 0].astype(np.int64)
    ends = np.append(starts[1:], size)
    with engine.mapped(spare) as host:
        sort_parts(host, starts, ends)
    return True


def sort_parts(host: NDArray[Any], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
    """Sort the parts in place; NumPy lets other threads run meanwhile."""
    largest_first = np.argsort(starts - ends, kind="stable")
    with ThreadPoolExecutor(usable_cores()) as threads:
        list(threads.map(lambda part: host[starts[part] : ends[part]].sort(), largest_first))
