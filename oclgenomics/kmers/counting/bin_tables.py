"""Distinct k-mers of bins on CPU devices, by tables that fit the processor's caches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.counting.bin_plan import BinPlan
from oclgenomics.kmers.counting.bins import Bins
from oclgenomics.kmers.counting.gathering import Part
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.plan import split_prefixes
from oclgenomics.primitives import Runs
from oclgenomics.runtime import DeviceArray, Engine, SharedArray
from oclgenomics.runtime.program import Kernel

__all__ = ["BinTables"]

SOURCE = "kmers/bin_tables.cl"
CROWDED = (1 << 32) - 1
DIGITS, DIGIT_BITS = 256, 8  # pieces that a bin is divided into, and the bits that tell them apart


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


@dataclass(frozen=True)
class _Found:
    """What was counted of bins; columns are those of the kernel `gather_distinct`.

    Attributes
    ----------
    begins, heads : ndarray, int64 (bins,)
        As of `Bins`.
    sizes : ndarray, uint32 (bins,)
        How many k-mers of each differ.
    first : ndarray, int64 (bins,)
        Where the counts of each begin.
    """

    begins: NDArray[np.int64]
    sizes: NDArray[np.uint32]
    first: NDArray[np.int64]
    heads: NDArray[np.int64]


class BinTables:
    """Counts the k-mers of bins.

    Parameters
    ----------
    engine : Engine
    plan : BinPlan
    most : int
        K-mers that are brought out at a time; with more of them there are fewer launches.
    """

    def __init__(self, engine: Engine, plan: BinPlan, most: int) -> None:
        self._engine, self._bits, self._words, self._most = engine, 2 * plan.k, key_words(plan.k), most
        self._rest = 2 * plan.k - plan.head_bits
        self._defines = {"WORDS": self._words, "KEY_BYTES": plan.key_bytes, "PROBES": plan.probes}
        self._items, self._slots = plan.limits.compute_units, plan.slots
        rows = self._items * (plan.slots + plan.probes)
        self._tables, self._tallies = engine.empty(rows * self._words, np.uint64), engine.empty(rows, np.uint32)
        engine.fill(self._tables, 0)
        engine.fill(self._tallies, 0)
        self._next = engine.empty(1, np.uint32)

    def parts(self, keys: DeviceArray, bins: Bins) -> Iterator[Part]:
        """Count the k-mers of all bins; their keys are used up.

        Parameters
        ----------
        keys : DeviceArray, uint8
            As many bytes a k-mer as the plan's `key_bytes` says.
        bins : Bins
        """
        while (large := bins.distinct_at_most(self._bits) > self._most).any():
            bins = self._divide(keys, bins, large)
        before: _Counting | None = None
        for low, high in split_prefixes(bins.distinct_at_most(self._bits), self._most):
            counting = self._start(keys, bins[low:high])  # the device is at work while the part before is taken
            if before is not None:
                yield Part(self._finish(keys, before), int(before.bins.sizes.sum()))
            before = counting
        if before is not None:
            yield Part(self._finish(keys, before), int(before.bins.sizes.sum()))

    def _start(self, keys: DeviceArray, bins: Bins) -> _Counting:
        places = bins.distinct_at_most(self._bits)
        first = np.cumsum(places) - places
        counts = self._engine.empty(int(places.sum()), np.uint32)
        return _Counting(bins, first, counts, self._enter(keys, bins, first, counts))

    def _finish(self, keys: DeviceArray, counting: _Counting) -> Runs:
        """Divide bins that crowd their tables until none does; then bring all together."""
        bins, first = counting.bins, counting.first
        found = self._engine.download(counting.found.device)
        done: list[_Found] = []
        while True:
            crowded = found == CROWDED
            done.append(_Found(bins.begins[~crowded], found[~crowded], first[~crowded], bins.heads[~crowded]))
            if not crowded.any():
                break
            offset = first - bins.begins
            pieces = self._divide(keys, bins[crowded], np.ones(int(crowded.sum()), bool))
            owner = np.searchsorted(bins.begins, pieces.begins, side="right") - 1
            bins, first = pieces, pieces.begins + offset[owner]
            with self._enter(keys, bins, first, counting.counts) as entered:
                found = self._engine.download(entered.device)
        return self._gather(keys, _in_order(done), counting.counts)

    def _enter(self, keys: DeviceArray, bins: Bins, first: NDArray[np.int64], counts: DeviceArray) -> SharedArray:
        found = self._engine.shared(len(bins), np.uint32)  # read while other bins are counted
        self._engine.fill(self._next, 0)
        self._engine.launch(
            self._kernel("count_distinct"),
            (self._items,),
            (1,),
            keys=keys,
            **self._described(bins),
            first=self._upload(first),
            max_slots=self._slots,
            next=self._next,
            tables=self._tables,
            all_tallies=self._tallies,
            found=found.device,
            counts=counts,
        )
        return found

    def _divide(self, keys: DeviceArray, bins: Bins, chosen: NDArray[np.bool_]) -> Bins:
        """Divide the chosen bins by their next bits."""
        divided = bins[chosen]
        ends = self._engine.empty((len(divided), DIGITS), np.uint32)
        kernel = self._kernel("divide_bins")
        self._engine.launch_items(kernel, len(divided), lanes=1, keys=keys, **self._described(divided), ends=ends)
        skips = np.minimum(divided.skips + DIGIT_BITS, self._bits)
        return bins[~chosen].joined(divided.divided(self._engine.download(ends).astype(np.int64), skips))

    def _gather(self, keys: DeviceArray, found: _Found, counts: DeviceArray) -> Runs:
        ends = np.cumsum(found.sizes, dtype=np.int64)
        size, bins = int(ends[-1]), len(ends)
        out = Runs(self._engine.empty((self._words, size), np.uint64), self._engine.empty(size, np.uint32), size)
        self._engine.launch_items(
            self._kernel("gather_distinct"),
            bins,
            lanes=1,
            keys=keys,
            begins=self._upload(found.begins),
            found=self._upload(found.sizes),
            first=self._upload(found.first),
            counts=counts,
            places=self._upload(ends - found.sizes),
            heads=self._upload(found.heads),
            bins=bins,
            rest=self._rest,
            stride=size,
            out=out.keys,
            out_counts=out.counts,
        )
        return out

    def _described(self, bins: Bins) -> dict[str, Any]:
        """What kernels have to know of bins."""
        columns = {"begins": bins.begins, "sizes": bins.sizes, "skips": bins.skips}
        arrays = {name: self._upload(column) for name, column in columns.items()}
        return {**arrays, "bins": len(bins), "bits": self._bits}

    def _upload(self, numbers: NDArray[np.int64] | NDArray[np.uint32]) -> DeviceArray:
        return self._engine.upload(numbers.astype(np.uint32))

    def _kernel(self, name: str) -> Kernel:
        return self._engine.kernel(SOURCE, name, **self._defines)


def _in_order(done: list[_Found]) -> _Found:
    """All that was found, in ascending order."""
    begins, sizes, first, heads = (
        np.concatenate(column)
        for column in zip(*((some.begins, some.sizes, some.first, some.heads) for some in done), strict=True)
    )
    order = np.argsort(begins, kind="stable")
    return _Found(begins[order], sizes[order], first[order], heads[order])
