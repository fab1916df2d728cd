"""What stays in the memory of a device while reads come: features, targets, and buffers that are used again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from oclgenomics.classify import plan
from oclgenomics.classify.database.features import FeatureNumbers, Features, Found, StoredPiece
from oclgenomics.classify.database.packed_file import FeatureSource, PackedBits, PackedPiece, PackedStore
from oclgenomics.classify.database.packing import KEY_BITS
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.classify.plan import BLOCK_WINDOWS
from oclgenomics.classify.taxonomy.lineages import Targets
from oclgenomics.errors import ParameterError
from oclgenomics.io.siphash import BLOCK_BYTES
from oclgenomics.primitives import scan, sum_blocks
from oclgenomics.runtime import Checkpoint, DeviceArray, Engine

INDEXING, PACKED = "classify/index_features.cl", "classify/index_packed.cl"
TYPES = {"uint8": "uchar", "uint16": "ushort"}
EACH = 1024  # features that a work-item of a CPU takes
EACH_BUCKETS = 16
PIECES_ON_THE_WAY = 4
USUAL = 1.125  # of what pieces have on average: nearly all have less


class TargetTable:
    """Targets as kernels_cl/classify/targets.clh has them.

    Parameters
    ----------
    engine : Engine
    targets : Targets
    groups : ndarray, int32 (targets,)
        Taxa of which only the best target is a candidate; `NO_TAXON` for targets that are none.

    Attributes
    ----------
    arguments : dict of str to DeviceArray
    """

    def __init__(self, engine: Engine, targets: Targets, groups: NDArray[np.int32]) -> None:
        if len(groups) != len(targets):
            raise ValueError(f"{len(groups)} groups of {len(targets)} targets")
        first = targets.first_window
        begun = np.diff(-(-first // BLOCK_WINDOWS))  # blocks that begin in each target
        blocks = np.repeat(np.arange(len(targets), dtype=np.uint32), begun)
        blocks = np.append(blocks, np.uint32(max(len(targets) - 1, 0)))
        self.arguments: dict[str, DeviceArray] = {
            "targets": engine.upload(np.stack([first, np.append(groups, 0)], axis=1).astype(np.uint32)),
            "blocks": engine.upload(blocks),
        }

    def release(self) -> None:
        """Give the memory back."""
        for array in self.arguments.values():
            array.release()


class FullError(Exception):
    """More passes a filter of features than there is room for: reads have to come in smaller groups."""


class FeatureFilter:
    """A filter on a device that all features of some reads pass, and few others.

    Parameters
    ----------
    engine : Engine
    rows : sequence of ndarray, uint32
        Features of the reads.
    numbers : FeatureNumbers
        Of the database that is filtered.

    Attributes
    ----------
    sizes : plan.FilterSizes
    shift : int
        The bit `key >> shift` is set for each key that passes.
    words : DeviceArray, uint32
    """

    def __init__(self, engine: Engine, rows: Sequence[NDArray[np.uint32]], numbers: FeatureNumbers) -> None:
        self.sizes = plan.FilterSizes.of(sum(one.size for one in rows), numbers.alive, numbers.in_lists)
        self.shift = KEY_BITS - self.sizes.bits
        self.words = engine.empty(1 << (self.sizes.bits - 5), np.uint32)
        engine.fill(self.words, 0)
        kernel = engine.kernel(PACKED, "want_features", WANTED=True)
        for one in rows:
            if one.size:
                features = engine.upload(one.reshape(-1))
                engine.launch_items(
                    kernel, one.size, features=features, size=one.size, shift=self.shift, wanted=self.words
                )
                features.release()

    def release(self) -> None:
        """Give the memory back."""
        self.words.release()


class FeatureTable:
    """An entry for each feature, a table of the prefixes of their keys, and the lists of locations.

    A feature with one location has it in its entry, so lists are those of the others. Features are taken piece by
    piece: those of a file are never all in the host's memory. Their order and the checksums of the file are looked at
    where they lie, before anything is looked up in them.

    Parameters
    ----------
    engine : Engine
    features : FeatureSource
    windows : int
        Of all targets.
    wanted : FeatureFilter, optional
        Which features to take, of a file in which they are packed; all if not given.

    Attributes
    ----------
    locations : DeviceArray, uint32
        The lists. At least one item.

    Raises
    ------
    ParameterError
        More locations than an index holds.
    AllocationError
        They do not fit; see `plan.IndexNeed`.
    InputError
        The file that they come from is damaged.
    FullError
        More features or locations pass the filter than there is room for.
    """

    def __init__(
        self, engine: Engine, features: FeatureSource, windows: int, wanted: FeatureFilter | None = None
    ) -> None:
        self._engine = engine
        size = len(features) if features.packed is None else features.numbers.alive
        self._bits, in_lists = plan.prefix_bits(size), features.numbers.in_lists
        if wanted is not None:
            assert features.packed is not None
            size, in_lists = wanted.sizes.features, wanted.sizes.in_lists
            self._bits = max(plan.prefix_bits(size), features.packed.widths.bucket)
        elif features.numbers.located > plan.MAX_LOCATIONS_OF_INDEX:
            most = f"at most {plan.MAX_LOCATIONS_OF_INDEX:,} locations fit into one index; split the database"
            raise ParameterError("features", most, f"{features.numbers.located:,}")
        self.locations = engine.empty(max(in_lists, 1), np.uint32)
        self._entries = engine.empty(size + 1, np.uint64)
        self._table = engine.empty((1 << self._bits) + 1, np.uint32)
        engine.fill(self._table, 0)
        checks = Checks(engine, features.blocks, windows)
        if features.packed is None:
            self._load(features, checks)
        else:
            size = self._load_packed(features.packed, checks, size, wanted)
        engine.write(self._entries, np.zeros(1, np.uint64), size)
        scan(engine, self._table, maximum=True, inclusive=True, out=self._table)

    def _load(self, features: FeatureSource, checks: Checks) -> None:
        """Take all features, which lie in plain arrays."""
        before = in_lists = 0
        done = self._engine.checkpoint()
        shape = self._engine.tuning.shape
        sizes = plan.LOADED_FEATURES[shape], plan.LOADED_LOCATIONS[shape]
        rooms = PieceRooms(
            self._engine,
            stored_bytes(features, *sizes),
            whole=len(features) <= sizes[0] and features.numbers.located <= sizes[1],
        )
        for piece in features.stored_pieces(*sizes, checks.found, rooms.of):
            done.wait()  # what is under way for more than one piece takes memory
            done = self._add(piece, before, in_lists, checks)
            before += len(piece.features)
            in_lists += piece.features.in_lists

    def _load_packed(self, store: PackedStore, checks: Checks, room: int, wanted: FeatureFilter | None) -> int:
        """Take features that are packed, all or those that are wanted; the device unpacks them. Return how many."""
        engine = self._engine
        carry = engine.empty(2, np.uint64)
        engine.fill(carry, 0)
        shape = engine.tuning.shape
        sizes = plan.LOADED_FEATURES[shape], plan.LOADED_LOCATIONS[shape]
        rooms = PieceRooms(engine, packed_bytes(store, *sizes), whole=_is_surely_one(store, *sizes))
        done = engine.checkpoint()
        before: list[_Summed] = []
        for piece in store.packed_pieces(*sizes, rooms.of):
            done.wait()
            for one in before:
                one.verify(engine, store)
            before = [_Summed.begun(engine, *both) for both in (("keys", piece.keys), ("locations", piece.locations))]
            done = self._add_packed(piece, before, store.numbers.largest, carry, checks, room, wanted)
        for one in before:
            one.verify(engine, store)
        if not checks.found().in_order:
            raise store.fault()
        if wanted is None:
            return room
        lists, passed = engine.download(carry).tolist()
        if passed > room or lists > self.locations.size:
            self.release()
            raise FullError
        return int(passed)

    def _add_packed(
        self, piece: PackedPiece, summed: Sequence[_Summed], most: int, carry: DeviceArray, checks: Checks, room: int,
        wanted: FeatureFilter | None,
    ) -> Checkpoint:  # fmt: skip
        """Make the entries and lists of some buckets, behind those that are there; return when that is done."""
        engine, places, buckets = self._engine, piece.places, len(piece.places.buckets)
        each, lanes = (EACH_BUCKETS, 1) if engine.tuning.cpu else (1, None)
        items = -(-buckets // each)
        sums = engine.empty(buckets + 1, np.uint64)
        common: dict[str, Any] = {
            "first_bucket": int(places.buckets[0]), "buckets": buckets, "each": each, "sums": sums, "carry": carry,
        }  # fmt: skip
        sides = (places.keys, places.keys_end), (places.locations, places.locations_end)
        for name, (begins, ends), one in zip(("key", "location"), sides, summed, strict=True):
            starts = (np.append(begins, ends[-1]) - begins[0]).astype(np.uint32)
            common |= {f"{name}s": one.words, f"{name}s_at": one.bits.first, f"{name}_width": one.bits.width}
            common[f"{name}_starts"] = engine.upload(starts)
        if wanted is not None:
            passed = engine.empty(buckets + 1, np.uint64)
            common |= {"wanted": wanted.words, "shift": wanted.shift, "passed": passed, "room": room}
        count, make = (
            engine.kernel(PACKED, name, WANTED=wanted is not None) for name in ("count_lists", "index_buckets")
        )
        engine.launch_items(count, items, lanes=lanes, **common)
        for counted in (sums,) if wanted is None else (sums, passed):
            scan(engine, counted, inclusive=True, out=counted)
        engine.launch_items(
            make, items, lanes=lanes, **common, **checks.bounds, before=int(places.keys[0]), bits=self._bits, most=most,
            entries=self._entries, table=self._table, lists=self.locations, listed=self.locations.size,
        )  # fmt: skip
        return engine.checkpoint()

    def _add(self, stored: StoredPiece, before: int, in_lists: int, checks: Checks) -> Checkpoint:
        """Make the entries and lists of some features, behind those that are there; return when that is done."""
        engine, piece = self._engine, stored.features
        kind, size = TYPES[piece.counts.dtype.name], len(piece)
        each, lanes = (EACH, 1) if engine.tuning.cpu else (1, None)
        items = -(-size // each)
        sums = engine.empty(items, np.uint64)
        keys, counts, locations = (checks.bring(stored, name) for name in ("keys", "counts", "locations"))
        some: dict[str, Any] = {**counts, "size": size, "each": each, "sums": sums}
        engine.launch_items(engine.kernel(INDEXING, "count_locations", COUNT=kind), items, lanes=lanes, **some)
        scan(engine, sums, out=sums)
        engine.launch_items(
            engine.kernel(INDEXING, "index_features", COUNT=kind), items, lanes=lanes, **some, **keys, **locations,
            **checks.order(piece), before=before, lists_before=in_lists, bits=self._bits, entries=self._entries,
            table=self._table, lists=self.locations,
        )  # fmt: skip
        return engine.checkpoint()

    def look_up(self, sketches: Sketches, begin: int, size: int, found: DeviceArray) -> None:
        """Look up features of sketches.

        Parameters
        ----------
        sketches : Sketches
        begin, size : int
            Which ones, by their places in `sketches.features`.
        found : DeviceArray, uint64 (size or more,)
            Set as kernels_cl/classify/look_up_features.cl says.
        """
        engine = self._engine
        cpu = engine.tuning.cpu
        kernel = engine.kernel("classify/look_up_features.cl", "look_up_features", CPU=cpu)
        arguments: dict[str, Any] = {"table": self._table, "entries": self._entries, "bits": self._bits}
        arguments |= {"features": sketches.features, "begin": begin, "size": size, "each": EACH, "found": found}
        if cpu and size:
            engine.launch(kernel, (-(-size // EACH),), (1,), **arguments)
        else:
            engine.launch_items(kernel, size, **arguments)

    def release(self) -> None:
        """Give the memory back."""
        for array in (self.locations, self._entries, self._table):
            array.release()


class Checks:
    """What is found out on a device of the features that come: checksums of the blocks of their file, and their order.

    Parameters
    ----------
    engine : Engine
    blocks : dict of str to int
        Blocks of each section of the file.
    windows : int
        Of all targets.
    """

    def __init__(self, engine: Engine, blocks: Mapping[str, int], windows: int) -> None:
        self._engine, self._windows, self._least_key = engine, max(windows, 1), 0
        self._sums = {name: engine.empty(max(count, 1), np.uint64) for name, count in blocks.items()}
        self._blocks = blocks
        self._faults = engine.empty(1, np.uint32)
        engine.fill(self._faults, 0)

    def bring(self, piece: StoredPiece, name: str) -> dict[str, Any]:
        """Bring an array of a piece to the device, and have its blocks summed there; return a kernel's arguments."""
        engine, plain = self._engine, getattr(piece.features, name)
        window = piece.windows.get(name)
        if window is None:
            held = plain if len(plain) else np.zeros(1, plain.dtype)
            return {name: engine.upload(held), f"{name}_at": 0}
        words = engine.upload(window.words if len(window.words) else np.zeros(1, np.uint64), wait=False)
        sum_blocks(engine, words, window.summed, window.blocks, self._sums[name], window.first)
        return {name: words.view(plain.dtype), f"{name}_at": window.skipped}

    def order(self, piece: Features) -> dict[str, Any]:
        """Return what a kernel needs to know of the order of the next piece."""
        least = self._least_key
        self._least_key = int(piece.keys[-1]) + 1
        return {"least_key": least, **self.bounds}

    @property
    def bounds(self) -> dict[str, Any]:
        """What a kernel needs to know of windows, and where it says what is wrong."""
        return {"windows": self._windows, "faults": self._faults}

    def found(self) -> Found:
        """Return what was found of all pieces; nothing comes afterwards."""
        engine = self._engine
        sums = {name: engine.download(array, self._blocks[name]) for name, array in self._sums.items()}
        in_order = not engine.download(self._faults)[0]
        for array in (*self._sums.values(), self._faults):
            array.release()
        return Found(in_order, sums)


