"""Features in few bits: keys in buckets, without the bits that a bucket has in common, and windows as wide as needed.

Keys are spread evenly, so the first bits of a key are its bucket, and buckets have about as many features each. A list
of where the features and the locations of each bucket begin is what finds a feature among all of them. Numbers of a
fixed width lie one behind the other, the first bit of each the lowest one, without gaps, in words of 64 bits.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.database.features import STEP, Features
from oclgenomics.io.workers import Workers

if TYPE_CHECKING:
    from oclgenomics.classify.taxonomy.lineages import Lineages

KEY_BITS = 32
BUCKET_FEATURES = 64  # of a bucket at least, on average
WORD_BITS = 64
SPARE = 8  # bytes behind packed numbers that are read with the last ones
BUCKETS_TOGETHER = 1 << 14  # whose places a thread finds at a time
SUMMED = 1 << 16  # features whose locations a thread sums up at a time, in memory that need not come from the system
TOGETHER = 1 << 16  # numbers that are packed at a time, so that caches hold them; a multiple of WORD_BITS


@dataclass(frozen=True)
class Widths:
    """How many bits numbers have.

    Attributes
    ----------
    bucket : int
        The first bits of a key, which are the number of its bucket.
    location : int
        Of a location: its window above one bit, which says that it is the last one of its feature.
    """

    bucket: int
    location: int

    @classmethod
    def of(cls, features: int, windows: int) -> Widths:
        """Return the widths for so many features with locations, and windows of all targets."""
        return cls(max((features // BUCKET_FEATURES).bit_length() - 1, 0), max(windows - 1, 0).bit_length() + 1)

    @property
    def buckets(self) -> int:
        """How many there are."""
        return 1 << self.bucket

    @property
    def key(self) -> int:
        """Bits of a key that its bucket does not say."""
        return KEY_BITS - self.bucket


class PackedFeatures(NamedTuple):
    """Features as they lie in a file.

    Attributes
    ----------
    dead_keys : ndarray, uint32
        Keys of the features without locations, ascending.
    key_starts : ndarray, uint32 (buckets + 1,)
        Features with locations before each bucket, and all of them.
    location_starts : ndarray, uint64 (buckets + 1,)
        Locations before each bucket, and all of them.
    keys : ndarray, uint64
        The last bits of the keys of the features with locations.
    locations : ndarray, uint64
        `window << 1 | last` of all locations.
    """

    dead_keys: NDArray[np.uint32]
    key_starts: NDArray[np.uint32]
    location_starts: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    locations: NDArray[np.uint64]


class Packer(Protocol):
    """Packs the numbers of features, wherever that is done."""

    def starts(self, features: Features, widths: Widths, threads: Workers) -> NDArray[np.int64]:
        """Return how many keys, which ascend, there are before each bucket, and all of them, int64 (buckets + 1,)."""

    def located_before(self, features: Features, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many locations there are before some features.

        Parameters
        ----------
        features : Features
        places : ndarray, int64
            Of the features, ascending: 0 first, and the number of all features last.

        Returns
        -------
        ndarray, int64
        """

    def keys(self, features: Features, width: int) -> NDArray[np.uint64]:
        """Pack the last bits of keys."""

    def locations(self, features: Features, before: NDArray[np.int64], width: int) -> NDArray[np.uint64]:
        """Pack locations, with a flag for the last one of each feature.

        Parameters
        ----------
        features : Features
            All with locations.
        before : ndarray, int64
            Locations before every feature whose number is a multiple of `STEP`, and behind them all locations.
        width : int
        """


class CountingPacker(Packer, Protocol):
    """Packs the numbers of features, and counts features.

    Attributes
    ----------
    sums : dict of str to ndarray, uint64
        Checksums of the whole blocks of what was packed last, as far as they were made: of 'keys' and 'locations'.
    """

    sums: dict[str, NDArray[np.uint64]]

    def clades(self, features: Features, lineages: Lineages) -> NDArray[np.int64]:
        """Count the distinct features of each taxon and target, as `taxonomy.coverage.known_features` does."""


