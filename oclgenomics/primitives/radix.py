"""Stable radix sort on the device: keys of any number of words, with or without a value each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oclgenomics.primitives.scan import scan
from oclgenomics.primitives.shapes import LANES
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["MOST_KEYS", "Sorted", "sort"]

MOST_KEYS = (1 << 32) - 1  # places are 32 bits
DIGIT_BITS = 8
GPU_EACH = 16  # keys of a tile per work-item
COUNTED = 8  # tiles that a work-group counts; kernels_cl/primitives/radix_sort.cl
CPU_TILES, CPU_TILE = 256, 4096  # at most so many tiles, at least so many keys each
TYPES = {"uint32": "uint", "uint64": "ulong", "uint16": "ushort", "uint8": "uchar"}


@dataclass(frozen=True)
class Sorted:
    """Keys in ascending order and their values.

    Attributes
    ----------
    keys : DeviceArray, (words, n) or (n,)
    values : DeviceArray (n,) or None
    """

    keys: DeviceArray
    values: DeviceArray | None


def sort(
    engine: Engine,
    keys: DeviceArray,
    values: DeviceArray | None = None,
    *,
    size: int | None = None,
    bits: int | None = None,
    first_bit: int = 0,
) -> Sorted:
    """Sort keys, and a value each with them, in ascending order; equal keys keep their order.

    Parameters
    ----------
    engine : Engine
    keys : DeviceArray, uint32 or uint64, (n,) or (words, n)
        Its content is used up. Several words make one key, the least significant word first.
    values : DeviceArray, 8 to 64 bits unsigned, (n,), optional
        Its content is used up.
    size : int, optional
        Keys to sort, the first ones; all if not given.
    bits, first_bit : int, optional
        Only bits first_bit .. first_bit + bits - 1 of the key decide; all, from the first bit on, if not given.

    Returns
    -------
    Sorted
        Arrays of the same shapes as those given, of which each is either the one given or a new one.

    Raises
    ------
    ValueError
        Arrays of other types or shapes, bits that a key does not have, or more than `MOST_KEYS` keys.
    """
    words, length = keys.shape if len(keys.shape) == 2 else (1, keys.size)
    size = length if size is None else size
    width = keys.dtype.itemsize * 8
    bits = words * width - first_bit if bits is None else bits
    if keys.dtype.name not in ("uint32", "uint64") or (values is not None and values.dtype.name not in TYPES):
        raise ValueError(f"sort: {keys} and {values} are not unsigned integers of these kinds")
    if first_bit < 0 or bits < 0 or first_bit + bits > words * width:
        raise ValueError(f"sort: bits {first_bit} to {first_bit + bits} are not all in keys of {words * width} bits")
    if not 0 <= size <= min(length, MOST_KEYS) or (values is not None and values.size < size):
        raise ValueError(f"sort: {size} of {length} keys; at most {MOST_KEYS} are possible, with a value each")
    if size < 2 or not bits:
        return Sorted(keys, values)
    spare = engine.empty(keys.shape, keys.dtype)
    spare_values = None if values is None else engine.empty(values.shape, values.dtype)
    passes = _Passes(engine, words, length, size, keys, values)
    for word, shift, digit_bits in digits(width, first_bit, bits):
        passes.run(word, shift, digit_bits, keys, spare, values, spare_values)
        keys, spare, values, spare_values = spare, keys, spare_values, values
    spare.release()
    if spare_values is not None:
        spare_values.release()
    return Sorted(keys, values)


def digits(width: int, first_bit: int, bits: int) -> list[tuple[int, int, int]]:
    """List the digits of a key, least significant first: word, first bit in it, and bits."""
    found = []
    at, end = first_bit, first_bit + bits
    while at < end:
        word, shift = divmod(at, width)
        some = min(DIGIT_BITS, end - at, width - shift)
        found.append((word, shift, some))
        at += some
    return found


class _Passes:
    """The kernels, shapes and working memory that all passes of one sort share."""

    def __init__(
        self, engine: Engine, words: int, length: int, size: int, keys: DeviceArray, values: DeviceArray | None
    ) -> None:
        cpu = engine.tuning.cpu
        self.engine, self.length, self.size = engine, length, size
        self.tile = max(CPU_TILE, -(-size // CPU_TILES)) if cpu else LANES * GPU_EACH
        self.tiles = -(-size // self.tile)
        self.lanes = 1 if cpu else LANES
        self.count_groups = self.tiles if cpu else -(-self.tiles // COUNTED)
        defines: dict[str, int | str] = {
            "KEY": TYPES[keys.dtype.name],
            "WORDS": words,
            "CPU": cpu,
            "LANES": LANES,
            "EACH": GPU_EACH,
        }
        if values is not None:
            defines["VALUE"] = TYPES[values.dtype.name]
        self.count = engine.kernel("primitives/radix_sort.cl", "count_digits", **defines)
        self.scatter = engine.kernel("primitives/radix_sort.cl", "scatter_keys", **defines)
        self.counts = engine.empty((1 << DIGIT_BITS) * self.tiles, np.uint32)

    def run(
        self,
        word: int,
        shift: int,
        bits: int,
        keys: DeviceArray,
        out: DeviceArray,
        values: DeviceArray | None,
        values_out: DeviceArray | None,
    ) -> None:
        size, tile, tiles = np.uint64(self.size), np.uint64(self.tile), np.uint32(self.tiles)
        digit = np.uint32(shift), np.uint32((1 << bits) - 1)
        offset = np.uint64(word * self.length)
        self.engine.launch(
            self.count, (self.count_groups * self.lanes,), (self.lanes,), keys, offset, size, tile, tiles, *digit, self.counts
        )
        scan(self.engine, self.counts, out=self.counts)
        moved = () if values is None else (values, values_out)
        self.engine.launch(
            self.scatter,
            (self.tiles * self.lanes,),
            (self.lanes,),
            keys,
            out,
            np.uint64(self.length),
            np.uint32(word),
            size,
            tile,
            tiles,
            *digit,
            self.counts,
            *moved,
        )
