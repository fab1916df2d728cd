"""Memory decisions of counting: pure arithmetic on a device's limits, tested without a device.

A block of text is small enough that all k-mers of one fit beside it. The symbols of blocks are kept until memory says
that it is time to count them (`has_room`). They are counted by bins or by sorting (`counter_for`), as many k-mers at a
time as there is room for; where that is not all of them, in ranges of prefixes (`split_prefixes`). What one counter
does not take goes to temporary runs, some of which are merged at a time (`runs_at_a_time`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import AllocationError
from oclgenomics.kmers.database.layout import SECTION_KMERS
from oclgenomics.kmers.keys import key_words

if TYPE_CHECKING:
    from oclgenomics.runtime import Engine

__all__ = [
    "Counter",
    "DeviceLimits",
    "SortPlan",
    "counter_for",
    "has_room",
    "kmers_at_a_time",
    "needs_prefixes",
    "no_room",
    "runs_at_a_time",
    "split_prefixes",
    "stream_bytes",
    "text_block_bytes",
]

Counter = Literal["bins", "sort"]

# Blocks of text
MIN_BLOCK = 1 << 15
BLOCK_SHARE = 64  # blocks of text for each word of a k-mer: all k-mers of one fit into the memory that is left
BINNED_WORDS = 3  # of a k-mer in a bin take no more room than a word of one to be sorted

# Symbols that are kept
SMALL_BYTES = 1 << 16  # for counts of tiles, totals of spans and their like
STREAM_BYTES = 1 << 18  # that are kept of a stream, beside a byte for each of its k-mers and half of one for the next
MAX_KMERS = (1 << 32) - 1  # that are sorted at a time: their places are 32 bits (`primitives.keys.MAX_ITEMS`)
MAX_RANGES = 32  # each cuts all k-mers again: more would cost more than larger, hence fewer, runs save

# Temporary runs
MAX_RUNS, MIN_RUNS = 64, 2  # merged at a time
MIN_MERGE_BYTES, MAX_MERGE_BYTES = 64 << 20, 512 << 20  # of k-mers that a merge has at hand
SECTIONS_AT_HAND = 3  # of a run: read ahead, in the making, and being merged
FILE_SHARE = 4  # of the files that may be open, one in so many for the runs of a level


@dataclass(frozen=True)
class DeviceLimits:
    """What a plan has to know of a device.

    Attributes
    ----------
    budget : int
        Bytes that may be in use at a time.
    max_allocation : int
        Bytes of the largest buffer.
    compute_units : int
    cpu : bool
        Whether kernels have the shape for CPUs.
    """

    budget: int
    max_allocation: int
    compute_units: int
    cpu: bool

    @classmethod
    def of(cls, engine: Engine) -> DeviceLimits:
        """The limits of an engine."""
        return cls(engine.budget, engine.max_allocation, engine.device.compute_units, engine.tuning.cpu)


def counter_for(limits: DeviceLimits) -> Counter:
    """Return how to count: by bins, whose tables fit the caches of a CPU, or by sorting, which suits GPUs."""
    return "bins" if limits.cpu else "sort"


def text_block_bytes(limits: DeviceLimits, k: int, largest: int) -> int:
    """Return the bytes of text to read at a time.

    Parameters
    ----------
    limits : DeviceLimits
    k : int
    largest : int
        Bytes that suit the device whatever is made of the text.
    """
    words = -(-key_words(k) // (BINNED_WORDS if limits.cpu else 1))
    return min(largest, max(MIN_BLOCK, limits.budget // (BLOCK_SHARE * words)))


# When to count what was read


def stream_bytes(symbols: int) -> int:
    """Return the bytes that a stream of so many symbols will take."""
    return STREAM_BYTES + symbols * 3 // 2


def free_bytes(limits: DeviceLimits, used: int, reserved: int = 0) -> int:
    """Return the bytes that k-mers may take beside those in use and those that are kept for something else."""
    return limits.budget - used - reserved - SMALL_BYTES


def kmers_at_a_time(limits: DeviceLimits, k: int, room: int) -> int:
    """Return how many k-mers to count at a time, if memory has room for so many: one buffer holds all of them."""
    largest = (limits.max_allocation - SMALL_BYTES) // (8 * key_words(k))
    return min(room, largest, MAX_KMERS)


def has_room(limits: DeviceLimits, *, used: int, held: int, coming: int, most: int, largest_prefix: int) -> bool:
    """Say whether a counter may take another stream, so that all can be counted in ranges that are few and fit.

    Parameters
    ----------
    limits : DeviceLimits
    used : int
        Bytes in use.
    held, coming : int
        K-mers that the counter has, and at most so many of the stream. A counter without any takes every stream.
    most : int
        K-mers that can be counted at a time when the stream has been added.
    largest_prefix : int
        K-mers that the counter has of one prefix, at most: no range is less than a prefix.
    """
    if not held or held + coming <= most:
        return True
    return _takes_ranges(limits, used, held + coming, most) and largest_prefix + coming <= most


def needs_prefixes(limits: DeviceLimits, *, used: int, held: int, coming: int, most: int) -> bool:
    """Say whether `has_room` will look at the largest prefix, if the next stream is like the one that came last."""
    return held + coming > most and _takes_ranges(limits, used, held + coming, most)


def _takes_ranges(limits: DeviceLimits, used: int, kmers: int, most: int) -> bool:
    return kmers <= MAX_RANGES * most and used <= limits.budget // 2


def no_room(count: int, most: int) -> AllocationError:
    """Return the error for more k-mers with one prefix than memory holds."""
    return AllocationError(
        f"{count:,} k-mers begin with the same letters, and there is room for {most:,}; raise `max_memory`"
    )


def split_prefixes(counts: NDArray[np.integer], most: int) -> list[tuple[int, int]]:
    """Cut prefixes into ranges of at most `most` k-mers each, as long as can be.

    Parameters
    ----------
    counts : int (prefixes,)
        K-mers of each.
    most : int

    Returns
    -------
    list of (int, int)
        The first prefix of each range and the one behind its last; ranges without k-mers are left out.

    Raises
    ------
    AllocationError
        One prefix has more.
    """
    if counts.max(initial=0) > most:
        raise no_room(int(counts.max()), most)
    before = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    ranges, low = [], 0
    while low < len(counts):
        high = int(np.searchsorted(before, before[low] + most, side="right")) - 1
        if before[high] > before[low]:
            ranges.append((low, high))
        low = high
    return ranges


# How k-mers are counted


@dataclass(frozen=True)
class SortPlan:
    """Counting by sorting, of streams that have so many groups of 32 symbols in all."""

    k: int
    groups: int

    def room(self, free: int) -> int:
        """Return how many k-mers can be counted at a time in so many bytes.

        A k-mer is there twice at most, beside counts, places and their like (`primitives.count_equal`) and the starts
        of the range.
        """
        return max(0, (free - 8 * self.groups) // (2 * 8 * key_words(self.k) + 21))


# What goes to disk


def runs_at_a_time(limits: DeviceLimits, k: int, max_files: int | None) -> int:
    """Return how many temporary runs to merge at a time: for how many there are memory and files.

    Parameters
    ----------
    limits : DeviceLimits
    k : int
    max_files : int or None
        Files that the process may have open; None if any number.
    """
    at_hand = max(MIN_MERGE_BYTES, min(limits.budget // 2, MAX_MERGE_BYTES))
    fit = at_hand // (SECTIONS_AT_HAND * SECTION_KMERS * (8 * key_words(k) + 4))
    if max_files is not None:
        fit = min(fit, max_files // FILE_SHARE)
    return max(MIN_RUNS, min(MAX_RUNS, fit))
