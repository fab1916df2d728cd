"""Stable partition on the device: keys to their parts, by a digit or by splitters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from oclgenomics.primitives.keys import Items, KeyShape, key_shape
from oclgenomics.primitives.radix import RadixSort, radix_passes
from oclgenomics.runtime import DeviceArray, Engine

MAX_BITS = 24
MAX_SPLITTERS = (1 << MAX_BITS) - 1


@dataclass(frozen=True)
class Parts:
    """Keys and their values part by part, in arrays of the shapes that came in.

    Attributes
    ----------
    keys : DeviceArray, (words, n) or (n,)
    values : DeviceArray (n,) or None
    starts : DeviceArray, uint32 (parts + 1,)
        Part p is keys starts[p] .. starts[p + 1] - 1.
    """

    keys: DeviceArray
    values: DeviceArray | None
    starts: DeviceArray


def partition(
    engine: Engine,
    keys: DeviceArray,
    values: DeviceArray | None = None,
    *,
    size: int | None = None,
    bits: int | None = None,
    first_bit: int = 0,
    splitters: DeviceArray | None = None,
) -> Parts:
    """Bring the keys of each part together, each with its value; keys keep their order within a part.

    Either `bits` or `splitters` defines the parts. Up to 256 parts take one pass over the keys, up to 65,536
    two; a digit that lies in two words takes one more.

    Parameters
    ----------
    engine : Engine
    keys : DeviceArray, uint32 or uint64, (n,) or (words, n)
        Its content is overwritten. Several words make one key, the least significant word first.
    values : DeviceArray, 8 to 64 bits unsigned, (n,), optional
        Its content is overwritten.
    size : int, optional
        Number of keys to partition, from the first on; all if not given.
    bits, first_bit : int, optional
        There are 2^bits parts, at most 2^`MAX_BITS`: the part of a key is the number in its bits first_bit ..
        first_bit + bits - 1. Its other bits do not matter.
    splitters : DeviceArray, of the keys' dtype, (parts - 1,) or (words, parts - 1), optional
        In ascending order. The part of a key is the number of splitters that are not greater than it: the parts lie
        between splitters, and a key equal to a splitter is in the part after it. Equal splitters make an empty part.

    Returns
    -------
    Parts
        Each array of keys and values is either the one given or a new one.

    Raises
    ------
    ValueError
        Arrays of other types or shapes, bits that a key does not have, too many parts or keys, or not exactly one of
        bits and splitters.
    """
    shape = key_shape("partition", keys, values, size)
    if (bits is None) == (splitters is None):
        raise ValueError("partition: give either bits or splitters")
    if splitters is not None:
        return _by_splitters(engine, shape, Items(keys, values), splitters)
    assert bits is not None
    if not 0 < bits <= MAX_BITS or first_bit < 0 or first_bit + bits > shape.bits:
        raise ValueError(
            f"partition: bits {first_bit} to {first_bit + bits} are not 1 to {MAX_BITS} in keys of {shape.bits} bits"
        )
    items, width = Items(keys, values), shape.bits // shape.words
    if shape.size:
        items = RadixSort(engine, shape, items).run_all(radix_passes(width, first_bit, bits), items)
    word, shift = divmod(first_bit, width)
    digit = {"word": word, "shift": shift, "mask": (1 << bits) - 1}
    return _parts(engine, shape, items, 1 << bits, {}, digit)


def _by_splitters(engine: Engine, shape: KeyShape, items: Items, splitters: DeviceArray) -> Parts:
    keys = items.keys
    number = splitters.shape[-1]
    suits = splitters.dtype == keys.dtype and splitters.size == shape.words * number
    if not suits or len(splitters.shape) != len(keys.shape) or number > MAX_SPLITTERS:
        raise ValueError(f"partition of {keys}: {splitters} does not suit; at most {MAX_SPLITTERS} are possible")
    passes = radix_passes(32, 0, number.bit_length())
    if shape.size and passes:
        items = RadixSort(engine, shape, items, splitters).run_all(passes, items)
    between = {"splitters": splitters, "number": number}
    return _parts(engine, shape, items, number + 1, {"SPLIT": 1}, between)


def _parts(
    engine: Engine, shape: KeyShape, items: Items, parts: int, defines: dict[str, int], how: dict[str, Any]
) -> Parts:
    """Find where each part starts, `how` being what tells the part of a key."""
    starts = engine.empty(parts + 1, np.uint32)
    kernel = engine.kernel("primitives/partition.cl", "find_starts", **shape.defines, **defines)
    whole: dict[str, Any] = {"keys": items.keys, "stride": shape.stride, "size": shape.size, "parts": parts}
    engine.launch_items(kernel, parts + 1, **whole, **how, starts=starts)
    return Parts(items.keys, items.values, starts)
