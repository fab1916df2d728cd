"""Distinct k-mers of bins on CPU devices, by tables of lines that fit the processor's caches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.closing import Closing
from oclgenomics.kmers.device.bin_fill import FilledBins
from oclgenomics.kmers.device.parts import Kept
from oclgenomics.kmers.device.slots import Slots, in_bins
from oclgenomics.kmers.options import MAX_COUNTER
from oclgenomics.kmers.plan.bins import LINE_BYTES, SlotLayout, key_bytes, stage_lines
from oclgenomics.runtime import DeviceArray, Engine, SharedArray

SOURCE = "kmers/line_tables.cl"
LANES = 8  # slots of a line
BEHIND = 16  # lines behind a table's last one
FIRST_SHARE = 1 << 15  # distinct k-mers of 2 ^ 16, before any bin was seen
OVERFULL, NO_ROOM = (1 << 32) - 1, (1 << 32) - 2  # instead of how many slots a bin has
TALLIES = 3


def slots_for(sizes: NDArray[np.int64], lines: int) -> NDArray[np.int64]:
    """Slots that bins take at most, int64 (bins,): tables of so many lines hold no more distinct k-mers.

    Parameters
    ----------
    sizes : ndarray, int64 (bins,)
        K-mers of each bin.
    lines : int
    """
    slots: NDArray[np.int64] = np.minimum(sizes, (lines + BEHIND) * LANES) + 2 * LANES
    return slots


@dataclass(frozen=True)
class Lined:
    """What was counted of bins.

    Attributes
    ----------
    slots : Slots
        Of bins up to `end`. Those that are overfull have none.
    overfull : ndarray, int64 (n,)
        Numbers of bins before `end` whose distinct k-mers exceed the largest table, ascending.
    end : int
        The first bin that there was no room for the slots of, or that behind the last one.
    taken : int
        Slots that all bins took, with those between them; more than there are if there was no room.
    """

    slots: Slots
    overfull: NDArray[np.int64]
    end: int
    taken: int


class LineTables:
    """Counts the k-mers of filled bins, with a table for each work-item.

    Parameters
    ----------
    engine : Engine
        Of a CPU device.
    rest : int
        Bits of a key behind the prefix of its bin.
    lines : int
        Lines that a table has at most, of 8 slots each; half as many slots are filled where there is room.
    items : int, optional
        Work-items; as many as the device has compute units if not given.
    compressed : bool
        No two bases of a k-mer that follow each other are equal. Lines are shared out for that.
    """

    def __init__(
        self, engine: Engine, rest: int, lines: int, *, items: int | None = None, compressed: bool = False
    ) -> None:
        if rest < 1 or lines < 1:
            raise ValueError(f"tables of {lines} lines for keys of {rest} bits: both have to be at least 1")
        self.layout = SlotLayout(rest)
        self._engine, self._lines = engine, lines
        self._items = engine.device.compute_units if items is None else items
        words, bytes_of_key = self.layout.words, key_bytes(rest)
        joined = engine.tuning.vector_width > 1 or engine.tuning.vector_bytes < LINE_BYTES
        defines = {
            "SLOT_WORDS": words,
            "KEY_WORDS": self.layout.key_words,
            "KEY_BYTES": bytes_of_key,
            "STAGE_LINES": stage_lines(rest),
            "COMPRESSED": compressed,
            "JOINED": int(joined),
        }
        self._kernel = engine.kernel(SOURCE, "count_lines", **defines)
        rows = self._items * (lines + BEHIND) * LANES
        self._tables = engine.empty(rows * words + -(-rows // 2), np.uint64)  # with a count of 32 bits for each slot
        self._states = engine.upload(np.array([[FIRST_SHARE, 0]] * self._items, np.uint32))
        self._most_grown = 0
        self._room_for_grown(1)

    def count(
        self,
        filled: FilledBins,
        first: int,
        end: int,
        *,
        least: int,
        most: int,
        cap: int,
        words: DeviceArray | None = None,
    ) -> Lined:
        """Count the k-mers of bins `first` to `end` - 1.

        Parameters
        ----------
        filled : FilledBins
            With keys of `rest` bits.
        first, end : int
        least, most : int
            K-mers with fewer or more are left out.
        cap : int
            Counts stop there; at 2^32 - 1 at the latest.
        words : DeviceArray, uint64 (layout.words, stride), optional
            Where the slots go; `slots_for` says how many there may be. With less room counting may end before `end`,
            but there has to be enough for each bin alone. A new array for all if not given.

        Raises
        ------
        ValueError
            The keys have another number of bits, or there is no room for the slots of a bin.
        """
        if filled.rest != self.layout.rest:
            raise ValueError(f"keys of {filled.rest} bits for tables of keys of {self.layout.rest} bits")
        sizes = filled.sizes[first:end]
        kmers, bins = int(sizes.sum()), len(sizes)
        slots = slots_for(sizes, self._lines)
        if words is None:
            words = self._engine.empty((self.layout.words, max(int(slots.sum()), 1)), np.uint64)
        needed = int(slots.max(initial=0))
        if words.shape[0] != self.layout.words or words.shape[1] < needed or int(slots.sum()) >= NO_ROOM:
            raise ValueError(f"{words} has no room for {needed} slots of {self.layout.words} words")
        ranges = self._engine.empty((2, max(bins, 1)), np.uint32)
        self._engine.fill(ranges, NO_ROOM)
        larges = self._engine.empty((kmers // self.layout.many + 1, 2), np.uint32)
        tallies = self._engine.upload(np.zeros(TALLIES, np.uint32))
        if bins:
            self._room_for_grown(int(sizes.max()) // self.layout.many + 1)
            keys = [self.layout.rest, self.layout.count_bits, self._lines, self._most_grown]
            bounds = [least, min(most, MAX_COUNTER), min(cap, MAX_COUNTER)]
            where = [filled.staged.shape[0], len(filled.sizes), len(filled.lists.chunks), first, end]
            shape = np.array([*where, *keys, *bounds, words.shape[1]], np.uint64)
            self._engine.launch(
                self._kernel, (self._items,), (1,), pool=filled.pool, lists=filled.listed, stages=filled.stages,
                staged=filled.staged, shape=self._engine.upload(shape), tallies=tallies, tables=self._tables,
                all_grown=self._grown, states=self._states, words=words, ranges=ranges, larges=larges,
            )  # fmt: skip
        taken, large = self._engine.download(tallies)[1:].tolist()
        many = self._engine.download(larges, 2 * large).reshape(-1, 2) if large else np.zeros((0, 2), np.uint32)
        begins, sizes = self._engine.download(ranges)[:, :bins]
        counted, overfull = self._slots_of(filled.span.heads[first:end], words, begins, sizes, many)
        return Lined(counted, overfull + first, len(counted.heads) + first, taken)

    def _slots_of(
        self, heads: NDArray[np.uint64], words: DeviceArray, begins: NDArray[np.uint32], sizes: NDArray[np.uint32],
        larges: NDArray[np.uint32],
    ) -> tuple[Slots, NDArray[np.int64]]:  # fmt: skip
        """The slots of the bins before the first one that found no room, and which of these bins are overfull."""
        end = int(np.flatnonzero(sizes == NO_ROOM).min(initial=len(sizes)))
        begins, sizes = begins[:end], sizes[:end]
        overfull = np.flatnonzero(sizes == OVERFULL)
        sizes[overfull] = 0
        larges = larges[np.argsort(larges[:, 0])]
        larges = larges[in_bins(larges[:, 0], begins, sizes)]  # other work-items may have been at bins behind the end
        slots, counts = map(np.ascontiguousarray, larges.T)
        return Slots(self.layout, words, heads[:end], begins, sizes, slots, counts), overfull

    def _room_for_grown(self, keys: int) -> None:
        """Have room for so many keys of a bin whose counts outgrow their hole."""
        keys = min(keys, (self._lines + BEHIND) * LANES)
        if keys > self._most_grown:
            self._most_grown = keys
            noted = self._items * keys  # a slot and its count, and 32 bits of its place
            self._grown = self._engine.empty(noted * (self.layout.words + 1) + -(-noted // 2), np.uint64)


class TablesOfAnyRest(Closing):
    """Counts the k-mers of filled bins, whatever the number of bits behind their prefixes; a context manager.

    What is counted lies in memory that is used again: it is valid until the next bins are counted.

    Parameters
    ----------
    engine : Engine
        Of a CPU device.
    lines : int
        Lines that a table has at most.
    part_slots : callable
        How many slots for so many bits a part has; more only where a bin takes more. Counting ends before a bin that
        finds no room.
    """

    def __init__(
        self, engine: Engine, lines: int, part_slots: Callable[[int], int], *, compressed: bool = False
    ) -> None:
        self._engine, self._lines, self._part_slots, self._compressed = engine, lines, part_slots, compressed
        self._tables: LineTables | None = None
        self._words: SharedArray | None = None

    def close(self) -> None:
        """Give the memory back."""
        self._tables = None
        if self._words is not None:
            self._words.release()

    def count(self, filled: FilledBins, first: int, end: int, kept: Kept) -> Lined:
        """Count the k-mers of some bins, those that are kept; see `LineTables.count`."""
        if self._tables is None or self._tables.layout.rest != filled.rest:
            self._tables = None  # give its memory back first
            self._tables = LineTables(self._engine, filled.rest, self._lines, compressed=self._compressed)
        each = int(slots_for(filled.sizes[first:end], self._lines).max(initial=0))
        words = self._room(self._tables.layout.words, max(each, self._part_slots(filled.rest)))
        return self._tables.count(filled, first, end, least=kept.least, most=kept.most, cap=kept.cap, words=words)

    def _room(self, words: int, slots: int) -> DeviceArray:
        """Memory for so many slots: fresh memory would have to be touched first."""
        if self._words is None or self._words.device.shape[0] != words or self._words.device.shape[1] < slots:
            if self._words is not None:
                self._words.release()
            self._words = self._engine.shared((words, slots), np.uint64)
        return self._words.device
