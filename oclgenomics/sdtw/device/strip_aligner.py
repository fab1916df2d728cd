"""Launches of the kernel that aligns reads with strips of references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from oclgenomics.runtime import BufferNeed, DeviceArray, Engine
from oclgenomics.sdtw.device.normaliser import Normaliser
from oclgenomics.sdtw.device.slots import NO_SLOT, Slots
from oclgenomics.sdtw.device.strips import ReferenceStrips
from oclgenomics.sdtw.found import Found
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.plan import CellShape, cut_segments, halo, segment_count
from oclgenomics.sdtw.reference import SATURATED
from oclgenomics.sdtw.squiggles.squiggle import Squiggle

__all__ = ["Prefixes", "StripAligner"]

SOURCE = "sdtw/align_strips.cl"
GROUP = 64  # work-items of a group on GPUs
ITEMS_PER_UNIT = 256  # that keep a compute unit of a GPU busy
CELLS_PER_UNIT = 1 << 33  # of a launch, so that none takes long


@dataclass(frozen=True, eq=False)
class Prefixes:
    """Prefixes of reads to align, of one length.

    Attributes
    ----------
    samples : ndarray, int16
        Of all reads.
    first : ndarray, int64, (reads,)
        First sample of each prefix.
    length : int
        Samples of a prefix.
    slots : Slots, optional
        Where scores stay between launches.
    numbers : ndarray, int64, (reads,)
        Slot of each read; empty without slots.
    """

    samples: NDArray[np.int16]
    first: NDArray[np.int64]
    length: int
    slots: Slots | None
    numbers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, which: slice) -> Prefixes:
        return Prefixes(self.samples, self.first[which], self.length, self.slots, self.numbers[which])

    @property
    def done(self) -> int:
        """Rows that have been aligned before; of all reads as many."""
        return int(self.slots.rows[self.numbers[0]]) if self.slots is not None and len(self) else 0


class StripAligner:
    """Aligns prefixes with references, by a kernel of one shape.

    Parameters
    ----------
    engine : Engine
    references : sequence of Squiggle
    options : AlignOptions
    shape : CellShape
    """

    def __init__(self, engine: Engine, references: Sequence[Squiggle], options: AlignOptions, shape: CellShape) -> None:
        self._engine, self._options, self.shape = engine, options, shape
        self.strips = ReferenceStrips(engine, references, options, shape)
        self._normaliser = Normaliser(engine, options, shape.dtype)
        self._cpu = engine.tuning.cpu
        self._step = shape.lanes if self._cpu else GROUP  # reads come in multiples of it
        self._bonus = options.bonus != "none"
        self._room: dict[str, DeviceArray] = {}

    def slots(self, count: int) -> Slots:
        """Return room for the scores of so many reads that go on."""
        return Slots(self._engine, self.strips, self.shape, self._bonus, count)

    def slots_that_fit(self) -> int:
        """Return for how many reads there is room in half of the memory."""
        size = Slots.bytes_of(self.strips, self.shape, self._bonus)
        needs = [BufferNeed("scores that stay", per_item=size), BufferNeed("alignments", per_item=size)]
        return self._engine.items_that_fit(needs, item="read")

    def reads_at_a_time(self, rows: int) -> int:
        """Return how many reads a launch takes."""
        segments = len(self._segments(self._step, rows))
        edges = segments * rows * self.shape.dtype.itemsize
        needs = [
            BufferNeed("edges", per_item=edges, copies=2 if self._bonus else 1),
            BufferNeed("levels", per_item=rows * self.shape.dtype.itemsize),
            BufferNeed("samples", per_item=rows * self._options.row_samples * 2),
        ]
        fits = self._engine.items_that_fit(needs, minimum=self._step, item="read")
        cells = CELLS_PER_UNIT * self._engine.device.compute_units // (rows * len(self.strips) * self.shape.strip)
        return max(self._step, min(fits, cells) // self._step * self._step)

    def align(self, prefixes: Prefixes) -> Found:
        """Align prefixes by one launch; see `Aligner`."""
        done, count = prefixes.done, len(prefixes)
        rows = self._options.rows(prefixes.length) - done
        reads = -(-count // self._step) * self._step
        group = self.shape.lanes if self._cpu else reads
        segments = self._segments(reads, rows)
        best = self._engine.empty((len(segments), reads), self.shape.dtype)
        where = self._engine.empty((len(segments), reads), np.int32)
        levels = self._normaliser.levels(
            prefixes.samples, prefixes.first, prefixes.length, reads, group=group, skipped=done
        )
        arguments = self._edges(len(segments) * reads * rows) | self._state(prefixes, done, reads)
        kernel = self._engine.kernel(
            SOURCE, "align_strips", **self.shape.defines(self._options, state=prefixes.slots is not None)
        )
        self._engine.launch(
            kernel,
            (reads // self.shape.lanes, len(segments)),
            (1 if self._cpu else GROUP, 1),
            levels=levels,
            columns=self.strips.levels,
            strips=self.strips.device_facts,
            segments=self._engine.upload(segments.reshape(-1)),
            rows=rows,
            reads=reads,
            group=group,
            best=best,
            where=where,
            **arguments,
        )
        scores, places = self._engine.download(best), self._engine.download(where)
        if prefixes.slots is not None:  # only now, as a launch that fails leaves scores where they were
            prefixes.slots.advance(prefixes.numbers, done + rows)
        return self._joined(segments[:, 1], scores[:, :count], places[:, :count])

    def _segments(self, reads: int, rows: int) -> NDArray[np.uint32]:
        """Cut the references for so many reads."""
        width = self.shape.strip
        reach = -(-halo(self._options, rows) // width)
        at_work = self._engine.device.compute_units * (1 if self._cpu else ITEMS_PER_UNIT)
        count = segment_count(reads // self.shape.lanes, len(self.strips) * width, reach * width, at_work)
        return cut_segments(self.strips.facts, self.strips.bounds, count, reach)

    def _edges(self, size: int) -> dict[str, Any]:
        """Room for scores, and bonuses, of last columns."""
        names = ["edges", "edge_bonuses"] if self._bonus else ["edges"]
        return {name: self._kept(name, size, self.shape.dtype) for name in names}

    def _state(self, prefixes: Prefixes, done: int, reads: int) -> dict[str, Any]:
        """What the kernel has to know of slots."""
        if prefixes.slots is None:
            return {}
        come, go = prefixes.slots.places(prefixes.numbers)
        return {
            "rows_done": done,
            "slot_size": prefixes.slots.size,
            "from": self._places(come, reads),
            "to": self._places(go, reads),
            "kept": prefixes.slots.kept,
        }

    def _places(self, places: NDArray[np.uint32], reads: int) -> DeviceArray:
        """Places of slots, and none for lanes without a read."""
        return self._engine.upload(np.concatenate([places, np.full(reads - len(places), NO_SLOT, np.uint32)]))

    def _kept(self, name: str, size: int, dtype: DTypeLike) -> DeviceArray:
        """Room of at least so many elements, which stays from call to call."""
        room = self._room.pop(name, None)
        if room is None or room.size < size:
            room = None  # give it back before there is a larger one
            room = self._engine.empty(size, dtype)
        self._room[name] = room
        return room

    def _joined(self, reported: NDArray[np.uint32], best: NDArray[Any], where: NDArray[np.int32]) -> Found:
        """The best of all segments of each reference; of equal ones the first."""
        own = np.searchsorted(self.strips.bounds, reported, "right") - 1
        reads = np.arange(best.shape[1])
        chosen = []
        for number in range(len(self.strips.bounds) - 1):
            mine = np.flatnonzero(own == number)
            chosen.append(mine[best[mine].argmin(axis=0)])
        cost = np.stack([best[which, reads] for which in chosen], axis=1).astype(np.float64)
        column = self.strips.columns_at(np.stack([where[which, reads] for which in chosen], axis=1))
        if self._options.arithmetic == "uint16":
            cost = np.minimum(cost, SATURATED)
            column[cost >= SATURATED] = -1
        return Found(cost, column)
