"""Decisions of builds and of queries: pure arithmetic on sizes and limits, tested without a device.

*Windows and lengths.* How many windows a sequence has, and how many of a target's a read may hit.

*Features.* A read with n k-mers has about n * `sketchlen` / `winstride` features that a target could have as well.

*Hits.* A k-mer of another world is in a database of G bases with probability G / (4^k / 2); so many features match by
chance, and a chance match goes on into h of them, as neighbouring k-mers overlap, with `_GOES_ON`^(h - 1). A read needs
the smallest h for which the expected number is at most `CHANCE`: 2 for virus databases, 3 for tens of Mbp, 6 for 100 bp
reads and a hundred Gbp.

*Lead.* A candidate whose hits come close to the best one's counts for the lowest common ancestor. Reads of a species
that is not in the database hit its neighbours about equally often; the longer the read is, the further their hits lie
apart by chance, and the further those of known species do by right. So the lead is one hit and one more for every 16
features, rounded, and never less than two: a lead of one hit is right in only 40 % of the reads. Hits and lead were
chosen on simulated sets; see docs/how/classify.md.

*Memory.* How much text, how many pairs, locations and reads go through a device at a time.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import QueryOptions, SketchOptions
from oclgenomics.errors import AllocationError, readable_bytes
from oclgenomics.io.siphash import BLOCK_BYTES

if TYPE_CHECKING:
    from oclgenomics.runtime import DeviceLimits


# Building
MIN_BLOCK, CPU_BLOCK, GPU_BLOCK = 1 << 16, 4 << 20, 64 << 20  # bytes of text; a larger one saves a CPU nothing
TEXT_SHARE = 4  # one part in so many of the memory for blocks of text and their sketches
TEXT_COPIES = 8  # of a block: as it is read, three of them at most, its letters, and what is known of its tiles
FEATURE_BYTES, SUM_BYTES = 4, 8  # SUM_BYTES: the checksum of a block of a file
SKETCH_BYTES = 5  # of a feature: memory for sketches is taken a quarter larger than the largest block so far needs
MAX_FEATURES = 1 << 31  # of a block: they are numbered by 32 bits
PAIR_BYTES = 8
BYTES_OF_PAIR = 2 * PAIR_BYTES + FEATURE_BYTES  # twice while they are sorted; or once next to the lists they come from
SMALL_BYTES = 1 << 20  # sums of tiles and their like
MIN_PAIRS, MAX_PAIRS = 1 << 16, (1 << 32) - 1  # places are 32 bits
ENDS_SHARE = 2  # records end with a window that is not whole: one more in so many, of those that a text has otherwise
CPU_PAIRS = 1 << 27  # a run of 1 GiB; a longer one is sorted no faster

# Prefixes of keys
MIN_PREFIX, MAX_PREFIX = 16, 26  # bits: an entry of the index has so many for the number of a feature's locations
ENTRY_BYTES, TABLE_BYTES, LOCATION_BYTES = 8, 4, 4
MAX_LOCATIONS_OF_FEATURE = (1 << 16) - 1  # in the file
MAX_LOCATIONS_OF_INDEX = (1 << 32) - 1  # where lists start is 32 bits
BLOCK_WINDOWS = 64  # targets.clh
PREFIX_KEYS = 4  # keys with one prefix at most, on average: their entries are next to each other in memory
# At a time. Small copies to GPUs are slow; on CPUs pieces take memory, as the index does.
LOADED_FEATURES = {"cpu": 1 << 16, "gpu": 1 << 21}
KNOWN_OF_TARGET = 64  # words of a target: its blocks, and what is known of the clades that it is in
LOADED_LOCATIONS = {"cpu": 1 << 18, "gpu": 1 << 23}
LOADING_BYTES = 4 + 2 + 8  # of a feature on its way into the index: key, count, places

# A filter of the features that many reads have, of a database that does not fit
FILTERED = 16  # bits for each, so that of other features one in so many passes at most
MIN_FILTER, MAX_FILTER = 16, 32  # bits of keys
MIN_STREAMED, MAX_STREAMED = 1 << 14, 1 << 26  # features of reads that the database is read for once
POPULOUS = (
    2  # features that reads have may have so many times as many locations as others, or reads are fewer at a time
)

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

# Reads that are classified
CHANCE = 0.01  # matches that a read is expected to have with what is not related to it; half as many are found
MIN_HITS = 2
MIN_LEAD = 2
LEAD_FEATURES = 16
LONG_LEAD_FEATURES = 8  # of those without an error, in long reads
_LOCATABLE = 0.8  # of the features that a read could share with a window, those that its own windows choose
_ROUNDING = 1e-9  # of products that are whole numbers
_GOES_ON = 0.1  # measured: chance hits of h + 1 features among those of h

ItemT = TypeVar("ItemT", bound=np.generic)


def by_length(
    values_of: Callable[[NDArray[np.int64]], NDArray[ItemT]], lengths: NDArray[np.integer[Any]]
) -> NDArray[ItemT]:
    """Return `values_of(lengths)`.

    Reads are many and their lengths are few: often all have one, which has one value. Else the values of all lengths up
    to the longest one make a table, unless that has more rows than there are reads.

    Parameters
    ----------
    values_of : callable
        Takes lengths and returns a value for each, which depends on that length alone.
    lengths : ndarray of int (reads,)
        Letters, 0 or more.
    """
    longest = int(lengths.max(initial=0))
    if len(lengths) and lengths.min() == longest:
        return np.full(len(lengths), values_of(np.array([longest]))[0])
    if longest >= len(lengths):
        return values_of(lengths.astype(np.int64))
    return values_of(np.arange(longest + 1)).take(lengths)


def count_windows(letters: NDArray[np.int64], options: SketchOptions) -> NDArray[np.int64]:
    """Return the number of windows of sequences.

    Windows start at multiples of `winstride`. Whole ones follow each other as long as they fit; the one behind them
    has what is left. A window of fewer than `kmerlen` letters is none.

    Parameters
    ----------
    letters : ndarray, int64
        Lengths of sequences.
    options : SketchOptions
    """
    whole = np.maximum(letters - options.winlen, -1) // options.winstride + 1
    whole = np.where(letters < options.winlen, 0, whole)
    left = letters - whole * options.winstride
    complete = letters == options.winlen  # nothing is left of a sequence that is one window
    return np.where(complete, 1, whole + (left >= options.kmerlen))


def range_widths(letters: NDArray[np.integer[Any]], insertsize: int, winstride: int) -> NDArray[np.uint32]:
    """Return how many neighbouring windows of a target each read may hit, uint32 (reads,).

    Parameters
    ----------
    letters : ndarray of int (reads,)
        Of a read, or of both mates together.
    insertsize : int
    winstride : int
        Of the database.
    """
    return by_length(lambda sizes: (2 + np.maximum(sizes, insertsize) // winstride).astype(np.uint32), letters)


def left_out(letters: NDArray[np.integer[Any]], options: QueryOptions) -> NDArray[np.bool_]:
    """Say which reads are too short or too long to be classified, bool (reads,)."""
    longest = options.max_readlen or np.iinfo(np.int64).max
    return (letters < options.min_readlen) | (letters > longest)


def needed_hits(
    kmers: NDArray[np.integer[Any]], windows: int, sketch: SketchOptions, options: QueryOptions
) -> NDArray[np.uint32]:
    """Return the hits that each read needs to be classified, uint32 (reads,).

    Parameters
    ----------
    kmers : ndarray of int (reads,)
        K-mers of the reads, those of mates together; see `Reads.kmers`.
    windows : int
        Of all targets.
    sketch : SketchOptions
        Of the database.
    options : QueryOptions
        `hitmin`, if given, is what every read needs. With `confidence`, the hits that it takes if these are more.
    """
    needed = _usual_hits(kmers, windows, sketch, options)
    if not options.confidence:
        return needed

    def of(counts: NDArray[np.int64]) -> NDArray[np.uint32]:
        return np.ceil(options.confidence * shared_features(counts, sketch) - _ROUNDING).astype(np.uint32)

    return np.maximum(needed, by_length(of, kmers))


def _usual_hits(
    kmers: NDArray[np.integer[Any]], windows: int, sketch: SketchOptions, options: QueryOptions
) -> NDArray[np.uint32]:
    """The hits that the options give, or that chance seldom does."""
    if options.hitmin is not None:
        return np.full(len(kmers), options.hitmin, np.uint32)
    known = windows * sketch.winstride / (4**sketch.kmerlen / 2)

    def of(counts: NDArray[np.int64]) -> NDArray[np.uint32]:
        expected = np.maximum(_LOCATABLE * known * shared_features(counts, sketch) / CHANCE, 1e-9)
        hits = 1 + np.ceil(np.log(expected) / -math.log(_GOES_ON))
        return np.asarray(np.maximum(hits, MIN_HITS), np.uint32)

    return by_length(of, kmers)


def needed_lead(
    kmers: NDArray[np.integer[Any]], sketch: SketchOptions, options: QueryOptions
) -> NDArray[np.uint32] | None:
    """Return the hits by which a read's best candidate has to lead, uint32 (reads,).

    Candidates with more hits than the best one less its lead count for the lowest common ancestor. MetaCache's lead is
    the hits that a read needs: None if the options give them.

    Of long reads with a known rate of errors the lead is an eighth of the features without an error. Reads of species
    without a reference have hits of several relatives, whose numbers differ by a share of these features; what a read
    has of them is few where errors are many, and a lead in proportion to the length alone is then too long.
    """
    if options.hitmin is not None:
        return None

    whole = 1 / LEAD_FEATURES
    if options.error_rate:
        whole = (1 - options.error_rate) ** sketch.kmerlen / LONG_LEAD_FEATURES

    def of(counts: NDArray[np.int64]) -> NDArray[np.uint32]:
        lead = 1 + np.floor(shared_features(counts, sketch) * whole + 0.5)
        return np.asarray(np.maximum(lead, MIN_LEAD), np.uint32)

    return by_length(of, kmers)


def shared_features(kmers: NDArray[np.integer[Any]], sketch: SketchOptions) -> NDArray[np.float64]:
    """Return the features that reads of so many k-mers could have in common with a target, float64 (reads,)."""
    return kmers * np.float64(sketch.sketchlen / sketch.winstride)


def confidences(hits: NDArray[np.uint32], kmers: NDArray[np.integer[Any]], sketch: SketchOptions) -> NDArray[np.int64]:
    """Return the confidence of reads with so many hits in thousandths, int64 (reads,).

    It is the share of `shared_features` that are hits, 1 at most; see `QueryOptions.confidence`.
    """
    able = np.maximum(shared_features(kmers, sketch), _ROUNDING)
    return np.minimum(np.floor(1000 * hits / able + _ROUNDING), 1000).astype(np.int64)


@dataclass(frozen=True)
class BuildPlan:
    """How much is done at a time.

    Attributes
    ----------
    block_bytes : int
        Bytes of text that are read.
    pairs : int
        Pairs of features and windows that are sorted.
    """

    block_bytes: int
    pairs: int


def plan_build(limits: DeviceLimits, options: SketchOptions, letters: int | None, max_locations: int) -> BuildPlan:
    """Plan the building of a database.

    Parameters
    ----------
    limits : DeviceLimits
    options : SketchOptions
    letters : int, optional
        Of all references, as far as known: more do no harm. Room for more pairs than they have is not taken.
    max_locations : int
        Of a feature.

    Raises
    ------
    AllocationError
        The memory is too small to build anything.
    """
    text = limits.budget // TEXT_SHARE
    # A window is a stride of letters, or a record that is longer than a k-mer, with its header and line breaks.
    per_window = min(options.winstride, options.kmerlen + 3)
    sketch_bytes = -(-SKETCH_BYTES * options.sketchlen // per_window)
    largest = limits.max_allocation // max(2, sketch_bytes)
    largest = min(largest, MAX_FEATURES * per_window // options.sketchlen)
    block = min(CPU_BLOCK if limits.cpu else GPU_BLOCK, text // (TEXT_COPIES + sketch_bytes), largest)
    fit = (limits.budget - text - SMALL_BYTES) // BYTES_OF_PAIR
    pairs = min(fit, limits.max_allocation // PAIR_BYTES, CPU_PAIRS if limits.cpu else MAX_PAIRS)
    least = max(MIN_PAIRS, 2 * max_locations)
    if block < MIN_BLOCK or pairs < least:
        raise AllocationError(
            f"{limits.budget:,} bytes of memory, {limits.max_allocation:,} in one buffer, are too few to build a "
            "database; raise `max_memory`"
        )
    if letters is not None:
        wanted = (letters + letters // ENDS_SHARE) // options.winstride * options.sketchlen
        pairs = max(min(pairs, wanted), least)
    return BuildPlan(block, pairs)


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
        loading += SUM_BYTES * (FEATURE_BYTES * (features + locations) // BLOCK_BYTES) + 3 * BLOCK_BYTES
        return cls(entries + lists + table + blocks + known + loading, max(entries, lists, table))


def counting_bytes(shape: Literal["cpu", "gpu"], step_locations: int, windows: int, targets: int) -> int:
    """Return the memory that counting the features of clades takes on a device that holds the features.

    Parameters
    ----------
    shape : {'cpu', 'gpu'}
    step_locations : int
        Locations of the smallest piece at most.
    windows, targets : int
    """
    nodes = 2 * LOCATION_BYTES * max(LOADED_LOCATIONS[shape], step_locations)
    known = 4 * (windows // BLOCK_WINDOWS + KNOWN_OF_TARGET * (targets + 1))
    return nodes + SUM_BYTES * LOADED_FEATURES[shape] + known + SMALL_BYTES


@dataclass(frozen=True)
class IndexSizes:
    """How much a database holds.

    Attributes
    ----------
    features, windows, targets : int
    """

    features: int
    windows: int
    targets: int

    def need(self, locations: int) -> IndexNeed:
        """Return what the index of a part with so many locations takes at most."""
        return IndexNeed.of(min(locations, self.features), locations, self.windows, self.targets)

    def fit(self, locations: int, limits: DeviceLimits) -> bool:
        """Say whether the index of a part with so many locations fits."""
        need = self.need(locations)
        within = need.all <= limits.budget and need.largest <= limits.max_allocation
        return within and locations <= MAX_LOCATIONS_OF_INDEX


@dataclass(frozen=True)
class FilterSizes:
    """How much of a database passes a filter of the features that reads have.

    Attributes
    ----------
    bits : int
        First bits of keys that the filter looks at.
    features, in_lists : int
        That pass: so many features at most but for bad luck, and so many locations in lists usually.
    """

    bits: int
    features: int
    in_lists: int

    @classmethod
    def of(cls, sought: int, alive: int, in_lists: int) -> FilterSizes:
        """Return what passes a filter of so many features, of those with locations, and of locations in lists."""
        bits = min(max((FILTERED * sought).bit_length(), MIN_FILTER), MAX_FILTER)
        by_chance = alive * sought >> bits
        features = min(sought + by_chance + by_chance // 8 + MIN_STREAMED, alive)
        lists = POPULOUS * in_lists * features // max(alive, 1) + MAX_LOCATIONS_OF_FEATURE
        return cls(bits, features, min(lists, in_lists, MAX_LOCATIONS_OF_INDEX))

    def need(self, bucket_bits: int, windows: int, targets: int) -> IndexNeed:
        """Return what the filter, and an index of what passes, take of the device's memory."""
        need = IndexNeed.of(self.features, self.in_lists, windows, targets)
        table = TABLE_BYTES * ((1 << max(prefix_bits(self.features), bucket_bits)) + 1)
        words = (1 << self.bits) // 8
        return IndexNeed(need.all + table + words, max(need.largest, table, words))


