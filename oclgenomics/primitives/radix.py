"""The passes of a stable radix sort, each by a digit of the keys."""

from __future__ import annotations

import numpy as np

from oclgenomics.primitives.keys import Items, KeyShape
from oclgenomics.primitives.scan import scan
from oclgenomics.runtime import DeviceArray, Engine

DIGIT_BITS = 8
DIGITS = 1 << DIGIT_BITS
LANES, MIN_LANES, EACH = 256, 16, 11  # work-items of a tile on GPUs, the fewest of them, and keys of each
COUNTED = 8  # tiles that a work-group counts; kernels_cl/primitives/radix_sort.cl
CPU_TILES, CPU_TILE = 256, 4096  # at most so many tiles, at least so many keys each


Digit = tuple[int, int, int]
"""Some bits of a key: their word, the first one in it, and how many there are."""


def radix_passes(width: int, first_bit: int, bits: int) -> list[Digit]:
    """List the digits of keys of words of `width` bits, least significant first.

    Those of a word are as few as possible, and about equal: the fewer keys a digit tells apart, the longer the runs are.
    """
    found = []
    at, end = first_bit, first_bit + bits
    while at < end:
        word, shift = divmod(at, width)
        left = min(end - at, width - shift)
        some = -(-left // -(-left // DIGIT_BITS))
        found.append((word, shift, some))
        at += some
    return found


def scan_root(lanes: int) -> int:
    """Return the largest power of two whose square is at most a quarter of so many work-items, a power of two."""
    return 1 << (lanes.bit_length() - 3) // 2


class RadixSort:
    """The kernels, shapes and working memory that all passes of one sort share.

    With `splitters`, as `partition` takes them, digits are those of the parts that keys belong to.

    Attributes
    ----------
    tiles : int
        Tiles of keys, each with counts of its own.
    places : DeviceArray, uint32 (DIGITS, tiles)
        After a pass: where the first key of each digit and tile went, for as many digits as it had.
    """

    def __init__(self, engine: Engine, shape: KeyShape, items: Items, splitters: DeviceArray | None = None) -> None:
        cpu = engine.tuning.cpu
        self._engine, self._shape = engine, shape
        self._splitters: dict[str, object] = {}  # what counting takes of them, and scattering
        self._digits: dict[str, object] = {}
        root = 1 if cpu else scan_root(engine.group_size(LANES, least=MIN_LANES))
        self._lanes = 1 if cpu else 4 * root * root
        self._tile = max(CPU_TILE, -(-shape.size // CPU_TILES)) if cpu else self._lanes * EACH
        self.tiles = -(-shape.size // self._tile)
        self._count_groups = self.tiles if cpu else -(-self.tiles // COUNTED)
        defines = {**shape.defines, **items.defines, "CPU": cpu, "LANES": self._lanes, "ROOT": root, "EACH": EACH}
        if splitters is not None:
            defines["SPLIT"] = 1
            self._digits = {"digits": engine.empty(shape.size, np.uint8)}
            self._splitters = {"splitters": splitters, "number": splitters.shape[-1]}
        self._defines, self._word_bits = defines, shape.bits // shape.words
        self.places = engine.empty((DIGITS, self.tiles), np.uint32)

    def run_all(self, digits: list[Digit], items: Items) -> Items:
        """Run a pass for each digit; return the items, in the arrays given or new ones."""
        spare = items.like(self._engine)
        for digit in digits:
            self.run(digit, items, spare)
            items, spare = spare, items
        return items

    def run(self, digit: Digit, items: Items, out: Items) -> None:
        """Move items to others, in the order of one digit, which may pass into the next word, or of their parts."""
        shape, lanes, (word, shift, bits) = self._shape, self._lanes, digit
        passes = {"PASSES": 1} if shift + bits > self._word_bits else {}
        count, scatter = (
            self._engine.kernel("primitives/radix_sort.cl", name, **self._defines, **passes)
            for name in ("count_digits", "scatter_keys")
        )
        cut = {"size": shape.size, "tile": self._tile, "tiles": self.tiles, **self._digits}
        key = {"stride": shape.stride, "word": word, "shift": shift, "mask": (1 << bits) - 1}
        groups = (self._count_groups * lanes,), (lanes,)
        self._engine.launch(count, *groups, keys=items.keys, **key, **cut, counts=self.places, **self._splitters)
        scan(self._engine, self.places, size=self.tiles << bits, out=self.places)
        groups = (self.tiles * lanes,), (lanes,)
        self._engine.launch(scatter, *groups, **items.moved(out), **key, **cut, places=self.places)
