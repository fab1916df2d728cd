"""Stable sort on the device: keys of any number of words, with or without values."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.cores import usable_cores
from oclgenomics.primitives.keys import Items, key_shape
from oclgenomics.primitives.radix import RadixSort, radix_passes
from oclgenomics.runtime import DeviceArray, Engine


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
    """Sort keys in ascending order, each with its value; equal keys keep their order.

    Parameters
    ----------
    engine : Engine
    keys : DeviceArray, uint32 or uint64, (n,) or (words, n)
        Its content is overwritten. Several words make one key, the least significant word first.
    values : DeviceArray, 8 to 64 bits unsigned, (n,), optional
        Its content is overwritten.
    size : int, optional
        Number of keys to sort, from the first on; all if not given.
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
    items = Items(keys, values)
    radix = RadixSort(engine, shape, items)
    if engine.tuning.shares_memory and values is None and shape.words == 1 and first_bit == 0:
        spare = engine.empty(keys.shape, keys.dtype)
        moved = sort_on_host(engine, keys, shape.size, bits, radix, spare)
        return Sorted(spare if moved else keys, None)
    ordered = radix.run_all(radix_passes(shape.bits // shape.words, first_bit, bits), items)
    return Sorted(ordered.keys, ordered.values)


FEW = 1 << 16  # keys that are sorted at once


def sort_on_host(engine: Engine, keys: DeviceArray, size: int, bits: int, radix: RadixSort, spare: DeviceArray) -> bool:
    """Sort keys of one word whose bits from `bits` up are 0.

    Returns
    -------
    bool
        Whether the result is in `spare`; else it is in `keys`.
    """
    if size <= FEW:
        with engine.mapped(keys) as host:
            host[:size].sort()
        return False
    digit_bits = min(bits, 8)
    radix.run((0, bits - digit_bits, digit_bits), Items(keys), Items(spare))
    starts = engine.download(radix.places)[: 1 << digit_bits, 0].astype(np.int64)
    ends = np.append(starts[1:], size)
    with engine.mapped(spare) as host:
        sort_parts(host, starts, ends)
    return True


def sort_parts(host: NDArray[Any], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
    """Sort the parts in place; NumPy lets other threads run meanwhile."""
    largest_first = np.argsort(starts - ends, kind="stable")
    with ThreadPoolExecutor(usable_cores()) as threads:
        list(threads.map(lambda part: host[starts[part] : ends[part]].sort(), largest_first))