class HostPacker:
    """Packs numbers with threads of the host.

    Parameters
    ----------
    threads : Workers
    """

    def __init__(self, threads: Workers) -> None:
        self._threads = threads

    def starts(self, features: Features, widths: Widths, threads: Workers) -> NDArray[np.int64]:
        """Return how many keys there are before each bucket, and all of them."""
        return key_starts(features.keys, widths, threads)

    def located_before(self, features: Features, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many locations there are before some features."""
        counts = features.counts

        def between(part: tuple[int, int]) -> NDArray[np.int64]:
            some = places[part[0] : part[1] + 1]
            sums = np.zeros(int(some[-1] - some[0]) + 1, np.int64)
            np.cumsum(counts[some[0] : some[-1]], dtype=np.int64, out=sums[1:])
            found: NDArray[np.int64] = np.diff(sums[some - some[0]])
            return found

        sums = list(self._threads.map(between, parts_of(places, SUMMED)))
        return np.concatenate([np.zeros(1, np.int64), *sums]).cumsum()

    def keys(self, features: Features, width: int) -> NDArray[np.uint64]:
        """Pack the last bits of keys."""
        keys = features.keys
        return pack(lambda begin, end: keys[begin:end].astype(np.uint64), len(keys), width, self._threads)

    def locations(self, features: Features, before: NDArray[np.int64], width: int) -> NDArray[np.uint64]:
        """Pack locations, with a flag for the last one of each feature."""
        counts, locations = features.counts, features.locations

        def located(begin: int, end: int) -> NDArray[np.uint64]:
            numbers = locations[begin:end].astype(np.uint64) << np.uint64(1)
            low, high = np.searchsorted(before, begin, "right") - 1, np.searchsorted(before, end)
            ends = before[low] + np.cumsum(counts[low * STEP : high * STEP], dtype=np.int64)
            numbers[ends[(ends > begin) & (ends <= end)] - 1 - begin] |= np.uint64(1)
            return numbers

        return pack(located, len(locations), width, self._threads)


def pack_features(features: Features, windows: int, threads: Workers, packer: Packer | None = None) -> PackedFeatures:
    """Pack features.

    Parameters
    ----------
    features : Features
    windows : int
        Of all targets.
    threads : Workers
    packer : Packer, optional
        Packs numbers; if not given, the threads do.
    """
    dead_keys = np.empty(0, np.uint32)
    if features.counted(threads).dead:
        alive = features.counts > 0
        dead_keys = features.keys[~alive]
        features = Features(features.keys[alive], features.counts[alive], features.locations)
    packer = HostPacker(threads) if packer is None else packer
    widths = Widths.of(len(features), windows)
    starts = packer.starts(features, widths, threads)
    steps = np.append(np.arange(0, len(features), STEP), len(features))
    return PackedFeatures(
        dead_keys,
        starts.astype(np.uint32),
        packer.located_before(features, starts).astype(np.uint64),
        packer.keys(features, widths.key),
        packer.locations(features, packer.located_before(features, steps), widths.location),
    )


def key_starts(keys: NDArray[np.uint32], widths: Widths, threads: Workers) -> NDArray[np.int64]:
    """Return how many of some keys, which ascend, there are before each bucket, and all of them."""

    def before(first: int) -> NDArray[np.int64]:
        buckets = np.arange(first, min(first + BUCKETS_TOGETHER, widths.buckets), dtype=np.uint64)
        found: NDArray[np.int64] = np.searchsorted(keys, (buckets << np.uint64(widths.key)).astype(np.uint32))
        return found

    return np.append(np.concatenate(list(threads.map(before, range(0, widths.buckets, BUCKETS_TOGETHER)))), len(keys))


def parts_of(places: NDArray[np.int64], features: int) -> list[tuple[int, int]]:
    """Cut ranges, each from one place to the next, into parts of about so many features, or of one range."""
    cuts = np.searchsorted(places[:-1], np.arange(0, int(places[-1]) + 1, features))
    cuts = np.append(np.unique(cuts[cuts < len(places) - 1]), len(places) - 1)
    return list(itertools.pairwise(cuts.tolist()))


def pack(
    numbers: Callable[[int, int], NDArray[np.uint64]], size: int, width: int, threads: Workers
) -> NDArray[np.uint64]:
    """Pack the last bits of numbers.

    Parameters
    ----------
    numbers : callable
        Gives the numbers from one to before another, as uint64.
    size : int
        How many there are.
    width : int
        Bits of each, 1 to 64.
    threads : Workers

    Returns
    -------
    ndarray, uint64
        As many words as needed; bits behind the last number are 0.
    """
    words = np.empty(word_count(size, width), np.uint64)

    def make(begin: int) -> None:
        end = min(begin + TOGETHER, size)
        rows = np.zeros((-(-(end - begin) // WORD_BITS), WORD_BITS), np.uint64)
        rows.reshape(-1)[: end - begin] = numbers(begin, end)
        if width < WORD_BITS:
            rows &= np.uint64((1 << width) - 1)
        columns = np.ascontiguousarray(rows.T)  # those of a column lie side by side
        packed = np.zeros((width, len(rows)), np.uint64)
        for column, values in enumerate(columns):
            word, shift = divmod(column * width, WORD_BITS)
            packed[word] |= values << np.uint64(shift)
            if shift + width > WORD_BITS:
                packed[word + 1] |= values >> np.uint64(WORD_BITS - shift)
        first = begin // WORD_BITS * width
        part = words[first : first + packed.size]
        part[:] = packed.T.reshape(-1)[: len(part)]

    for _ in threads.map(make, range(0, size, TOGETHER)):
        pass
    return words


def word_count(size: int, width: int) -> int:
    """Return how many words so many numbers take."""
    return -(-size * width // WORD_BITS)


def unpack(data: NDArray[np.uint8], bits: NDArray[np.int64], width: int) -> NDArray[np.uint64]:
    """Return numbers of up to 57 bits that begin at these bits of some bytes, of which `SPARE` more are there."""
    words: NDArray[np.uint64] = np.ndarray(max(len(data) - SPARE + 1, 0), "<u8", data, strides=(1,))
    found: NDArray[np.uint64] = words[bits >> 3]
    found >>= (bits & 7).view(np.uint64)
    found &= np.uint64((1 << width) - 1)
    return found


def unpack_row(data: NDArray[np.uint8], size: int, width: int) -> NDArray[np.uint64]:
    """Return the first numbers of some bytes, so many."""
    found = np.empty((-(-size // WORD_BITS), WORD_BITS), np.uint64)
    words = np.zeros((len(found), width), np.uint64)
    there = data[: words.nbytes].view("<u8")
    words.reshape(-1)[: len(there)] = there
    mask = np.uint64((1 << width) - 1)
    for begin in range(0, len(found), TOGETHER // WORD_BITS):
        rows = np.ascontiguousarray(words[begin : begin + TOGETHER // WORD_BITS].T)  # those of a column side by side
        columns = np.empty((WORD_BITS, rows.shape[1]), np.uint64)
        for column, numbers in enumerate(columns):
            word, shift = divmod(column * width, WORD_BITS)
            np.right_shift(rows[word], np.uint64(shift), out=numbers)
            if shift + width > WORD_BITS:
                numbers |= rows[word + 1] << np.uint64(WORD_BITS - shift)
        columns &= mask
        found[begin : begin + rows.shape[1]] = columns.T
    return found.reshape(-1)[:size]


def ranges(begins: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers from each begin on, so many, one range behind the other."""
    shifts = begins - (np.cumsum(counts) - counts)
    return np.repeat(shifts, counts) + np.arange(int(counts.sum()))
