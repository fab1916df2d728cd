"""Memory decisions of counting: pure arithmetic on a device's limits, tested without a device.

A block of text is small enough that all k-mers of one fit beside it. The symbols of blocks are kept until memory says
that it is time to count them (`has_room`). They are counted by bins or by sorting (`counter_for`), as many k-mers at a
time as there is room for; where that is not all of them, in ranges of prefixes (`split_prefixes`). What one counter
does not take goes to temporary runs, some of which are merged at a time (`runs_at_a_time`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import AllocationError
from oclgenomics.kmers.database.layout import SECTION_KMERS
from oclgenomics.kmers.keys import key_words
from oclgenomics.primitives.keys import MAX_ITEMS
from oclgenomics.runtime import Engine

__all__ = [
    "PREFIX_BITS",
    "BinPlan",
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
MAX_RANGES = 32  # each cuts all k-mers again: more would cost more than larger, hence fewer, runs save

# Bins
PREFIX_BITS = 32
MAX_BITS = 15  # of the prefix are counted at first: the counts of a work-item fit the second cache
FINER_BITS = 10  # that a prefix with too many k-mers is divided by at a time
COUNTS_SHARE = 64  # of the device's memory, which the counts may take
SPARE = 8  # bytes behind k-mers, as whole words are read and written
PART_BYTES, MIN_PARTS, MAX_PARTS = 4 << 20, 8, 64  # a range comes out in a part for each so many bytes of memory
BIN_BYTES = 40  # that describe a bin
BIN_SIZE = 1 << 15  # fewer k-mers make more bins, whose lines and pages no longer fit the caches while they are filled
MIN_KEY_BYTES = 4

# Tables of bins
MAX_SLOTS, MIN_SLOTS = 1 << 17, 1 << 8
TABLES_SHARE = 8  # of the device's memory, which the tables may take
PROBES = 128  # slots that a k-mer may have to look at

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
    return min(room, largest, MAX_ITEMS)


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

        A k-mer is there twice while it is sorted, beside the counts of the sort's tiles and the starts of the range;
        then once more with its place and count where none is like it.
        """
        return max(0, (free - 8 * self.groups) // (3 * 8 * key_words(self.k) + 8))


@dataclass(frozen=True)
class BinPlan:
    """Counting by bins, of so many k-mers, equal ones included."""

    limits: DeviceLimits
    k: int
    kmers: int = 0

    @property
    def walkers(self) -> int:
        """Work-items that walk the symbols."""
        return 4 * self.limits.compute_units

    @property
    def first_bits(self) -> int:
        """Bits of the prefix by which k-mers are counted at first."""
        room = self.limits.budget // (COUNTS_SHARE * 4 * self.walkers)
        return min(MAX_BITS, 2 * self.k, max(1, room.bit_length() - 1))

    def finer_bits(self, shift: int) -> int:
        """Bits by which a prefix of all but its last `shift` bits is divided; 0 where it is a k-mer."""
        return min(FINER_BITS, shift, 2 * self.k - PREFIX_BITS + shift)

    @property
    def head_bits(self) -> int:
        """Bits of a prefix that make bins of a good size."""
        wanted = max(1, (self.kmers // self.bin_size).bit_length())
        return min(wanted, self.first_bits)

    @property
    def key_bytes(self) -> int:
        """Bytes that are kept of a k-mer in a bin: those in which k-mers of a bin may differ."""
        return max(MIN_KEY_BYTES, -(-(2 * self.k - self.head_bits) // 8))

    @property
    def parts(self) -> int:
        """Parts that a range comes out in: few where memory is little, as each takes some launches."""
        return min(max(MIN_PARTS, self.limits.budget // PART_BYTES), MAX_PARTS)

    @property
    def bin_size(self) -> int:
        """K-mers of a bin at best."""
        return min(self.slots, BIN_SIZE)

    @cached_property
    def slots(self) -> int:
        """Slots of a table, of which each compute unit has one; fewer where there is little memory."""
        share = min(self.limits.budget // TABLES_SHARE, self.limits.max_allocation // 2)
        room = share // (self.limits.compute_units * self._slot_bytes)
        return max(MIN_SLOTS, min(MAX_SLOTS, 1 << room.bit_length() >> 1))

    @property
    def probes(self) -> int:
        """Slots that a k-mer may have to look at; so many follow the table's last one."""
        return PROBES

    @property
    def table_bytes(self) -> int:
        """Bytes of all tables."""
        return self.limits.compute_units * (self.slots + self.probes) * self._slot_bytes

    @property
    def _slot_bytes(self) -> int:
        return 8 * key_words(self.k) + 4

    def keys_bytes(self, kmers: int) -> int:
        """Bytes of the bins of so many k-mers."""
        return kmers * self.key_bytes + SPARE

    def room(self, free: int) -> int:
        """Return how many k-mers can be counted at a time in so many bytes.

        Beside all k-mers of a range there are, of a part of them, the distinct k-mers with their counts, once more
        where some are left out; of that part and the next one, counts and what describes the bins, which hold a k-mer
        each at worst; and the places of the bins and the tables.
        """
        places = 2 * 4 * self.walkers << self.first_bits
        each = self.key_bytes + (2 * (self._slot_bytes + 5 + BIN_BYTES)) / self.parts
        return max(0, int((free - SPARE - self.table_bytes - places) / each))


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