@dataclass
class _Summed:
    """Packed numbers on a device, where the checksums of their blocks are made."""

    name: str
    bits: PackedBits
    words: DeviceArray
    sums: DeviceArray

    @classmethod
    def begun(cls, engine: Engine, name: str, bits: PackedBits) -> _Summed:
        """Bring them there."""
        blocks = -(-bits.words.nbytes // BLOCK_BYTES)
        sums = engine.empty(max(blocks, 1), np.uint64)
        words = engine.upload(bits.words if blocks else np.zeros(1, np.uint64), wait=False)
        sum_blocks(engine, words, bits.words.nbytes, blocks, sums)
        return cls(name, bits, words, sums)

    def verify(self, engine: Engine, store: PackedStore) -> None:
        """Compare the checksums, which are there."""
        blocks = -(-self.bits.words.nbytes // BLOCK_BYTES)
        store.verify(self.name, self.bits, engine.download(self.sums, blocks))
        self.words.release()
        self.sums.release()


def _is_surely_one(store: PackedStore, features: int, locations: int) -> bool:
    """Whether all buckets come as one piece, by a measure that no rounding of their shares makes wrong."""
    return 2 * store.numbers.alive <= features and 2 * store.numbers.located <= locations


def stored_bytes(source: FeatureSource, features: int, locations: int) -> dict[str, int]:
    """Return the bytes that a piece of so many features and locations at most usually has of each section."""
    share = min(features / max(len(source), 1), 1)
    most = 4 * max(features, locations)
    return {
        name: min(int(USUAL * share * blocks * BLOCK_BYTES), most) + 2 * BLOCK_BYTES
        for name, blocks in source.blocks.items()
    }


def packed_bytes(store: PackedStore, features: int, locations: int) -> dict[str, int]:
    """Return the bytes that a piece of so many features and locations at most usually has of each section."""
    alive, located = store.numbers.alive, store.numbers.located
    share = min(features / max(alive, 1), locations / max(located, 1), 1)
    bits = {"keys": alive * store.widths.key, "locations": located * store.widths.location}
    return {name: int(USUAL * share * size / 8) + 2 * BLOCK_BYTES for name, size in bits.items()}


class PieceRooms:
    """Memory for pieces of a file on their way to a device, which reads pinned memory without a copy.

    Each section has a few rooms that are used in turn: of one piece while it is on its way, of two that are read ahead,
    and of the next one. Where the device shares the host's memory, and for an unusually large piece, memory is new.

    Parameters
    ----------
    engine : Engine
    sizes : dict of str to int
        Bytes of each section that are enough for nearly all pieces.
    whole : bool
        There is one piece.
    """

    def __init__(self, engine: Engine, sizes: Mapping[str, int], *, whole: bool) -> None:
        self._rooms: dict[str, Iterator[NDArray[np.uint8]]] = {}
        if engine.tuning.shares_memory:
            return
        for name, size in sizes.items():
            rooms = [engine.pinned(size, np.uint8) for _ in range(1 if whole else PIECES_ON_THE_WAY)]
            self._rooms[name] = cycle(rooms)

    def of(self, name: str, size: int) -> NDArray[np.uint8]:
        """Return memory for so many bytes of a section."""
        if name in self._rooms and size <= len(room := next(self._rooms[name])):
            return room[:size]
        return np.empty(size, np.uint8)


class Rooms:
    """Device arrays by name, each made anew only when it has to be larger than it ever was.

    Parameters
    ----------
    engine : Engine
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._arrays: dict[str, DeviceArray] = {}

    def of(self, name: str, size: int, dtype: DTypeLike) -> DeviceArray:
        """Return the array of a name, with room for `size` items at least; its content is undefined.

        Raises
        ------
        AllocationError
            There is no such room on the device.
        """
        array = self._arrays.get(name)
        if array is None or array.size < size:
            if array is not None:
                array.release()
            array = self._arrays[name] = self._engine.empty(max(size, 1), np.dtype(dtype))
        return array

    def release(self) -> None:
        """Give the memory back."""
        for array in self._arrays.values():
            array.release()
        self._arrays.clear()
