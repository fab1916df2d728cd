"""Launches of the kernel that aligns reads with strips of references: columns of one width.

Scores at the end of a prefix may stay on the device, so that a read which goes on costs its new samples only."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from oclgenomics.runtime import BufferNeed, DeviceArray, Engine
from oclgenomics.runtime.memory import items_that_fit
from oclgenomics.sdtw.device.normaliser import Normaliser
from oclgenomics.sdtw.device.steps import Steps
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.plan import BEGINS, CellShape, cut_segments, halo, segment_count
from oclgenomics.sdtw.reference import SATURATED, normalised_levels
from oclgenomics.sdtw.squiggles.squiggle import Squiggle

SOURCE = "sdtw/align_strips.cl"
NO_SLOT = (1 << 32) - 1
GROUP = 64  # work-items of a group on GPUs
ITEMS_PER_UNIT = 256  # that keep a compute unit of a GPU busy
CELLS_PER_UNIT = 1 << 33  # of a launch, so that none takes long
TOGETHER = 2  # launches whose results are on the device at a time
MAX_CUTS = 256  # of references into segments that are kept


@dataclass(frozen=True, eq=False)
class Found:
    """The best alignments of prefixes of one length.

    Attributes
    ----------
    cost : ndarray, float64, (reads, references)
    column : ndarray, int64, (reads, references)
        Column of the reference at which the alignment ends, the first one of that cost; -1 where the cost is saturated.
    """

    cost: NDArray[np.float64]
    column: NDArray[np.int64]


class PrefixAligner(Protocol):
    """Aligns prefixes of one length with references that stay."""

    references: tuple[Squiggle, ...]
    options: AlignOptions

    def align(self, samples: NDArray[np.int16], first: NDArray[np.int64], prefix: int) -> Found:
        """Align the samples `first[i]` to `first[i] + prefix` of each read i.

        Parameters
        ----------
        samples : ndarray, int16
            Of all reads.
        first : ndarray, int64, (reads,)
        prefix : int
            Samples of a prefix; `samples` has as many from each first one on.
        """


class ReferenceStrips:
    """References laid out in strips. Each track begins at a strip of its own.

    Parameters
    ----------
    engine : Engine
    references : sequence of Squiggle
    options : AlignOptions
    shape : CellShape

    Attributes
    ----------
    levels : DeviceArray, (strips * strip,)
        Of the type of `shape`; 0 after the end of a track.
    facts : ndarray, uint32, (strips,)
        Columns of each strip, and `BEGINS`.
    device_facts : DeviceArray
    bounds : ndarray, int64, (references + 1,)
        Strips of each reference.
    """

    def __init__(self, engine: Engine, references: Sequence[Squiggle], options: AlignOptions, shape: CellShape) -> None:
        self.width = shape.strip
        laid_out = [_strips(reference.tracks, shape.strip) for reference in references]
        self.bounds = np.cumsum([0, *(len(first) for first, _ in laid_out)]).astype(np.int64)
        self._first = np.concatenate([first for first, _ in laid_out])
        self.facts = np.concatenate([facts for _, facts in laid_out])
        levels = np.zeros((len(self.facts), shape.strip), shape.dtype)
        for number, reference in enumerate(references):
            own = slice(self.bounds[number], self.bounds[number + 1])
            within = np.arange(shape.strip) < (self.facts[own] & (BEGINS - 1))[:, None]
            levels[own][within] = normalised_levels(reference.levels, reference.column_strand, options)
        self.levels = engine.upload(levels.reshape(-1))
        self.device_facts = engine.upload(self.facts)

    def __len__(self) -> int:
        return len(self.facts)

    def columns_at(self, places: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the columns of references at places among `levels`; -1 is none."""
        strip, within = np.divmod(places.astype(np.int64), self.width)
        return np.where(places < 0, -1, self._first[strip] + within)


