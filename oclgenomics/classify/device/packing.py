"""Packs and counts features on a device, where bits are moved faster than all threads of the host move them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.database.features import STEP, Counts, Features
from oclgenomics.classify.database.packing import WORD_BITS, parts_of, word_count
from oclgenomics.classify.device.clade_counter import count_clades
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.runtime import DeviceArray, Engine

PACKING = "classify/pack_features.cl"
TYPES = {"uint8": "uchar", "uint16": "ushort"}
TOGETHER = 1 << 22  # numbers that are packed at a time; a multiple of WORD_BITS
NUMBER_BYTES = 32  # of memory that a number takes at most: itself, its flag, its packed form, the counts of features
FLAG = np.dtype(np.uint8)


class FeaturePacker:
    """Packs numbers on one device, in the words of `oclgenomics.classify.database.packing.HostPacker`, and counts.

    Parameters
    ----------
    engine : Engine
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def clades(self, features: Features, lineages: Lineages) -> NDArray[np.int64]:
        """Count the distinct features of each taxon and target."""
        return count_clades(self._engine, features, lineages)

    def located_before(self, counts: Counts, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many locations there are before some features."""
        engine, found = self._engine, np.zeros(len(places), np.int64)
        kernel = engine.kernel(PACKING, "sum_counts", COUNT=TYPES[counts.dtype.name])
        for begin, end in parts_of(places, self._together):
            some = places[begin : end + 1]
            held = counts[some[0] : some[-1]] if some[-1] > some[0] else np.zeros(1, counts.dtype)
            sums = engine.empty(end - begin, np.uint64)
            starts = engine.upload((some - some[0]).astype(np.uint32))
            engine.launch_items(
                kernel, end - begin, counts=engine.upload(held), starts=starts, ranges=end - begin, sums=sums
            )
            found[begin + 1 : end + 1] = engine.download(sums)
        return found.cumsum()

    def keys(self, keys: NDArray[np.uint32], width: int) -> NDArray[np.uint64]:
        """Pack the last bits of keys."""
        words = np.empty(word_count(len(keys), width), np.uint64)
        for begin, end in self._pieces(len(keys)):
            self._pack(words, begin, end, width, self._engine.upload(keys[begin:end]), None)
        return words

    def locations(
        self, locations: NDArray[np.uint32], counts: Counts, before: NDArray[np.int64], width: int
    ) -> NDArray[np.uint64]:
        """Pack locations, with a flag for the last one of each feature."""
        engine, kind = self._engine, TYPES[counts.dtype.name]
        words = np.empty(word_count(len(locations), width), np.uint64)
        mark = engine.kernel(PACKING, "mark_last", COUNT=kind)
        for begin, end in self._pieces(len(locations)):
            low, high = int(np.searchsorted(before, begin, "right")) - 1, int(np.searchsorted(before, end))
            some = counts[low * STEP : high * STEP]
            last = engine.empty(end - begin, FLAG)
            engine.fill(last, 0)
            marked: dict[str, Any] = {
                "counts": engine.upload(some), "before": engine.upload(before[low:high].astype(np.uint64)),
                "size": len(some), "step": STEP, "begin": begin, "end": end, "last": last,
            }  # fmt: skip
            engine.launch_items(mark, high - low, **marked)
            self._pack(words, begin, end, width, engine.upload(locations[begin:end]), last)
        return words

    @property
    def _together(self) -> int:
        """How many numbers are packed at a time, a multiple of `WORD_BITS`."""
        engine = self._engine
        free = min(engine.budget - engine.memory.used, engine.max_allocation)
        return max(min(TOGETHER, free // NUMBER_BYTES // WORD_BITS * WORD_BITS), WORD_BITS)

    def _pieces(self, size: int) -> list[tuple[int, int]]:
        """Parts of numbers whose words are those of no other part."""
        step = self._together
        return [(begin, min(begin + step, size)) for begin in range(0, size, step)]

    def _pack(
        self, words: NDArray[np.uint64], begin: int, end: int, width: int, numbers: DeviceArray,
        last: DeviceArray | None,
    ) -> None:  # fmt: skip
        """Pack numbers from one to before another, which are on the device, into their words."""
        engine, size = self._engine, end - begin
        first, count = word_count(begin, width), word_count(size, width)
        packed = engine.empty(count, np.uint64)
        flags: dict[str, Any] = {} if last is None else {"last": last}
        kernel = engine.kernel(PACKING, "pack_numbers", FLAGGED=last is not None)
        engine.launch_items(kernel, count, numbers=numbers, **flags, size=size, width=width, words=count, packed=packed)
        engine.download(packed, out=words[first : first + count])
        for array in (numbers, packed, *flags.values()):
            array.release()
