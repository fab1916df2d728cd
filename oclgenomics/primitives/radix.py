"""Stable radix sort on the device: keys of any number of words, with or without a value each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oclgenomics.primitives.host_sort import sort_on_host
from oclgenomics.primitives.keys import TYPES, KeyShape, key_shape
from oclgenomics.primitives.scan import scan
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["DIGITS", "RadixSort", "Sorted", "radix_passes", "sort"]

DIGIT_BITS = 8
DIGITS = 1 << DIGIT_BITS
LANES, EACH = 256, 16  # work-items of a tile on GPUs, and keys of each
COUNTED = 8  # tiles that a work-group counts; kernels_cl/primitives/radix_sort.cl
CPU_TILES, CPU_TILE = 256, 4096  # at most so many tiles, at least so many keys each


@dataclass(frozen=True)
class Sorted:
    """Keys in ascending order and their values, in arrays of the shapes that came in.

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
        Bits first_bit .. first_bit + bits - 1 of the key decide; all, from the first bit on, if not given. Higher bits
        have to be 0.

    Returns
    -------
    Sorted
        Each array is either the one given or a new one.

    Raises
    ------
    ValueError
        Arrays of other types or shapes, bits that a key does not have, or too many keys.
    """
    shape = key_shape("sort", keys, values, size)
    bits = shape.bits - first_bit if bits is None else bits
    if first_bit < 0 or bits < 0 or first_bit + bits > shape.bits:
        raise ValueError(f"sort: bits {first_bit} to {first_bit + bits} are not all in keys of {shape.bits} bits")
    if shape.size < 2 or not bits:
        return Sorted(keys, values)
    radix = RadixSort(engine, shape, values)
    spare = engine.empty(keys.shape, keys.dtype)
    if engine.tuning.cpu and values is None and shape.words == 1 and first_bit == 0:
        moved = sort_on_host(engine, keys, shape.size, bits, radix, spare)
        return Sorted(spare if moved else keys, None)
    spare_values = None if values is None else engine.empty(values.shape, values.dtype)
    for word, shift, some in radix_passes(shape.bits // shape.words, first_bit, bits):
        radix.run(word, shift, some, keys, spare, values, spare_values)
        keys, spare, values, spare_values = spare, keys, spare_values, values
    return Sorted(keys, values)


def radix_passes(width: int, first_bit: int, bits: int) -> list[tuple[int, int, int]]:
    """List the digits of keys of words of `width` bits, least significant first: word, first bit in it, and bits."""
    found = []
    at, end = first_bit, first_bit + bits
    while at < end:
        word, shift = divmod(at, width)
        some = min(DIGIT_BITS, end - at, width - shift)
        found.append((word, shift, some))
        at += some
    return found


class RadixSort:
    """The kernels, shapes and working memory that all passes of one sort share.

    Attributes
    ----------
    tiles : int
        Parts of the keys that are counted apart.
    places : DeviceArray, uint32 (DIGITS, tiles)
        After a pass: where the first key of each digit and tile went.
    """

    def __init__(self, engine: Engine, shape: KeyShape, values: DeviceArray | None) -> None:
        cpu = engine.tuning.cpu
        self._engine, self._shape = engine, shape
        self._tile = max(CPU_TILE, -(-shape.size // CPU_TILES)) if cpu else LANES * EACH
        self.tiles = -(-shape.size // self._tile)
        self._lanes = 1 if cpu else LANES
        self._count_groups = self.tiles if cpu else -(-self.tiles // COUNTED)
        defines: dict[str, int | str] = {**shape.defines, "CPU": cpu, "LANES": LANES, "EACH": EACH}
        if values is not None:
            defines["VALUE"] = TYPES[values.dtype.name]
        self._count = engine.kernel("primitives/radix_sort.cl", "count_digits", **defines)
        self._scatter = engine.kernel("primitives/radix_sort.cl", "scatter_keys", **defines)
        self.places = engine.empty((DIGITS, self.tiles), np.uint32)

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
        """Move keys and values to `out` and `values_out`, in the order of one digit."""
        shape, lanes = self._shape, self._lanes
        cut = np.uint64(shape.size), np.uint64(self._tile), np.uint32(self.tiles)
        digit = np.uint32(shift), np.uint32((1 << bits) - 1)
        first = np.uint64(word * shape.stride)
        groups = (self._count_groups * lanes,), (lanes,)
        self._engine.launch(self._count, *groups, keys, first, *cut, *digit, self.places)
        scan(self._engine, self.places, out=self.places)
        channels = np.uint64(shape.stride), np.uint32(word)
        moved = () if values is None else (values, values_out)
        groups = (self.tiles * lanes,), (lanes,)
        self._engine.launch(self._scatter, *groups, keys, out, *channels, *cut, *digit, self.places, *moved)