def _strips(tracks: NDArray[np.int64], width: int) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """The first column of each strip, and what the kernel has to know of it."""
    sizes = np.diff(tracks)
    counts = -(-sizes // width)
    track = np.repeat(np.arange(len(sizes)), counts)
    number = np.arange(len(track)) - np.repeat(np.cumsum(counts) - counts, counts)  # in its track
    first = tracks[track] + number * width
    facts = np.minimum(width, tracks[track + 1] - first).astype(np.uint32)
    facts[number == 0] |= np.uint32(BEGINS)
    return first, facts


class Slots:
    """Room for the scores of some reads at all columns.

    A segment reads scores of columns that the one before it writes, so a slot has two places, which take turns.

    Parameters
    ----------
    engine : Engine
    strips : ReferenceStrips
    shape : CellShape
    bonus : bool
        Whether columns have a bonus as well as the score.
    count : int
    """

    def __init__(self, engine: Engine, strips: ReferenceStrips, shape: CellShape, bonus: bool, count: int) -> None:
        self.shape = shape
        self.size = self._elements(strips, shape, bonus)
        self.kept = engine.empty((2 * count, self.size), shape.dtype)
        self.rows = np.zeros(count, np.int64)
        self._turn = np.zeros(count, np.uint32)

    @classmethod
    def bytes_of(cls, strips: ReferenceStrips, shape: CellShape, bonus: bool) -> int:
        """Return the bytes of a slot."""
        return 2 * cls._elements(strips, shape, bonus) * shape.dtype.itemsize

    @staticmethod
    def _elements(strips: ReferenceStrips, shape: CellShape, bonus: bool) -> int:
        return len(strips) * shape.strip * (2 if bonus else 1)

    def places(self, numbers: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Return the places that scores of some slots come from; they go to the other ones of these slots."""
        return 2 * numbers.astype(np.uint32) + self._turn[numbers]

    def advance(self, numbers: NDArray[np.int64], rows: int) -> None:
        """Note that scores have come to their new places: so many rows are aligned."""
        self._turn[numbers] ^= np.uint32(1)
        self.rows[numbers] = rows


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


class Rooms:
    """Arrays on the device that stay from launch to launch.

    A driver may wait for its kernels where memory is given back, and nothing could be done meanwhile.

    Parameters
    ----------
    engine : Engine

    Attributes
    ----------
    nbytes : int
        Of all of them, those that are lent as well.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine, self.nbytes = engine, 0
        self._free: defaultdict[str, list[DeviceArray]] = defaultdict(list)

    @contextmanager
    def lent(self, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> Iterator[DeviceArray]:
        """Lend an array; its content is undefined. Kernels may still use it when it is given back, transfers not."""
        free, size = self._free[name], math.prod(shape)
        room = free.pop() if free else None
        if room is None or room.size < size:
            if room is not None:
                self._engine.wait_for(room)
                self.nbytes -= room.nbytes
            room = None  # give it back before there is a larger one
            room = self._engine.empty(size, dtype)
            self.nbytes += room.nbytes
        try:
            yield DeviceArray(room.memory, shape, room.dtype)
        finally:
            free.append(room)


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
        self._rooms = Rooms(engine)
        self._cuts: dict[tuple[int, int], tuple[NDArray[np.uint32], DeviceArray]] = {}

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
        engine, size = self._engine, self.shape.dtype.itemsize
        segments = len(self._segments(self._step, rows)[0])
        needs = [
            BufferNeed("edges", per_item=segments * rows * size, copies=2 if self._bonus else 1),
            BufferNeed("levels", per_item=rows * size),
            BufferNeed("samples", per_item=rows * self._options.row_samples * 2),
            BufferNeed("results", per_item=segments * (size + np.dtype(np.int32).itemsize), copies=TOGETHER),
        ]
        free = engine.budget - engine.memory.used + self._rooms.nbytes
        fits = items_that_fit(needs, budget=free, max_allocation=engine.max_allocation, minimum=self._step, item="read")
        cells = CELLS_PER_UNIT * engine.device.compute_units // (rows * len(self.strips) * self.shape.strip)
        return max(self._step, min(fits, cells) // self._step * self._step)

    def align(self, prefixes: Prefixes) -> Steps[Found]:
        """Align prefixes by one launch; see `Aligner`."""
        done, count = prefixes.done, len(prefixes)
        rows = self._options.rows(prefixes.length) - done
        reads = -(-count // self._step) * self._step
        segments, on_device = self._segments(reads, rows)
        state, results = self._state(prefixes, done, reads), (len(segments), reads)
        with (
            self._rooms.lent("best", results, self.shape.dtype) as best,
            self._rooms.lent("where", results, np.int32) as where,
        ):
            self._launch(prefixes, rows, results, segments=on_device, best=best, where=where, **state)
            yield
            scores, places = self._engine.download(best), self._engine.download(where)
        if prefixes.slots is not None:  # only now, as a launch that fails leaves scores where they were
            prefixes.slots.advance(prefixes.numbers, done + rows)
        return self._joined(segments[:, 1], scores[:, :count], places[:, :count])

    def _launch(self, prefixes: Prefixes, rows: int, results: tuple[int, int], **arguments: Any) -> None:
        """Align the last so many rows of prefixes; results are of so many segments and reads."""
        segments, reads = results
        group = self.shape.lanes if self._cpu else reads
        names = ["edges", "edge_bonuses"] if self._bonus else ["edges"]  # of last columns
        kernel = self._engine.kernel(
            SOURCE, "align_strips", **self.shape.defines(self._options, state=prefixes.slots is not None)
        )
        with ExitStack() as stack:
            edges = {
                name: stack.enter_context(self._rooms.lent(name, (segments * reads * rows,), self.shape.dtype))
                for name in names
            }
            room = stack.enter_context(self._rooms.lent("levels", (reads * rows,), self.shape.dtype))
            levels = self._normaliser.levels(
                prefixes.samples, prefixes.first, prefixes.length, reads, group=group, skipped=prefixes.done, room=room
            )
            self._engine.launch(
                kernel,
                (reads // self.shape.lanes, segments),
                (1 if self._cpu else GROUP, 1),
                levels=levels,
                columns=self.strips.levels,
                strips=self.strips.device_facts,
                rows=rows,
                **edges,
                **arguments,
            )

    def _segments(self, reads: int, rows: int) -> tuple[NDArray[np.uint32], DeviceArray]:
        """The references cut for so many reads: the segments on the host, and on the device."""
        if (reads, rows) not in self._cuts:
            width = self.shape.strip
            reach = -(-halo(self._options, rows) // width)
            at_work = self._engine.device.compute_units * (1 if self._cpu else ITEMS_PER_UNIT)
            count = segment_count(reads // self.shape.lanes, len(self.strips) * width, reach * width, at_work)
            segments = cut_segments(self.strips.facts, self.strips.bounds, count, reach)
            if len(self._cuts) == MAX_CUTS:
                self._cuts.clear()
            self._cuts[reads, rows] = segments, self._engine.upload(segments.reshape(-1))
        return self._cuts[reads, rows]

    def _state(self, prefixes: Prefixes, done: int, reads: int) -> dict[str, Any]:
        """What the kernel has to know of slots."""
        if prefixes.slots is None:
            return {}
        places = np.full(reads, NO_SLOT, np.uint32)  # none for lanes without a read
        places[: len(prefixes)] = prefixes.slots.places(prefixes.numbers)
        return {"rows_done": done, "slots": self._engine.upload(places), "kept": prefixes.slots.kept}

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