def streamed_features(
    alive: int, in_lists: int, bucket_bits: int, windows: int, targets: int, limits: DeviceLimits
) -> int:
    """Return how many features of reads a database is read for once; 0 if the device has no room for that.

    Parameters
    ----------
    alive, in_lists : int
        Features of the database that have locations, and locations of those that have several.
    bucket_bits : int
        See `database.packing.Widths`.
    windows, targets : int
        Of the database.
    limits : DeviceLimits
    """
    sought = MAX_STREAMED
    while sought >= MIN_STREAMED:
        need = FilterSizes.of(sought, alive, in_lists).need(bucket_bits, windows, targets)
        if need.all <= limits.budget and need.largest <= limits.max_allocation:
            return sought
        sought //= 2
    return 0


def target_ranges(
    low: NDArray[np.int64], high: NDArray[np.int64], sizes: IndexSizes, limits: DeviceLimits, names: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Cut a row of targets into ranges whose indices fit, as few as there can be.

    Parameters
    ----------
    low, high : ndarray, int64 (targets + 1,)
        Locations in targets before each one: so many at least, and at most.
    sizes : IndexSizes
        Of the database.
    limits : DeviceLimits
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
        end = begin + bisect_left(ends, True, key=lambda end: not sizes.fit(int(high[end] - low[begin]), limits))
        if end == begin:
            asked = readable_bytes(sizes.need(int(high[begin + 1] - low[begin])).all)
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
