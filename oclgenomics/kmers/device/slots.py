"""Counted k-mers of bins, as the tables of CPU devices leave them, and what is made of these slots."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import PIECE
from oclgenomics.kmers.plan.bins import SlotLayout
from oclgenomics.primitives import Runs
from oclgenomics.runtime import DeviceArray, Engine

EACH = 1 << 12  # k-mers of a work-item, which has to find its first bin
LANES = 1  # work-items go through bins of their own, and no vector could


@dataclass(frozen=True)
class Slots:
    """Distinct k-mers of bins that follow each other, and their counts, in ascending order.

    Attributes
    ----------
    layout : SlotLayout
    words : DeviceArray, uint64 (layout.words, stride)
        Word w of slot i is words[w, i]. Slots of a bin follow each other; bins lie anywhere.
    heads : ndarray, uint64 (bins,)
        The prefix of each bin, as a number: a k-mer is head * 2 ^ rest + rest.
    begins, sizes : ndarray, uint32 (bins,)
        The first slot of each bin, and how many there are.
    large_slots, large_counts : ndarray, uint32 (n,)
        Slots whose counts are `layout.many` in their words, ascending, and their true counts.
    """

    layout: SlotLayout
    words: DeviceArray
    heads: NDArray[np.uint64]
    begins: NDArray[np.uint32]
    sizes: NDArray[np.uint32]
    large_slots: NDArray[np.uint32]
    large_counts: NDArray[np.uint32]

    @property
    def size(self) -> int:
        """K-mers in all."""
        return int(self.sizes.sum(dtype=np.int64))

    def first(self, bins: int) -> Slots:
        """Those of the first bins."""
        return replace(self, heads=self.heads[:bins], begins=self.begins[:bins], sizes=self.sizes[:bins])


class SlotBins:
    """Slots of which kernels know the bins that have any.

    Parameters
    ----------
    engine : Engine
    slots : Slots

    Attributes
    ----------
    layout : SlotLayout
    size : int
        K-mers of all bins.
    arguments : dict
        The arrays that kernels are told of them, by the names of `slot_key.clh`.
    shape : list of int
        How the `shape` of kernels begins.
    """

    def __init__(self, engine: Engine, slots: Slots) -> None:
        used = np.flatnonzero(slots.sizes)
        starts = np.zeros(len(used) + 1, np.uint64)
        np.cumsum(slots.sizes[used], out=starts[1:])
        self._engine, self.layout = engine, slots.layout
        self.size = int(starts[-1])
        larges = np.concatenate([slots.large_slots, slots.large_counts])
        table = np.concatenate([starts, slots.heads[used], slots.begins[used].astype(np.uint64)])
        self.arguments: dict[str, Any] = {
            "words": slots.words,
            "table": engine.upload(table),
            "larges": engine.upload(larges if len(larges) else np.zeros(1, np.uint32)),  # which nobody reads
        }
        layout = slots.layout
        self.shape = [slots.words.shape[1], layout.rest, layout.count_bits, len(used), len(slots.large_slots)]

    @property
    def defines(self) -> dict[str, int]:
        """Parameters of the kernels that take them."""
        return {"SLOT_WORDS": self.layout.words}

    def expand(self, start: int, size: int, keys: DeviceArray, counts: DeviceArray, place: int = 0) -> None:
        """Make keys and counts of some neighbours.

        Parameters
        ----------
        start, size : int
            The first k-mer, and how many.
        keys : DeviceArray, uint64 (words, room)
        counts : DeviceArray, uint32 (room,)
        place : int
            Where the first one goes.
        """
        words, room = keys.shape
        kernel = self._engine.kernel("kmers/slot_runs.cl", "expand_slots", WORDS=words, EACH=EACH, **self.defines)
        self._engine.launch_items(
            kernel, -(-size // EACH), lanes=LANES, **self.arguments,
            shape=self._engine.upload(np.array(self.shape, np.uint64)), start=start, size=size, room=room, place=place,
            keys=keys, counts=counts,
        )  # fmt: skip


def unused_slot(engine: Engine, layout: SlotLayout) -> Slots:
    """Return a slot of one bin, for kernels that get slots and use none."""
    one, none = np.ones(1, np.uint32), np.empty(0, np.uint32)
    words = engine.upload(np.zeros((layout.words, 1), np.uint64))
    return Slots(layout, words, np.zeros(1, np.uint64), np.zeros(1, np.uint32), one, none, none)


def runs_of(engine: Engine, slots: Slots, k: int) -> Runs:
    """Return k-mers of k bases with all of their bits.

    Returns
    -------
    Runs
        Keys uint64 (words, n) and counts uint32 (n,) on the device.

    Raises
    ------
    AllocationError
        The device's memory does not hold them in addition to the slots.
    """
    bins = SlotBins(engine, slots)
    keys, counts = engine.empty((key_words(k), bins.size), np.uint64), engine.empty(bins.size, np.uint32)
    bins.expand(0, bins.size, keys, counts)
    return Runs(keys, counts, bins.size)


def counts_of_part(engine: Engine, counted: Runs | Slots) -> Iterator[NDArray[np.uint32]]:
    """Bring the counts of k-mers to the host, some at a time; those of slots in no order.

    Yields
    ------
    ndarray, uint32 (n,)
    """
    if isinstance(counted, Runs):
        yield engine.download(counted.counts, counted.size)
    else:
        yield from _of_slots(engine, counted)


def _of_slots(engine: Engine, slots: Slots) -> Iterator[NDArray[np.uint32]]:
    many = np.uint64(slots.layout.many)
    used = np.flatnonzero(slots.sizes)
    begins, sizes = slots.begins[used].astype(np.int64), slots.sizes[used].astype(np.int64)
    with engine.mapped(slots.words) as words:
        for some in _groups(sizes):
            ends = (begins[some] + sizes[some]).tolist()
            bins = zip(begins[some].tolist(), ends, strict=True)
            counts = np.concatenate([words[0, begin:end] for begin, end in bins]) & many
            yield counts[counts != many].astype(np.uint32)
    yield slots.large_counts[in_bins(slots.large_slots, begins, sizes)]


def _groups(sizes: NDArray[np.int64]) -> Iterator[slice]:
    """Bins that together have few k-mers, or one bin."""
    number = (np.cumsum(sizes) - sizes) // PIECE  # of the group; ascending
    cuts = np.flatnonzero(np.diff(number, prepend=-1, append=-1)).tolist()
    return (slice(begin, end) for begin, end in itertools.pairwise(cuts))


def in_bins(places: NDArray[np.uint32], begins: NDArray[np.integer], sizes: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Say which slots are those of bins: a list may go on behind the bins that are asked for."""
    begins, sizes = np.append([0], begins[sizes > 0]), np.append([0], sizes[sizes > 0])  # the first one holds nothing
    order = np.argsort(begins, kind="stable")
    bins = np.searchsorted(begins[order], places, side="right") - 1
    inside: NDArray[np.bool_] = places - begins[order][bins] < sizes[order][bins]
    return inside
