"""The passes of a stable radix sort, each by a digit of the keys."""

from __future__ import annotations

import numpy as np

from oclgenomics.primitives.keys import TYPES, KeyShape
from oclgenomics.primitives.scan import scan
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["DIGITS", "RadixSort", "radix_passes"]

DIGIT_BITS = 8
DIGITS = 1 << DIGIT_BITS
LANES, EACH = 256, 16  # work-items of a tile on GPUs, and keys of each
COUNTED = 8  # tiles that a work-group counts; kernels_cl/primitives/radix_sort.cl
CPU_TILES, CPU_TILE = 256, 4096  # at most so many tiles, at least so many keys each


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
