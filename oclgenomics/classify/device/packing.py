"""Packs and counts features on a device, where bits are moved faster than all threads of the host move them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.database.features import STEP, Features
from oclgenomics.classify.database.packing import WORD_BITS, Widths, key_starts, parts_of, word_count
from oclgenomics.classify.device.clade_counter import count_clades
from oclgenomics.classify.device.held_features import PACKING, TYPES, HeldFeatures
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.io.siphash import BLOCK_BYTES
from oclgenomics.io.workers import Workers
from oclgenomics.primitives import sum_blocks
from oclgenomics.runtime import DeviceArray, Engine

TOGETHER = 1 << 22  # numbers that are packed at a time; a multiple of WORD_BITS
NUMBER_BYTES = 32  # of memory that a number takes at most: itself, its flag, its packed form, the counts of features
FLAG = np.dtype(np.uint8)


class FeaturePacker:
    """Packs numbers on one device, in the words of `oclgenomics.classify.database.packing.HostPacker`, and counts.

    Parameters
    ----------
    engine : Engine

    Attributes
    ----------
    sums : dict of str to ndarray, uint64
        See `CountingPacker`; made where the device does not share the host's memory, in which threads make them.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.sums: dict[str, NDArray[np.uint64]] = {}

    def clades(self, features: Features, lineages: Lineages) -> NDArray[np.int64]:
        """Count the distinct features of each taxon and target."""
        return count_clades(self._engine, features, lineages)

    def starts(self, features: Features, widths: Widths, threads: Workers) -> NDArray[np.int64]:
        """Return how many keys there are before each bucket, and all of them."""
        held = self._held(features)
        return key_starts(features.keys, widths, threads) if held is None else held.bucket_starts(widths)

    def located_before(self, features: Features, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many locations there are before some features."""
        engine, found = self._engine, np.zeros(len(places), np.int64)
        source = self._source(features, "counts")
        kernel = engine.kernel(PACKING, "sum_counts", COUNT=TYPES[source.dtype.name])
        for begin, end in parts_of(places, self._together):
            some = places[begin : end + 1]
            counts, first = source.part(int(some[0]), int(some[-1]))
            sums = engine.empty(end - begin, np.uint64)
            starts = engine.upload((some - some[0] + first).astype(np.uint32))
            engine.launch_items(kernel, end - begin, counts=counts, starts=starts, ranges=end - begin, sums=sums)
            found[begin + 1 : end + 1] = engine.download(sums)
        return found.cumsum()

    def keys(self, features: Features, width: int) -> NDArray[np.uint64]:
        """Pack the last bits of keys."""
        source = self._source(features, "keys")
        words = np.empty(word_count(len(features), width), np.uint64)
        with self._summed("keys", words) as sums:
            for begin, end in self._pieces(len(features)):
                self._pack(words, begin, end, width, source, None, sums)
        return words

    def locations(self, features: Features, before: NDArray[np.int64], width: int) -> NDArray[np.uint64]:
        """Pack locations, with a flag for the last one of each feature."""
        engine, size = self._engine, features.located
        counts, locations = self._source(features, "counts"), self._source(features, "locations")
        words = np.empty(word_count(size, width), np.uint64)
        mark = engine.kernel(PACKING, "mark_last", COUNT=TYPES[counts.dtype.name])
        with self._summed("locations", words) as sums:
            for begin, end in self._pieces(size):
                low, high = int(np.searchsorted(before, begin, "right")) - 1, int(np.searchsorted(before, end))
                behind = min(high * STEP, len(features))
                some, first = counts.part(low * STEP, behind)
                last = engine.empty(end - begin, FLAG)
                engine.fill(last, 0)
                marked: dict[str, Any] = {
                    "counts": some, "counts_at": first, "before": engine.upload(before[low:high].astype(np.uint64)),
                    "size": behind - low * STEP, "step": STEP, "begin": begin, "end": end, "last": last,
                }  # fmt: skip
                engine.launch_items(mark, high - low, **marked)
                self._pack(words, begin, end, width, locations, last, sums)
        return words

    @contextmanager
    def _summed(self, name: str, words: NDArray[np.uint64]) -> Iterator[DeviceArray | None]:
        """Lend what gets the checksums of the whole blocks of words, if they are made, and keep these."""
        self.sums.pop(name, None)
        blocks, numbers = words.nbytes // BLOCK_BYTES, BLOCK_BYTES * 8
        if self._engine.tuning.shares_memory or self._together % numbers:  # pieces begin with a block only then
            yield None
            return
        sums = self._engine.empty(max(blocks, 1), np.uint64)
        yield sums
        self.sums[name] = self._engine.download(sums, blocks)
        sums.release()

    def _held(self, features: Features) -> HeldFeatures | None:
        """The features, if this device holds them."""
        return features if isinstance(features, HeldFeatures) and features.engine is self._engine else None

    def _source(self, features: Features, name: str) -> _Held | _Sent:
        """Where an array of features comes from."""
        held = self._held(features)
        return _Sent(self._engine, getattr(features, name)) if held is None else _Held(held.arrays[name])

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
        self, words: NDArray[np.uint64], begin: int, end: int, width: int, source: _Held | _Sent,
        last: DeviceArray | None, sums: DeviceArray | None,
    ) -> None:  # fmt: skip
        """Pack numbers from one to before another into their words."""
        engine, size = self._engine, end - begin
        numbers, at = source.part(begin, end)
        first, count = word_count(begin, width), word_count(size, width)
        packed = engine.empty(count, np.uint64)
        flags: dict[str, Any] = {} if last is None else {"last": last}
        kernel = engine.kernel(PACKING, "pack_numbers", FLAGGED=last is not None)
        how: dict[str, Any] = {"numbers_at": at, "size": size, "width": width, "words": count, "packed": packed}
        engine.launch_items(kernel, count, numbers=numbers, **flags, **how)
        blocks = 8 * count // BLOCK_BYTES
        if sums is not None and blocks:
            sum_blocks(engine, packed, blocks * BLOCK_BYTES, blocks, sums, 8 * first // BLOCK_BYTES)
        engine.download(packed, out=words[first : first + count])
        for array in (packed, *flags.values()):
            array.release()


class _Held:
    """An array of features that the device holds."""

    def __init__(self, array: DeviceArray) -> None:
        self._array, self.dtype = array, array.dtype

    def part(self, begin: int, end: int) -> tuple[DeviceArray, int]:
        """Return an array with the items from one to before another, and the place of the first."""
        return self._array, begin


class _Sent:
    """An array of features that the host has, of which parts go to the device."""

    def __init__(self, engine: Engine, array: NDArray[Any]) -> None:
        self._engine, self._array, self.dtype = engine, array, array.dtype

    def part(self, begin: int, end: int) -> tuple[DeviceArray, int]:
        """Bring the items from one to before another to the device; return them, and the place of the first."""
        return self._engine.upload(self._array[begin:end] if end > begin else np.zeros(1, self.dtype)), 0
