"""Distinct k-mers of bins on CPU devices, by tables that fit the processor's caches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.counting.gathering import Part
from oclgenomics.kmers.counting.ranges import split_prefixes
from oclgenomics.kmers.keys import key_words
from oclgenomics.primitives import Runs
from oclgenomics.runtime import DeviceArray, Engine, SharedArray
from oclgenomics.runtime.program import Kernel

__all__ = ["MIN_KEY_BYTES", "BinTables", "Bins", "bin_size", "key_bytes", "table_bytes"]

SOURCE = "kmers/bin_tables.cl"
SLOTS, MIN_SLOTS = 1 << 17, 1 << 8
TABLES_SHARE = 8  # of the device's memory, which the tables may take
BIN_SIZE = 1 << 15  # fewer k-mers make more bins, whose lines and pages no longer fit the caches while they are filled
PROBES = 128  # slots that a k-mer may have to look at
CROWDED = (1 << 32) - 1
MIN_KEY_BYTES = 4
DIGITS = 256  # parts that a bin is split into


@dataclass(frozen=True)
class Bins:
    """Bins of k-mers, in ascending order.

    Attributes
    ----------
    begins, sizes : ndarray, int64 (bins,)
        Where the k-mers of each lie, none has none.
    skips : ndarray, int64 (bins,)
        Leading bits that all k-mers of a bin have in common.
    heads : ndarray, int64 (bins,)
        Those of them that are not kept with each k-mer, as a number.
    """

    begins: NDArray[np.int64]
    sizes: NDArray[np.int64]
    skips: NDArray[np.int64]
    heads: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, chosen: slice | NDArray[np.bool_]) -> Bins:
        return Bins(*(column[chosen] for column in self.columns))

    @property
    def columns(self) -> tuple[NDArray[np.int64], ...]:
        return self.begins, self.sizes, self.skips, self.heads


@dataclass(frozen=True)
class _Counting:
    """Bins whose k-mers the device is counting.

    Attributes
    ----------
    bins : Bins
    first : ndarray, int64 (bins,)
        Where the counts of each begin.
    counts : DeviceArray, uint32
    found : SharedArray, uint32 (bins,)
        How many k-mers of each differ, or CROWDED.
    """

    bins: Bins
    first: NDArray[np.int64]
    counts: DeviceArray
    found: SharedArray


def key_bytes(k: int, head_bits: int) -> int:
    """Bytes that are kept of a k-mer of a bin."""
    return max(MIN_KEY_BYTES, -(-(2 * k - head_bits) // 8))


def table_bytes(engine: Engine, k: int) -> int:
    """Bytes of device memory that the tables take."""
    return engine.device.compute_units * (_slots(engine, k) + PROBES) * (8 * key_words(k) + 4)


def bin_size(engine: Engine, k: int) -> int:
    """K-mers of a bin at best."""
    return min(_slots(engine, k), BIN_SIZE)


def _slots(engine: Engine, k: int) -> int:
    """Slots of a table, fewer where there is little memory."""
    share = min(engine.budget // TABLES_SHARE, engine.max_allocation // 2)
    room = share // (engine.device.compute_units * (8 * key_words(k) + 4))
    return max(MIN_SLOTS, min(SLOTS, 1 << room.bit_length() >> 1))


class BinTables:
    """Counts the k-mers of bins.

    Parameters
    ----------
    engine : Engine
    k : int
    head_bits : int
        Leading bits that the k-mers of every bin have in common.
    most : int
        K-mers that are brought out at a time; with more of them there are fewer launches.
    """

    def __init__(self, engine: Engine, k: int, head_bits: int, most: int) -> None:
        self._engine, self._bits, self._words, self._most = engine, 2 * k, key_words(k), most
        self._rest, self._key_bytes = 2 * k - head_bits, key_bytes(k, head_bits)
        items = engine.device.compute_units
        self._items = items
        self._slots = _slots(engine, k)
        self._tables = engine.empty(items * (self._slots + PROBES) * self._words, np.uint64)
        self._tallies = engine.empty(items * (self._slots + PROBES), np.uint32)
        engine.fill(self._tables, 0)
        engine.fill(self._tallies, 0)
        self._next = engine.empty(1, np.uint32)

    def parts(self, keys: DeviceArray, bins: Bins) -> Iterator[Part]:
        """Count the k-mers of all bins; their keys are used up.

        Parameters
        ----------
        keys : DeviceArray, uint8
            As many bytes a k-mer as `key_bytes` says.
        bins : Bins
        """
        while (large := self._places(bins) > self._most).any():
            bins = self._split(keys, bins, large)
        before: _Counting | None = None
        for low, high in split_prefixes(self._places(bins), self._most):
            counting = self._start(keys, bins[low:high])  # the device is at work while the part before is taken
            if before is not None:
                yield Part(self._finish(keys, before), int(before.bins.sizes.sum()))
            before = counting
        if before is not None:
            yield Part(self._finish(keys, before), int(before.bins.sizes.sum()))

    def _places(self, bins: Bins) -> NDArray[np.int64]:
        """How many distinct k-mers a bin may have."""
        return np.where(bins.skips < self._bits, bins.sizes, 1)

    def _start(self, keys: DeviceArray, bins: Bins) -> _Counting:
        places = self._places(bins)
        first = np.cumsum(places) - places
        counts = self._engine.empty(int(places.sum()), np.uint32)
        return _Counting(bins, first, counts, self._enter(keys, bins, first, counts))

    def _finish(self, keys: DeviceArray, counting: _Counting) -> Runs:
        todo, starts, counts = counting.bins, counting.first, counting.counts
        found = self._engine.download(counting.found.device)
        done: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]] = []
        while True:
            crowded = found == CROWDED
            done.append((todo.begins[~crowded], starts[~crowded], found[~crowded], todo.heads[~crowded]))
            if not crowded.any():
                break
            offset = starts - todo.begins
            parts = self._split(keys, todo[crowded], np.ones(int(crowded.sum()), bool))
            owner = np.searchsorted(todo.begins, parts.begins, side="right") - 1
            todo, starts = parts, parts.begins + offset[owner]
            found = self._engine.download(self._enter(keys, todo, starts, counts).device)
        begins, starts, found, heads = (np.concatenate(column) for column in zip(*done, strict=True))
        order = np.argsort(begins, kind="stable")
        return self._gather(keys, begins[order], found[order], starts[order], heads[order], counts)

    def _enter(self, keys: DeviceArray, bins: Bins, first: NDArray[np.int64], counts: DeviceArray) -> SharedArray:
        found = self._engine.shared(len(bins), np.uint32)  # read while other bins are counted
        self._engine.fill(self._next, 0)
        arrays = (*self._described(bins), self._upload(first))
        sizes = np.uint32(len(bins)), np.uint32(self._bits), np.uint32(self._slots)
        tables = self._next, self._tables, self._tallies
        kernel = self._kernel("count_distinct")
        self._engine.launch(kernel, (self._items,), (1,), keys, *arrays, *sizes, *tables, found.device, counts)
        return found

    def _split(self, keys: DeviceArray, bins: Bins, chosen: NDArray[np.bool_]) -> Bins:
        """Split the chosen bins by their next bits."""
        split, stay = bins[chosen], bins[~chosen]
        ends = self._engine.empty((len(split), DIGITS), np.uint32)
        arrays = *self._described(split), np.uint32(len(split)), np.uint32(self._bits)
        self._engine.launch_items(self._kernel("split_bins"), len(split), keys, *arrays, ends, lanes=1)
        stops = self._engine.download(ends).astype(np.int64)
        begins = np.concatenate([split.begins[:, None], stops[:, :-1]], axis=1)
        skips = np.repeat(np.minimum(split.skips + 8, self._bits), DIGITS)
        parts = Bins(begins.ravel(), (stops - begins).ravel(), skips, np.repeat(split.heads, DIGITS))
        parts = parts[parts.sizes > 0]
        both = [np.concatenate(pair) for pair in zip(stay.columns, parts.columns, strict=True)]
        order = np.argsort(both[0], kind="stable")
        return Bins(*(column[order] for column in both))

    def _gather(
        self,
        keys: DeviceArray,
        begins: NDArray[np.int64],
        found: NDArray[np.uint32],
        first: NDArray[np.int64],
        heads: NDArray[np.int64],
        counts: DeviceArray,
    ) -> Runs:
        ends = np.cumsum(found, dtype=np.int64)
        size = int(ends[-1])
        out = Runs(self._engine.empty((self._words, size), np.uint64), self._engine.empty(size, np.uint32), size)
        arrays = self._upload(begins), self._upload(found), self._upload(first), counts, self._upload(ends - found)
        limits = self._upload(heads), np.uint32(len(begins)), np.uint32(self._rest), np.uint64(size)
        kernel = self._kernel("gather_distinct")
        self._engine.launch_items(kernel, len(begins), keys, *arrays, *limits, out.keys, out.counts, lanes=1)
        return out

    def _described(self, bins: Bins) -> tuple[DeviceArray, ...]:
        return self._upload(bins.begins), self._upload(bins.sizes), self._upload(bins.skips)

    def _upload(self, numbers: NDArray[np.int64] | NDArray[np.uint32]) -> DeviceArray:
        return self._engine.upload(numbers.astype(np.uint32))

    def _kernel(self, name: str) -> Kernel:
        return self._engine.kernel(SOURCE, name, WORDS=self._words, KEY_BYTES=self._key_bytes, PROBES=PROBES)
