"""Tables of a set's k-mers on the device: ascending keys, and where those with each prefix begin."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import KmerSet
from oclgenomics.kmers.device.marks import Marks
from oclgenomics.kmers.device.parts import uploaded
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.kmers.options import MAX_COUNTER, check_counts
from oclgenomics.kmers.plan.memory import decodes_on_device, kmers_to_upload, marked_room, prefix_bits
from oclgenomics.primitives import Runs, compact
from oclgenomics.runtime import DeviceArray, Engine, HostArray

SOURCE = "kmers/key_table.cl"
CPU_ITEMS = 256  # work-items at most, so that cores share the work evenly
SPARE = 8  # keys behind the last one that are compared, too
GPU_PREFIXES = 16  # that a work-item finds


@dataclass(frozen=True)
class CountBounds:
    """Counts from `least` to `most`.

    Raises
    ------
    UsageError
        A value is outside its range.
    """

    least: int = 1
    most: int = MAX_COUNTER

    def __post_init__(self) -> None:
        check_counts(self.least, self.most)

    @property
    def highest(self) -> int:
        """The largest count within the bounds that there can be."""
        return min(self.most, MAX_COUNTER)

    def within(self, kmers: KmerSet) -> int:
        """Return how many k-mers of a set are within the bounds, or, where only reading all would tell, at most."""
        if not isinstance(kmers, KmerDatabase):
            return kmers.distinct
        counts, distinct = kmers.histogram
        chosen = (counts >= self.least) & (counts <= self.most)
        return int(distinct[chosen].sum(dtype=np.uint64))


@dataclass(frozen=True)
class ChosenKmers:
    """Which k-mers of a set come into tables.

    Attributes
    ----------
    bounds : CountBounds
    marks : Marks, optional
        K-mers without a mark are left out.
    """

    bounds: CountBounds
    marks: Marks | None = None

    def of(self, engine: Engine, k: int, runs: Runs) -> Runs:
        """Return the chosen ones of some k-mers; `runs` itself if these are all."""
        marks, bounds = self.marks, self.bounds
        if marks is None and (bounds.least, bounds.highest) == (1, MAX_COUNTER):
            return runs
        flags = engine.empty(runs.size, np.uint8)
        kernel = engine.kernel(SOURCE, "choose_kmers", WORDS=key_words(k), MARKS=marks is not None)
        engine.launch_items(
            kernel, runs.size, keys=runs.keys, counts=runs.counts, stride=runs.keys.shape[1], size=runs.size, k=k,
            bits=0 if marks is None else marks.bits, least=bounds.least, most=bounds.highest,
            marks=None if marks is None else marks.array, flags=flags,
        )  # fmt: skip
        keys = compact(engine, runs.keys, flags, size=runs.size)
        counts = compact(engine, runs.counts, flags, size=runs.size)
        return Runs(keys, counts, counts.size)


class KeyTable:
    """K-mers in ascending order, as many as there is room for; `kernels_cl/kmers/key_table.clh` has the layout.

    Parameters
    ----------
    engine : Engine
    k : int
    room : int
        K-mers at most.
    with_counts : bool
        The table has their counts, too.

    Attributes
    ----------
    size, room : int
        K-mers that it has, and at most.
    last : bool
        No other table follows.
    """

    def __init__(self, engine: Engine, k: int, room: int, *, with_counts: bool = False) -> None:
        self.size, self.room, self.last = 0, room, False
        self._engine, self._k = engine, k
        # A CPU device finds lines of huge pages sooner, which the host's memory has.
        self._keys = HostArray(engine, (key_words(k), room + SPARE), np.uint64)
        self._counts = HostArray(engine, max(room, 1), np.uint32) if with_counts else None
        self._bits, self._starts = 1, HostArray(engine, 1, np.uint32)

    @property
    def left(self) -> int:
        """K-mers that there is room for."""
        return self.room - self.size

    @property
    def keys(self) -> dict[str, Any]:
        """What kernels take that ask whether k-mers are there, or for their counts."""
        return self._places if self._counts is None else {**self._places, "key_counts": self._counts.device}

    @property
    def _places(self) -> dict[str, Any]:
        keys = self._keys.device
        return {"keys": keys, "stride": keys.shape[1], "starts": self._starts.device, "bits": self._bits}

    def append(self, runs: Runs, start: int, size: int) -> None:
        """Copy `size` k-mers from `start` on, which are greater than all that the table has."""
        self._copy(runs.keys, runs.counts, start, size)
        self.size += size

    def enlarge(self, room: int) -> None:
        """Move to where there is room for so many."""
        larger = KeyTable(self._engine, self._k, room, with_counts=self._counts is not None)
        larger._copy(self._keys.device, None if self._counts is None else self._counts.device, 0, self.size)
        self._keys, self._counts, self.room = larger._keys, larger._counts, room

    def _copy(self, keys: DeviceArray, counts: DeviceArray | None, start: int, size: int) -> None:
        to_keys, to_counts = self._keys.device, None if self._counts is None else self._counts.device
        words, room = to_keys.shape
        kernel = self._engine.kernel("kmers/hold_kmers.cl", "hold_kmers", WORDS=words, COUNTS=to_counts is not None)
        self._engine.launch_items(
            kernel, size, keys=keys, counts=counts, stride=keys.shape[1], start=start, size=size, room=room,
            place=self.size, to_keys=to_keys, to_counts=to_counts,
        )  # fmt: skip

    def finish(self, *, last: bool) -> None:
        """Find where the k-mers with each prefix begin, when all have come."""
        self.last = last
        self._bits = prefix_bits(self.size, self._k)
        prefixes, cpu = 1 << self._bits, self._engine.tuning.cpu
        self._starts = HostArray(self._engine, prefixes + 1, np.uint32)
        each = -(-prefixes // CPU_ITEMS) if cpu else GPU_PREFIXES
        kernel = self._engine.kernel(SOURCE, "find_prefixes", WORDS=key_words(self._k), MARKS=False)
        self._engine.launch_items(
            kernel, -(-prefixes // each), lanes=1 if cpu else None, size=self.size, k=self._k, each=each, **self._places
        )  # fmt: skip


def key_tables(
    engine: Engine, kmers: KmerSet, chosen: ChosenKmers, room: int, *, with_counts: bool = False
) -> Generator[KeyTable, None, None]:
    """Make tables that together have all chosen k-mers of a set, one after the other.

    Parameters
    ----------
    engine : Engine
    kmers : KmerSet
    chosen : ChosenKmers
    room : int
        K-mers of a table at most.
    with_counts : bool
        As `KeyTable` takes it.

    Yields
    ------
    KeyTable
        One, though it may be empty, where `room` is enough for all. The one before should be forgotten then.
    """
    most = min(room, chosen.bounds.within(kmers))
    marks = chosen.marks
    if marks is not None:
        room, begin = marked_room(room, marks.kmers)
        most = min(most, room)
    table = KeyTable(engine, kmers.k, most if marks is None else min(most, begin), with_counts=with_counts)
    for some in _chosen_runs(engine, kmers, chosen) if most else ():
        start = 0
        while start < some.size:
            if not table.left and table.room < most:
                table.enlarge(min(most, 2 * table.room))
            if not table.left:
                table.finish(last=False)
                yield table
                del table
                table = KeyTable(engine, kmers.k, most, with_counts=with_counts)
            size = min(table.left, some.size - start)
            table.append(some, start, size)
            start += size
    table.finish(last=True)
    yield table


def _chosen_runs(engine: Engine, kmers: KmerSet, chosen: ChosenKmers) -> Iterator[Runs]:
    """The chosen k-mers of a set on the device, some at a time."""
    limits = engine.limits()
    if isinstance(kmers, KmerDatabase) and decodes_on_device(limits):
        runs = kmers.runs(engine, chosen.marks)
        # A core looks for marks while it decodes; a GPU has more lanes to look at k-mers than sections at a time.
        rest = ChosenKmers(chosen.bounds) if engine.tuning.cpu else chosen
        yield from (rest.of(engine, kmers.k, some) for some in runs)
        return
    for block in kmers.blocks():
        for piece in block.pieces(kmers_to_upload(limits, kmers.k)):
            yield chosen.of(engine, kmers.k, uploaded(engine, piece))
