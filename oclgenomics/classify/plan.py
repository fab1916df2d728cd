"""Decisions of queries: pure arithmetic on sizes and limits, tested without a device."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import AllocationError, readable_bytes

__all__ = [
    "LIST_BYTES",
    "MAX_LOCATIONS_OF_INDEX",
    "MAX_LOCATIONS_OF_READ",
    "SLOT_BYTES",
    "SMALL",
    "TABLE_SLOTS",
    "WIDE",
    "IndexLimits",
    "IndexNeed",
    "batch_bytes",
    "batches",
    "powers_of_two",
    "prefix_bits",
    "query_bytes",
    "target_ranges",
]

# Prefixes of keys
MIN_PREFIX, MAX_PREFIX = 16, 26  # bits: an entry of the index has so many for the number of a feature's locations
ENTRY_BYTES, TABLE_BYTES, LOCATION_BYTES = 8, 4, 4
MAX_LOCATIONS_OF_FEATURE = (1 << 16) - 1  # in the file
MAX_LOCATIONS_OF_INDEX = (1 << 32) - 1  # where lists start is 32 bits
BLOCK_WINDOWS = 64  # targets.clh
PREFIX_KEYS = 4  # keys with one prefix at most, on average: their entries are next to each other in memory
# At a time. Small copies to GPUs are slow; on CPUs pieces take memory beside the index.
LOADED_FEATURES = {"cpu": 1 << 16, "gpu": 1 << 21}
LOADED_LOCATIONS = {"cpu": 1 << 18, "gpu": 1 << 23}
LOADING_BYTES = 4 + 2 + 8  # of a feature on its way into the index: key, count, places

# Batches of reads
FOUND_BYTES = 8  # of a feature that was looked up
LIST_BYTES = 8  # of a location in a list to be sorted, which takes a second one
ROOM_SHARE = 8  # of the memory that is left
MIN_ROOM = 1 << 16
MAX_ROOM = {"cpu": 1 << 23, "gpu": 1 << 29}
SLOT_BYTES = 4
TABLE_SLOTS = 1024  # of a table of a read's features; those of reads with more than half as many are in global memory
MAX_LOCATIONS_OF_READ = (1 << 31) - 1

# Classes of reads, by their locations
SMALL = 512  # a group as wide as a warp on GPUs, a lane of vectors on CPUs
WIDE = 8192  # a wide group on GPUs, with as much local memory as all have; what has more is sorted in global memory


def prefix_bits(features: int) -> int:
    """Return how many first bits of keys the table of prefixes has."""
    return min(max((max(-(-features // PREFIX_KEYS), 1) - 1).bit_length(), MIN_PREFIX), MAX_PREFIX)


@dataclass(frozen=True)
class IndexNeed:
    """What an index takes of the device's memory.

    Attributes
    ----------
    all, largest : int
        Bytes of all buffers, and of the largest one.
    """

    all: int
    largest: int

    @classmethod
    def of(cls, features: int, locations: int, windows: int, targets: int) -> IndexNeed:
        """Return what an index of so many features, locations, windows and targets takes."""
        entries, lists = ENTRY_BYTES * (features + 1), LOCATION_BYTES * max(locations, 1)
        table = TABLE_BYTES * ((1 << prefix_bits(features)) + 1)
        blocks = 4 * (-(-windows // BLOCK_WINDOWS) + 1)
        known = 8 * (targets + 1)
        loading = LOADING_BYTES * min(features, LOADED_FEATURES["gpu"])
        loading += LOCATION_BYTES * min(locations, max(LOADED_LOCATIONS["gpu"], MAX_LOCATIONS_OF_FEATURE))
        return cls(entries + lists + table + blocks + known + loading, max(entries, lists, table))


@dataclass(frozen=True)
class IndexLimits:
    """A database, and what an index of a part of it may take.

    Attributes
    ----------
    features, windows, targets : int
        Of the database.
    budget, max_allocation : int
        Bytes for all buffers, and for one.
    """

    features: int
    windows: int
    targets: int
    budget: int
    max_allocation: int

    def need(self, locations: int) -> IndexNeed:
        """Return what the index of a part with so many locations takes at most."""
        return IndexNeed.of(min(locations, self.features), locations, self.windows, self.targets)

    def fits(self, locations: int) -> bool:
        """Say whether the index of a part with so many locations fits."""
        need = self.need(locations)
        within = need.all <= self.budget and need.largest <= self.max_allocation
        return within and locations <= MAX_LOCATIONS_OF_INDEX


def target_ranges(
    low: NDArray[np.int64], high: NDArray[np.int64], limits: IndexLimits, names: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Cut a row of targets into ranges whose indices fit, as few as there can be.

    Parameters
    ----------
    low, high : ndarray, int64 (targets + 1,)
        Locations in targets before each one: so many at least, and at most.
    limits : IndexLimits
    names : sequence of str
        Of the targets, for the error message.

    Yields
    ------
    begin, end : int
        At least one target.

    Raises
    ------
    AllocationError
        The index of a single target does not fit.
    """
    begin, targets = 0, len(names)
    while begin < targets:
        ends = range(begin + 1, targets + 1)
        end = begin + bisect_left(ends, True, key=lambda end: not limits.fits(int(high[end] - low[begin])))
        if end == begin:
            asked = readable_bytes(limits.need(int(high[begin + 1] - low[begin])).all)
            raise AllocationError(
                f"an index of the target {names[begin]} alone takes {asked}, but the limit is "
                f"{readable_bytes(limits.budget)}, and {readable_bytes(limits.max_allocation)} for one buffer; raise "
                "`max_memory` or choose a `device` with more memory"
            )
        yield begin, end
        begin = end


def query_bytes(sketchlen: int, maxcand: int) -> tuple[int, int]:
    """Return what a query takes of the device's memory, in bytes: for each window, and for each read.

    The lists of locations come on top of it; `LIST_BYTES` for each location.
    """
    return FOUND_BYTES * sketchlen, 12 + 16 * maxcand


def batch_bytes(free: int, shape: Literal["cpu", "gpu"]) -> int:
    """Return how many bytes reads that are looked up together may take, and lists that are sorted together.

    Parameters
    ----------
    free : int
        Bytes that are left for queries.
    shape : {'cpu', 'gpu'}
        See `runtime.tuning`: CPUs do best with what their caches hold, GPUs with many reads.
    """
    return max(min(free // ROOM_SHARE, MAX_ROOM[shape]), MIN_ROOM)


def powers_of_two(sizes: NDArray[np.uint32] | NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the least powers of two that are not below sizes, which are 1 to 2^31."""
    return np.uint64(1) << np.ceil(np.log2(sizes)).astype(np.uint64)


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
