"""Decisions of queries: pure arithmetic on sizes and limits, tested without a device."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MAX_LOCATIONS_OF_INDEX",
    "SMALL",
    "WIDE",
    "batches",
    "index_bytes",
    "lookup_bytes",
    "prefix_bits",
]

# Prefixes of keys
MIN_PREFIX, MAX_PREFIX = 16, 26  # bits: an entry of the index has so many for the number of a feature's locations
ENTRY_BYTES, TABLE_BYTES, LOCATION_BYTES = 8, 4, 4
MAX_LOCATIONS_OF_INDEX = (1 << 32) - 1  # where lists start is 32 bits
BLOCK_WINDOWS = 64  # targets.clh
UPLOADED_FEATURES = 1 << 22  # at a time; they need room twice, before and after they are entries

# Classes of reads, by their locations
SMALL = 512  # a group as wide as a warp on GPUs, a list in the nearest cache on CPUs
WIDE = 8192  # a wide group on GPUs; what has more is sorted in global memory


def prefix_bits(features: int) -> int:
    """Return how many first bits of keys the table of prefixes has: about a key for each entry."""
    return min(max((max(features, 1) - 1).bit_length(), MIN_PREFIX), MAX_PREFIX)


def index_bytes(features: int, locations: int, windows: int, targets: int) -> tuple[int, int]:
    """Return what an index takes of the device's memory, and its largest buffer, in bytes.

    Parameters
    ----------
    features, locations, windows, targets : int
        Numbers of them in the database, or in a part of it.
    """
    entries, lists = ENTRY_BYTES * (features + 1), LOCATION_BYTES * max(locations, 1)
    table = TABLE_BYTES * ((1 << prefix_bits(features)) + 1)
    blocks = 4 * (-(-windows // BLOCK_WINDOWS) + 1)
    known = 4 * (targets + 1) + 4 * max(targets, 1)
    loading = 16 * min(features, UPLOADED_FEATURES)
    return entries + lists + table + blocks + known + loading, max(entries, lists, table)


def lookup_bytes(sketchlen: int, maxcand: int) -> tuple[int, int]:
    """Return what a query takes in bytes: for each window, and for each read."""
    return 8 * sketchlen, 4 + 4 + 4 + 16 * maxcand


def batches(ends: NDArray[np.int64], room: int) -> Iterator[tuple[int, int]]:
    """Cut a row of items into batches that do not need more than `room`, or hold a single item.

    Parameters
    ----------
    ends : ndarray, int64 (items,)
        What the items up to each one need together.
    room : int

    Yields
    ------
    begin, end : int
    """
    begin, before = 0, 0
    while begin < len(ends):
        end = max(begin + 1, int(np.searchsorted(ends, before + room, "right")))
        yield begin, end
        begin, before = end, int(ends[end - 1])
