"""Counts of equal keys without sorting all their bits: by a prefix in memory, the rest in tiles of local memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from oclgenomics.primitives.compaction import Runs, run_lengths
from oclgenomics.primitives.keys import Items, KeyShape, key_shape
from oclgenomics.primitives.radix import DIGIT_BITS, Digit, RadixSort
from oclgenomics.primitives.scan import scan
from oclgenomics.primitives.sorting import sort
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel

WIDTH = 64  # bits of a word
BUCKET = 64  # keys of one prefix, on the average, at most
MAX_DIGITS = 4
LANES, MIN_LANES, MAX_EACH = 256, 16, 31  # work-items of a tile, the fewest of them, and the most keys of each
TILE_BYTES, WIDE_TILE_BYTES = 30 << 10, 38 << 10  # of local memory for keys of one word, and of several, if it is there
SMALL_BYTES = 2 << 10  # of local memory for sums and their like; every device for OpenCL has 32 KiB
KEY_BYTES = 10  # of local memory for each key, apart from its words
REACH = 4  # a tile has room for a bucket of one in so many of its keys beyond its step
SOURCE = "primitives/equal_keys.cl"


@dataclass(frozen=True)
class KeyPrefix:
    """The first bits of keys of so many bits, by whose order they are counted in tiles."""

    bits: int
    digits: int

    @property
    def first_bit(self) -> int:
        """The prefix' lowest bit in the key."""
        return self.bits - DIGIT_BITS * self.digits

    @property
    def passes(self) -> list[Digit]:
        """The digits, least significant first; one may pass into the next word."""
        return [(at // WIDTH, at % WIDTH, DIGIT_BITS) for at in range(self.first_bit, self.bits, DIGIT_BITS)]


def key_prefix(size: int, bits: int) -> KeyPrefix | None:
    """Return the prefix of so many keys that makes buckets small; None where it would be nearly the whole key."""
    digits = next((n for n in range(1, MAX_DIGITS) if size >> DIGIT_BITS * n < BUCKET), MAX_DIGITS)
    return KeyPrefix(bits, digits) if bits > DIGIT_BITS * (digits + 1) else None


def count_equal(engine: Engine, held: list[DeviceArray], *, bits: int, ordered: int = 0) -> Runs:
    """Return the distinct keys in ascending order, and how often each occurs.

    It takes 16 bytes for each word of a key and 21 for each key at most, those of `held` included.

    Parameters
    ----------
    engine : Engine
    held : list of one DeviceArray, uint64 (words, n)
        The keys; the list is emptied, and the array let go when it is read. Word 0 is the least significant one.
    bits : int
        Bits of a key; higher ones have to be 0.
    ordered : int
        So many digits of `key_prefix`, from the lowest one on, have their order already.

    Raises
    ------
    ValueError
        An array of another type or shape, more bits than a key has, or too many keys.
    """
    keys = held.pop()
    shape = key_shape("count of equal keys", keys, None, None)
    if keys.dtype != np.uint64 or len(keys.shape) != 2 or not 1 <= bits <= shape.bits:
        raise ValueError(f"count of equal keys: {keys} is no uint64 (words, n) with keys of {bits} bits")
    prefix = key_prefix(shape.size, bits)
    if engine.tuning.cpu or prefix is None or shape.size < 2:
        held.append(keys)
        del keys
        return run_lengths(engine, sort(engine, held.pop(), bits=bits).keys)
    radix = RadixSort(engine, shape, Items(keys))
    spare = engine.empty(keys.shape, keys.dtype)
    for digit in prefix.passes[ordered:]:
        radix.run(digit, Items(keys), Items(spare))
        keys, spare = spare, keys
    del radix
    tiles = _Tiles(engine, shape, prefix)
    counts = tiles.count(keys, spare)
    del keys
    tiles.move(spare, counts)
    del spare, counts
    return tiles.runs(bits)


def tile_shape(engine: Engine, words: int) -> tuple[int, int]:
    """Return the work-items that share a tile, and how many keys of so many words each of them has at most."""
    lanes = engine.group_size(LANES, least=MIN_LANES)
    room = min(engine.device.local_memory - SMALL_BYTES, TILE_BYTES if words == 1 else WIDE_TILE_BYTES)
    while lanes > MIN_LANES and room < lanes * (8 * words + KEY_BYTES):
        lanes //= 2
    return lanes, min(MAX_EACH, room // (lanes * (8 * words + KEY_BYTES)))


class _Tiles:
    """The tiles of keys that are in the order of their prefix."""

    def __init__(self, engine: Engine, shape: KeyShape, prefix: KeyPrefix) -> None:
        self._engine, self._shape = engine, shape
        self._word, self._shift = divmod(prefix.first_bit, WIDTH)
        lanes, each = tile_shape(engine, shape.words)
        self._lanes, self._reach = lanes, lanes * each // REACH
        self._step = lanes * each - self._reach
        self._tiles = -(-shape.size // self._step)
        self._defines = {"WORDS": shape.words, "LANES": lanes, "EACH": each}
        self._borders = engine.empty(self._tiles + 1, np.uint32)
        self._places = engine.empty(2 * self._tiles + 1, np.uint32)

    def count(self, keys: DeviceArray, out: DeviceArray) -> DeviceArray:
        """Count the keys of tiles; `out` gets the distinct ones at the tiles' places, and the result their counts."""
        engine, size = self._engine, self._shape.size
        cut, counts = engine.empty(self._tiles + 1, np.uint8), engine.empty(size, np.uint32)
        prefix: dict[str, Any] = {"keys": keys, "stride": self._shape.stride, "word": self._word, "shift": self._shift}
        tiles: dict[str, Any] = {"tiles": self._tiles, "borders": self._borders, "cut": cut}
        reach = {"size": size, "step": self._step, "reach": self._reach}
        engine.launch_items(self._kernel("find_borders"), self._tiles + 1, **prefix, **tiles, **reach)
        engine.fill(self._places, 0)
        found = {"out": out, "counts": counts, "sizes": self._places}
        self._each_tile("count_tiles", **prefix, **tiles, **found)
        scan(engine, self._places, out=self._places)
        return counts

    def move(self, keys: DeviceArray, counts: DeviceArray) -> None:
        """Move the distinct keys of all tiles together, those of buckets that a border cuts apart from the others."""
        whole, both = (int(self._engine.download(self._places, 1, at)[0]) for at in (self._tiles, 2 * self._tiles))
        self._whole, self._open = self._new_runs(whole), self._new_runs(both - whole)
        at = {"borders": self._borders, "places": self._places, "tiles": self._tiles}
        from_ = {"keys": keys, "stride": self._shape.stride, "counts": counts}
        to = {"whole_stride": whole, "whole": self._whole.keys, "whole_counts": self._whole.counts}
        to |= {"open_stride": both - whole, "open": self._open.keys, "open_counts": self._open.counts}
        self._each_tile("move_tiles", **at, **from_, **to)

    def runs(self, bits: int) -> Runs:
        """Return all distinct keys; the tiles let go of them."""
        whole, open_ = self._whole, self._open
        del self._whole, self._open
        if not open_.size:
            return whole
        ordered = sort(self._engine, open_.keys, open_.counts, bits=bits)
        del open_
        known = run_lengths(self._engine, ordered.keys, ordered.values)
        del ordered
        if not whole.size:
            return known
        joined = self._new_runs(whole.size + known.size)
        for some, others in ((whole, known), (known, whole)):
            self._engine.launch_items(
                self._kernel("interleave"), others.size, keys=some.keys, counts=some.counts, size=some.size,
                others=others.keys, others_counts=others.counts, others_size=others.size, stride=joined.size,
                out=joined.keys, out_counts=joined.counts,
            )  # fmt: skip
        return joined

    def _new_runs(self, size: int) -> Runs:
        keys = self._engine.empty((self._shape.words, size), np.uint64)
        return Runs(keys, self._engine.empty(size, np.uint32), size)

    def _each_tile(self, name: str, **arguments: Any) -> None:
        self._engine.launch(self._kernel(name), (self._tiles * self._lanes,), (self._lanes,), **arguments)

    def _kernel(self, name: str) -> Kernel:
        return self._engine.kernel(SOURCE, name, **self._defines)
