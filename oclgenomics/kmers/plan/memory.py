"""Memory decisions of counting: pure arithmetic on a device's limits, tested without a device.

A block of text is small enough that all k-mers of one fit with it. The symbols of blocks are kept until memory says
that it is time to count them (`has_room`). They are counted by bins or by sorting (`counter_for`), as many k-mers at a
time as there is room for; where that is not all of them, in ranges of prefixes (`split_prefixes`). What one counter
does not take goes to temporary runs, some of which are merged at a time (`runs_at_a_time`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import AllocationError
from oclgenomics.kmers.database import vlq
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.layout import SECTION_KMERS
from oclgenomics.kmers.database.simple8b import STRETCH
from oclgenomics.runtime.memory import BufferNeed, items_that_fit

if TYPE_CHECKING:
    from oclgenomics.runtime import DeviceLimits


Counter = Literal["bins", "sort"]

# Blocks of text
MIN_BLOCK = 1 << 15
BLOCK_SHARE = 64  # blocks of text for each word of a k-mer: all k-mers of one fit into the memory that is left
BINNED_WORDS = 3  # of a k-mer in a bin take no more room than a word of one to be sorted

# Symbols that are kept
SMALL_BYTES = 1 << 16  # for counts of tiles, totals of spans and their like
STREAM_BYTES = (
    1 << 18
)  # that are kept of a stream, in addition to a byte for each of its k-mers and half of one for the next
MAX_KMERS = (1 << 32) - 1  # that are sorted at a time: their places are 32 bits (`primitives.keys.MAX_ITEMS`)
MAX_RANGES = 32  # each cuts all k-mers again: more would cost more than larger, hence fewer, runs save

# Merging on a device
MERGED_ON_CPU, MERGED_ON_GPU = 1 << 22, 1 << 24  # k-mers that come at a time: within reach of caches, or many sections
MERGED_BYTES = 8  # of the room for encoded sections, for each of these k-mers

# Temporary runs
MAX_RUNS, MIN_RUNS = 64, 2  # merged at a time
MIN_MERGE_BYTES, MAX_MERGE_BYTES = 64 << 20, 512 << 20  # of k-mers that a merge has at hand
SECTIONS_AT_HAND = 3  # of a run: read ahead, in the making, and being merged
FILE_SHARE = 4  # of the files that may be open, one in so many for the runs of a level
# Sections of databases
TALLIED = 1024  # counts below are tallied on the device, the few others brought to the host
STRETCHES = SECTION_KMERS // STRETCH  # of a section's counts
MIN_SECTIONS = 8  # that the device has to hold before it is worth the memory to encode there
SHARE = 4  # of the sections that fit, one in so many is worked on: others use the memory, too
MAX_KEY_BYTES = 1 << 28  # at a time on GPUs: a work-item takes milliseconds for a section, so there have to be many
MAX_ROOM_BYTES = 1 << 27  # of encoded sections on CPU devices, of which a half or less is ever touched
SECTIONS_EACH = 2  # at a time for each core of a CPU device
MIN_ENCODED, MIN_DECODED = 16, 16  # at a time on CPU devices, if they fit
MIN_MARKED_DECODED = 64  # the same of keys of one word where only marked ones stay
LEAST_ROOM_BYTES = 20 << 20  # that so many sections may take
MAX_HELD = 4  # sections that are gathered on CPU devices where runs are short
SPARE = 16  # bytes, as eight are written at a time and whole words read
PREFIX_KMERS = 2  # of a table with the same prefix on average, at least: few have more than are compared together
TABLE_SHARE = 2  # of the memory, one part in so many is for the table
MAX_TABLE = 1 << 31  # of a table: its places are numbered with 32 bits
MARK_BITS = 17  # of a block of marks, which is in the first cache (key_table.clh)
MARKS_EACH = 1 << 12  # marks for each byte of files, at most: a false one in so many
MAX_MARK_PREFIX = 32 - MARK_BITS  # bits: marks are numbered with 32
MARK_SHARE = 8  # of the memory, one part in so many at most for marks
MARKED = 8  # k-mers of a set for each base of sequences, from which on these are marked first
SOUGHT = 64  # marked k-mers for each section, up to which the sections of k-mers are found one by one
MIN_MARKED = 1 << 22  # k-mers of such a set: a table of fewer is made in no time
MAX_LOOK_UP, MIN_LOOK_UP = 16 << 20, 1 << 16  # bytes of text that are looked up at a time
MIN_DECODING = 128 << 20  # bytes of memory, with which sections of a database are decoded on the device; else by NumPy
UPLOAD_SHARE, MAX_UPLOAD = 32, 1 << 20  # of the memory, one part in so many for k-mers on their way; k-mers at most
MAX_CPU_QUERY = 2 << 20  # bytes of text of a query on CPUs, so that memory of counts is used again
LOOK_UP_SHARE = 32  # blocks of text that memory would hold: of two inputs, two each, with lines, places and counts


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
    """Return the bytes that k-mers may take in addition to those in use and those that are kept for something else."""
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
        f"{count:,} k-mers begin with the same bases, and there is room for {most:,}; raise `max_memory`"
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

        A k-mer is there twice at most, in addition to counts, places and their like (`primitives.count_equal`) and the
        starts of the range.
        """
        return max(0, (free - 8 * self.groups) // (2 * 8 * key_words(self.k) + 21))


# What goes to disk


def runs_at_a_time(limits: DeviceLimits | None, k: int, max_files: int | None) -> int:
    """Return how many temporary runs to merge at a time: for how many there are memory and files.

    Parameters
    ----------
    limits : DeviceLimits or None
        None where no device is at work.
    k : int
    max_files : int or None
        Files that the process may have open; None if any number.
    """
    most = MAX_MERGE_BYTES if limits is None else limits.budget // 2
    at_hand = max(MIN_MERGE_BYTES, min(most, MAX_MERGE_BYTES))
    fit = at_hand // (SECTIONS_AT_HAND * SECTION_KMERS * (8 * key_words(k) + 4))
    if max_files is not None:
        fit = min(fit, max_files // FILE_SHARE)
    return max(MIN_RUNS, min(MAX_RUNS, fit))


@dataclass(frozen=True)
class MergePlan:
    """How sets are merged on a device.

    Attributes
    ----------
    kmers : int
        That come at a time, at most.
    room_bytes : int
        That their sections take, at most; two such rooms are in use.
    """

    kmers: int
    room_bytes: int


def merge_plan(limits: DeviceLimits, k: int, used: int, sets: Sequence[int], stretch: int) -> MergePlan | None:
    """Return how sets are merged on a device; None where its memory is too small for it to be worth while.

    What comes is merged with what is left of the k-mers before: of each set one stretch at most. All of them are there
    twice, with the sums that they become, and what these are made of.

    Parameters
    ----------
    limits : DeviceLimits
    k : int
    used : int
        Bytes in use.
    sets : sequence of int
        K-mers of each.
    stretch : int
        Sections that come together.
    """
    words, largest = key_words(k), stretch * SECTION_KMERS
    left = sum(min(kmers, largest) for kmers in sets)
    most = max(left, min(sum(sets), MERGED_ON_CPU if limits.cpu else MERGED_ON_GPU))
    room = max(MERGED_BYTES * words * most, stretch * SectionPlan(limits, k).max_bytes) + SPARE
    fit = (limits.budget - used - 2 * room) // (3 * (8 * words + 4) + 12)
    kmers = min(most, fit - left, limits.max_allocation // (8 * words) - left)
    return MergePlan(kmers, room) if kmers >= left and room <= limits.max_allocation else None


@dataclass(frozen=True)
class SectionPlan:
    """Sections of k-mers of so many bases on a device, of which some bytes are in use.

    Raises
    ------
    AllocationError
        From all methods: the device's memory does not hold a section.
    """

    limits: DeviceLimits
    k: int
    used: int = 0

    @property
    def max_bytes(self) -> int:
        """Bytes that gaps and counts of a section take at most."""
        return SECTION_KMERS * (8 + vlq.max_bytes(key_words(self.k)))

    @property
    def room_bytes(self) -> int:
        """Bytes that are kept for an encoded section on CPU devices, whole words."""
        return -(-self.max_bytes // 8) * 8 + SPARE

    @property
    def worth_encoding(self) -> bool:
        """Whether to encode on the device: not where what a section takes would be much of its memory."""
        return self.limits.budget >= MIN_SECTIONS * (self._key_bytes + 4 * SECTION_KMERS + 2 * self.max_bytes)

    def encode(self) -> int:
        """Sections to encode at a time."""
        return self._encode_on_cpu() if self.limits.cpu else self._encode_on_gpu()

    def held(self) -> int:
        """Sections to gather where runs are short."""
        return min(MAX_HELD, self.encode()) if self.limits.cpu else self.encode()

    def decode(self, *, marked: bool = False) -> int:
        """Sections to decode at a time, of all of whose k-mers or of marked ones, which take little of their room."""
        fit = self._fit(BufferNeed("sections", per_item=self.max_bytes + SPARE))
        least = max(MIN_DECODED, MIN_MARKED_DECODED // key_words(self.k)) if marked else MIN_DECODED
        most = self._for_cores(least) if self.limits.cpu else MAX_KEY_BYTES // self._key_bytes
        return max(1, min(most, fit // SHARE))

    def _encode_on_cpu(self) -> int:
        fit = self._fit(
            BufferNeed("sections", per_item=self.room_bytes, copies=2),
            BufferNeed("tallies", per_item=4 * (TALLIED + 2), copies=2),
            BufferNeed("large counts", per_item=4 * SECTION_KMERS, copies=2),
            BufferNeed("counts", per_item=4 * SECTION_KMERS),
        )
        least = min(MIN_ENCODED, max(1, LEAST_ROOM_BYTES // self.room_bytes))
        return max(1, min(self._for_cores(least), MAX_ROOM_BYTES // self.room_bytes, fit // SHARE))

    def _encode_on_gpu(self) -> int:
        fit = self._fit(
            BufferNeed("places", fixed=1 << 14, per_item=4 * (SECTION_KMERS + STRETCHES), copies=2),
            BufferNeed("sections", fixed=SPARE, per_item=self.max_bytes, copies=2),
        )
        return max(1, min(MAX_KEY_BYTES // self._key_bytes, fit // SHARE))

    @property
    def _key_bytes(self) -> int:
        return 8 * key_words(self.k) * SECTION_KMERS

    def _for_cores(self, least: int) -> int:
        return max(SECTIONS_EACH * self.limits.compute_units, least)

    def _fit(self, *needs: BufferNeed) -> int:
        """Sections that fit in addition to what is in use, with their k-mers."""
        kmers = [BufferNeed("keys", per_item=self._key_bytes), BufferNeed("counts", per_item=4 * SECTION_KMERS)]
        free = self.limits.budget - self.used
        largest = self.limits.max_allocation
        return items_that_fit([*kmers, *needs], budget=free, max_allocation=largest, item="section of k-mers")


def prefix_bits(kmers: int, k: int) -> int:
    """Return the bits of prefixes by which the k-mers of a table are found."""
    return max(1, min(2 * k, (kmers // PREFIX_KMERS).bit_length() - 1))


def table_room(limits: DeviceLimits, k: int, *, with_counts: bool = False) -> int:
    """Return how many k-mers a table may have, with or without their counts.

    Raises
    ------
    AllocationError
        Memory has no room for a table of any use.
    """
    needs = [
        BufferNeed("a table's keys", fixed=1 << 10, per_item=8 * key_words(k)),
        BufferNeed("a table's prefixes", fixed=1 << 10, per_item=2),
    ]
    if with_counts:
        needs.append(BufferNeed("a table's counts", fixed=1 << 10, per_item=4))
    fit = items_that_fit(needs, budget=limits.budget // TABLE_SHARE, max_allocation=limits.max_allocation, item="k-mer")
    return min(fit, MAX_TABLE)


def marked_room(room: int, kmers: int) -> tuple[int, int]:
    """Return how many k-mers a table of the marked ones may have, and how many to make room for at first.

    Parameters
    ----------
    room : int
        K-mers of any table at most. A table that is enlarged is there twice meanwhile, with half of its new room.
    kmers : int
        That were marked.
    """
    most = max(1, room * 2 // 3)
    return most, min(most, 2 * kmers + MIN_LOOK_UP)


def most_marked(distinct: int) -> int:
    """Return how many bases sequences may have whose k-mers are marked before a set is read; 0 if none."""
    return distinct // MARKED if distinct >= MIN_MARKED else 0


def mark_prefix_bits(limits: DeviceLimits, k: int, distinct: int, file_bytes: int) -> int:
    """Return the bits of the prefixes of marks: one mark or two for each k-mer of a set, as memory allows.

    Fewer are enough for files of few bytes.
    """
    most = min(limits.budget // MARK_SHARE * 8, limits.max_allocation * 8)
    marks = min(distinct, MARKS_EACH * file_bytes)
    wanted = min(marks.bit_length(), most.bit_length() - 1) - MARK_BITS
    return max(1, min(wanted, MAX_MARK_PREFIX, 2 * k))


def finds_sections(kmers: int, sections: int) -> bool:
    """Say whether to find the section of each of so many marked k-mers, so that others are not read."""
    return kmers <= SOUGHT * sections


def look_up_block_bytes(limits: DeviceLimits, largest: int, inputs: int = 1) -> int:
    """Return the bytes of text to read at a time of each input, of which so many are read side by side.

    Parameters
    ----------
    limits : DeviceLimits
    largest : int
        Bytes that suit the device whatever is made of the text.
    inputs : int
    """
    return min(largest, MAX_LOOK_UP, max(MIN_LOOK_UP, limits.budget // (LOOK_UP_SHARE * inputs)))


def query_block_bytes(limits: DeviceLimits, largest: int) -> int:
    """Return the bytes of text of which the counts of all k-mers are brought to the host at a time."""
    return min(look_up_block_bytes(limits, largest, 2), MAX_CPU_QUERY if limits.cpu else MAX_LOOK_UP)


def decodes_on_device(limits: DeviceLimits) -> bool:
    """Say whether the device's memory has room for whole sections of a database next to a table and text."""
    return limits.budget >= MIN_DECODING


def kmers_to_upload(limits: DeviceLimits, k: int) -> int:
    """Return how many k-mers with counts to bring to the device at a time."""
    return max(1, min(MAX_UPLOAD, limits.budget // UPLOAD_SHARE // (8 * key_words(k) + 4)))
