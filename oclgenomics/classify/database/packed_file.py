"""Features of a file in which they are packed: all of them in pieces, or those that are sought, in any of the buckets.

Each block of the file is verified when it is read, and what is unpacked is checked before it is used, so what is wrong
with a database is said as soon as it would matter, and what is not read costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify import plan
from oclgenomics.classify.database.database import Database, numbers_fault, piece_fault
from oclgenomics.classify.database.features import (
    FeatureNumbers,
    Features,
    Found,
    GrowingFeatures,
    SectionRoom,
    StoredPiece,
    count_type,
)
from oclgenomics.classify.database.packing import (
    SPARE,
    WORD_BITS,
    Widths,
    ranges,
    unpack,
    unpack_row,
    word_count,
)
from oclgenomics.errors import InputError
from oclgenomics.io.array_file import THREADS, ArrayFile, Room
from oclgenomics.io.cores import usable_cores
from oclgenomics.io.read_ahead import read_ahead
from oclgenomics.io.siphash import BLOCK_BYTES
from oclgenomics.io.workers import Workers

BUCKETS = 1 << 14  # whose places are read at a time, or more if pieces are larger
FILLED = 0.8  # of the buckets that a piece has room for on average: few groups of these are cut into two
FEATURES, LOCATIONS = 1 << 17, 1 << 18  # that are unpacked at a time, or those of one bucket
SOUGHT_FEATURES, SOUGHT_LOCATIONS = 1 << 14, 1 << 16  # the same of buckets that are sought: fewer take less memory
PACKED = {"dead_keys": "<u4", "key_starts": "<u4", "location_starts": "<u8", "keys": "<u8", "locations": "<u8"}
OUT_OF_PLACE = "buckets of features whose places do not go together"


def contradiction(file: ArrayFile, fault: str) -> InputError:
    """Return the error for a file that has a fault, although its checksums are right."""
    return file.error(f"contradicts itself: it has {fault}", 0)


class Places(NamedTuple):
    """Where the features and the locations of some buckets lie; arrays int64 with an item a bucket.

    Attributes
    ----------
    buckets : ndarray
        Their numbers, ascending.
    keys, keys_end, locations, locations_end : ndarray
    """

    buckets: NDArray[np.int64]
    keys: NDArray[np.int64]
    keys_end: NDArray[np.int64]
    locations: NDArray[np.int64]
    locations_end: NDArray[np.int64]

    def some(self, begin: int, end: int) -> Places:
        """Return those of some of the buckets."""
        return Places(*(array[begin:end] for array in self))

    def cut(self, features: int, locations: int) -> Iterator[Places]:
        """Cut buckets into parts of so many features and locations at most, or of one bucket."""
        sizes = np.stack([self.keys_end - self.keys, self.locations_end - self.locations])
        needs = np.ceil(sizes / np.array([[features], [locations]]) * PARTS).astype(np.int64).max(axis=0, initial=0)
        for begin, end in plan.batches(np.cumsum(needs), PARTS):
            yield self.some(begin, end)


PARTS = 1 << 20  # of what a part of buckets may have, as one measure of features and of locations


@dataclass(frozen=True)
class PackedBits:
    """Numbers that follow each other in a file, still packed.

    Attributes
    ----------
    words : ndarray, uint64
        Those of whole blocks of the file.
    first : int
        The bit with which they begin.
    width : int
        Bits of each.
    first_block : int
        The number of the first block in its section.
    """

    words: NDArray[np.uint64]
    first: int
    width: int
    first_block: int


@dataclass(frozen=True)
class PackedPiece:
    """Buckets that follow each other, on their way to a device; only their places are known to be right.

    Attributes
    ----------
    places : Places
    keys, locations : PackedBits
    """

    places: Places
    keys: PackedBits
    locations: PackedBits


class PackedStore:
    """The features of a database in an open file in which they are packed. None of them is in memory.

    Parameters
    ----------
    file : ArrayFile
    database : Database
        Without features.
    numbers : FeatureNumbers
        What the description of the file says.

    Attributes
    ----------
    numbers : FeatureNumbers
    widths : Widths

    Raises
    ------
    InputError
        The file contradicts itself.
    """

    def __init__(self, file: ArrayFile, database: Database, numbers: FeatureNumbers) -> None:
        self._file, self._options, self.numbers = file, database.options, numbers
        self._windows = int(database.targets.windows.sum())
        self.widths = widths = Widths.of(numbers.alive, self._windows)
        self._dead = file.array("dead_keys", "<u4")
        self._readers = {name: file.blocks(name, kind) for name, kind in PACKED.items() if name != "dead_keys"}
        sizes = {
            "key_starts": widths.buckets + 1, "location_starts": widths.buckets + 1,
            "keys": word_count(numbers.alive, widths.key), "locations": word_count(numbers.located, widths.location),
        }  # fmt: skip
        fault = numbers_fault(numbers, numbers.alive + len(self._dead), numbers.located, self._options.max_locations)
        if fault is None and any(len(reader) != sizes[name] for name, reader in self._readers.items()):
            fault = "numbers of features that differ"
        if fault is not None:
            raise contradiction(file, fault)

    def __len__(self) -> int:
        return self.numbers.alive + self.numbers.dead

    @property
    def packed(self) -> PackedStore:
        """The features, as a device takes them."""
        return self

    @property
    def blocks(self) -> dict[str, int]:
        """Blocks whose checksums are to be made: none, as all are verified when they are read."""
        return {}

    def sought(self, keys: NDArray[np.uint32]) -> Features:
        """Read the features with some keys.

        Parameters
        ----------
        keys : ndarray, uint32
            Ascending, no two equal.

        Returns
        -------
        Features
            Those that are there and have locations.

        Raises
        ------
        InputError
            A block that holds one of them is damaged, or contradicts itself.
        """
        of_keys = keys.astype(np.int64) >> self.widths.key
        buckets = of_keys[np.append(True, of_keys[1:] != of_keys[:-1])[: len(of_keys)]]
        parts = [Features.none(count_type(self._options.max_locations))]
        with Workers(min(THREADS, usable_cores())) as threads:
            for begin in range(0, len(buckets), BUCKETS):
                every = self._places(buckets[begin : begin + BUCKETS], threads)
                for places in every.cut(SOUGHT_FEATURES, SOUGHT_LOCATIONS):
                    parts.append(_chosen(self._unpacked(places, threads), self._within(keys, places)))
        return Features.joined(parts)

    def pieces(self, features: int, locations: int) -> Iterator[Features]:
        """Read the features in pieces as those of `Features.pieces`, and check them.

        Raises
        ------
        InputError
            The file is damaged or contradicts itself.
        """
        with closing(read_ahead(self._merged())) as parts:
            yield from _recut(parts, features, locations)

    def stored_pieces(
        self, features: int, locations: int, found: Callable[[], Found], room: SectionRoom | None = None
    ) -> Iterator[StoredPiece]:
        """Read the features in pieces, of which no bytes have to be verified; errors are those of `pieces`."""
        yield from map(StoredPiece, self.pieces(features, locations))

    def packed_pieces(self, features: int, locations: int, room: SectionRoom | None = None) -> Iterator[PackedPiece]:
        """Read all buckets in pieces of so many features and locations at most, or of one bucket, for a device.

        `verify` says whether the blocks of a piece are right.

        Parameters
        ----------
        features, locations : int
        room : callable, optional
            Gives memory for so many bytes of a section, by its name. It is called in another thread, while two pieces
            that came before are still to be used.

        Raises
        ------
        InputError
            The places of features are damaged or contradict themselves.
        """
        of_keys, of_locations = (None if room is None else partial(room, name) for name in ("keys", "locations"))

        def read() -> Iterator[PackedPiece]:
            with Workers(min(THREADS, usable_cores())) as threads:
                for places in self._all_places(threads, features, locations):
                    ends = (places.keys, places.keys_end), (places.locations, places.locations_end)
                    numbers = [(int(begin[0]), int(end[-1])) for begin, end in ends]
                    keys = self._bits("keys", *numbers[0], self.widths.key, threads, of_keys)
                    width = self.widths.location
                    located = self._bits("locations", *numbers[1], width, threads, of_locations)
                    yield PackedPiece(places, keys, located)

        with closing(read_ahead(read(), 1)) as pieces:
            yield from pieces

    def verify(self, name: str, bits: PackedBits, sums: NDArray[np.uint64]) -> None:
        """Compare the checksums of the blocks of numbers, which belong to the section of a name.

        Raises
        ------
        InputError
            One of them is damaged.
        """
        self._readers[name].verify(bits.first_block, sums)

    def whole(self) -> Features:
        """Read all features, and check them; errors are those of `pieces`."""
        grown = GrowingFeatures(len(self), self.numbers.located, count_type(self._options.max_locations))
        for part in self.pieces(FEATURES, LOCATIONS):
            grown.append(part)
        return grown.features()

    def fault(self) -> InputError:
        """Return the error for features in which somebody found a fault: what it is, if it is still there."""
        try:
            for _ in self.pieces(FEATURES, LOCATIONS):
                pass
        except InputError as error:
            return error
        return self._file.error("changed while it was read", 0)

    def _merged(self) -> Iterator[Features]:
        """All features, those without locations among them, and whether there are as many as the description says."""
        last, numbers = -1, []
        with Workers(min(THREADS, usable_cores())) as threads:
            for places in self._all_places(threads, FEATURES, LOCATIONS):
                part = _with_dead(self._unpacked(places, threads), self._within(self._dead, places))
                if len(part):
                    if int(part.keys[0]) <= last or (part.keys[1:] <= part.keys[:-1]).any():
                        raise contradiction(self._file, "features that are out of order")
                    last = int(part.keys[-1])
                    numbers.append(part.numbers)
                    yield part
        if FeatureNumbers.added(numbers) != self.numbers:
            raise contradiction(self._file, "numbers of features other than its description says")

    def _within(self, keys: NDArray[np.uint32], places: Places) -> NDArray[np.uint32]:
        """Those of some keys, which ascend, that are from the first to the last of some buckets."""
        first, last = (int(bucket) << self.widths.key for bucket in places.buckets[[0, -1]])
        last += (1 << self.widths.key) - 1
        return keys[np.searchsorted(keys, np.uint32(first)) : np.searchsorted(keys, np.uint32(last), "right")]

    def _all_places(self, threads: Workers, features: int, locations: int) -> Iterator[Places]:
        """Where all buckets lie, in parts of so many features and locations."""
        share = min(features / max(self.numbers.alive, 1), locations / max(self.numbers.located, 1))
        together = max(BUCKETS, int(FILLED * share * self.widths.buckets))
        for begin in range(0, self.widths.buckets, together):
            buckets = np.arange(begin, min(begin + together, self.widths.buckets))
            yield from self._places(buckets, threads).cut(features, locations)

    def _places(self, buckets: NDArray[np.int64], threads: Workers) -> Places:
        """Where some buckets lie, which ascend."""
        columns: list[NDArray[np.int64]] = []
        neighbours = int(buckets[-1] - buckets[0]) + 1 == len(buckets)  # one range of bytes
        wanted, behind = (buckets[:1], buckets[-1:] + 2) if neighbours else (buckets, buckets + 2)
        for name, size, last in (("key_starts", 4, self.numbers.alive), ("location_starts", 8, self.numbers.located)):
            taken = self._readers[name].take(size * wanted, size * behind, threads)
            words, places = taken.data.view(f"<u{size}"), taken.places // size
            places = np.arange(places[0], places[0] + len(buckets)) if neighbours else places
            begins, ends = (words[places + more].astype(np.int64) for more in (0, 1))
            firm = bool((begins <= ends).all()) and bool((ends[:-1] <= begins[1:]).all())
            sides = (buckets[0] > 0 or begins[0] == 0) and (buckets[-1] + 1 < self.widths.buckets or ends[-1] == last)
            if not (firm and sides and begins[0] >= 0 and ends[-1] <= last):
                raise contradiction(self._file, OUT_OF_PLACE)
            columns += [begins, ends]
        return Places(buckets, *columns)

    def _bits(self, name: str, begin: int, end: int, width: int, threads: Workers, room: Room | None) -> PackedBits:
        """Numbers that follow each other."""
        first, behind = begin * width // WORD_BITS * 8, word_count(end, width) * 8
        blocks = self._readers[name].unverified(first, behind, threads, room)
        return PackedBits(blocks.data.view("<u8"), begin * width - blocks.first * BLOCK_BYTES * 8, width, blocks.first)

    def _numbers(
        self, name: str, begins: NDArray[np.int64], ends: NDArray[np.int64], width: int, threads: Workers
    ) -> NDArray[np.uint64]:
        """Unpack numbers in some ranges."""
        if (ends[:-1] == begins[1:]).all():  # as they are of neighbouring buckets
            first, end = int(begins[0]) // WORD_BITS * WORD_BITS, int(ends[-1])
            begin, behind = (np.array([place]) for place in (first * width >> 3, end * width + 7 >> 3))
            taken = self._readers[name].take(begin, behind, threads)
            return unpack_row(taken.data[taken.places[0] :], end - first, width)[int(begins[0]) - first :]
        bits = begins * width
        taken = self._readers[name].take(bits >> 3, ends * width + 7 >> 3, threads, _with_spare)
        firsts = ranges(np.zeros(len(begins), np.int64), ends - begins)
        firsts *= width
        firsts += np.repeat(taken.places * 8 + (bits & 7), ends - begins)
        return unpack(taken.data, firsts, width)

    def _unpacked(self, places: Places, threads: Workers) -> Features:
        """Unpack the features of some buckets, and check them."""
        widths, sizes = self.widths, places.keys_end - places.keys
        keys = self._numbers("keys", places.keys, places.keys_end, widths.key, threads)
        keys |= np.repeat(places.buckets.astype(np.uint64) << np.uint64(widths.key), sizes)
        located = self._numbers("locations", places.locations, places.locations_end, widths.location, threads)
        ends = np.flatnonzero(located & np.uint64(1)) + 1
        bucket_ends = np.cumsum(places.locations_end - places.locations)
        last = np.append(0, ends)[np.minimum(np.cumsum(sizes), len(ends))]
        if len(ends) != len(keys) or not np.array_equal(last, bucket_ends):
            raise contradiction(self._file, OUT_OF_PLACE)
        counts = np.diff(ends, prepend=0)
        if int(counts.max(initial=0)) > self.numbers.largest:
            raise contradiction(self._file, "a feature of more locations than a feature may have")
        windows = (located >> np.uint64(1)).astype(np.uint32)
        kind: Any = count_type(self._options.max_locations)
        features = Features(keys.astype(np.uint32), counts.astype(kind), windows)
        fault = piece_fault(features, -1, self._windows)
        if fault is not None:
            raise contradiction(self._file, fault)
        return features


class FeatureSource(Protocol):
    """Features in memory, or in a file from which they come piece by piece.

    Attributes
    ----------
    numbers : FeatureNumbers
    blocks : dict of str to int
        Blocks of the sections whose windows come with `stored_pieces`.
    packed : PackedStore or None
        The features as a device unpacks them, if they are in a file in which they are packed.
    """

    @property
    def numbers(self) -> FeatureNumbers: ...

    @property
    def packed(self) -> PackedStore | None: ...

    def __len__(self) -> int: ...

    @property
    def blocks(self) -> Mapping[str, int]: ...

    def pieces(self, features: int, locations: int) -> Iterator[Features]: ...

    def stored_pieces(
        self, features: int, locations: int, found: Callable[[], Found], room: SectionRoom | None = None
    ) -> Iterator[StoredPiece]: ...

    def whole(self) -> Features: ...


def _with_spare(size: int) -> NDArray[np.uint8]:
    return np.zeros(size + SPARE, np.uint8) if size < SPARE else np.empty(size + SPARE, np.uint8)


def _chosen(features: Features, keys: NDArray[np.uint32]) -> Features:
    """Those of some features that have one of some keys; both ascend."""
    if not len(features):
        return features
    places = np.minimum(np.searchsorted(features.keys, keys), len(features) - 1)
    places = places[features.keys[places] == keys]
    counts = features.counts[places]
    listed = ranges(features.starts[places], counts.astype(np.int64))
    return Features(features.keys[places], counts, features.locations[listed])


def _with_dead(features: Features, dead: NDArray[np.uint32]) -> Features:
    """Put keys without locations among features."""
    if not len(dead):
        return features
    places = np.searchsorted(features.keys, dead)
    counts: Any = np.insert(features.counts, places, 0)
    return Features(np.insert(features.keys, places, dead), counts, features.locations)


def _recut(parts: Iterator[Features], features: int, locations: int) -> Iterator[Features]:
    """Cut features that come in parts into pieces as those of `Features.pieces`."""
    held: list[Features] = []
    size = 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size >= features:
            joined = Features.joined(held)
            whole = size // features * features
            located = int(joined.counts[:whole].sum(dtype=np.int64))
            yield from Features(joined.keys[:whole], joined.counts[:whole], joined.locations[:located]).pieces(
                features, locations
            )
            held = [Features(joined.keys[whole:], joined.counts[whole:], joined.locations[located:])]
            size -= whole
    if size:
        yield from Features.joined(held).pieces(features, locations)
