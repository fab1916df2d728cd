"""The k-mers of records as they stand in the text, looked up in tables of a set's k-mers on the device."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import KmerSet
from oclgenomics.kmers.device.parts import uploaded
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.kmers.options import MAX_COUNTER, check_counts
from oclgenomics.kmers.plan.memory import LINE, decodes_on_device, kmers_to_upload, lines_for, table_room
from oclgenomics.primitives import Runs
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence.pieces import LetterBlock, Pieces

TABLE_SOURCE = "kmers/key_table.cl"
TEXT_SOURCE = "kmers/text_kmers.cl"
CPU_BATCH, GPU_BATCH = 16, 1  # k-mers that a work-item looks up together
CPU_CUT, GPU_CUT = 1 << 14, 64  # windows of a work-item's stretch at most
CPU_ITEMS = 256  # work-items at most, so that cores share the work evenly


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


class KeyTable:
    """Room for so many k-mers; `kernels_cl/kmers/key_table.clh` has the layout.

    Parameters
    ----------
    engine : Engine
    k : int
    size : int
        K-mers at most.
    """

    def __init__(self, engine: Engine, k: int, size: int) -> None:
        lines = lines_for(size)
        words = key_words(k)
        self.slots = LINE * lines
        self.room = size
        self._engine, self._words = engine, words
        self._keys = engine.empty((words, self.slots), np.uint64)
        self._full = engine.empty(-(-lines // 32), np.uint32)
        self._poly_a = engine.empty(1, np.uint32)
        self._taken = engine.empty(lines, np.uint32)
        for array in (self._keys, self._full, self._poly_a, self._taken):
            engine.fill(array, 0)

    @property
    def keys(self) -> dict[str, Any]:
        """What kernels take that ask whether k-mers are there."""
        return {"slots": self.slots, "keys": self._keys, "full": self._full, "poly_a": self._poly_a}

    def insert(self, runs: Runs, start: int, size: int, bounds: CountBounds) -> None:
        """Put in `size` k-mers from `start` on, of those with counts within bounds.

        Parameters
        ----------
        runs : Runs
            K-mers that the table does not have, uint64 (words, n), with their counts, uint32 (n,).
        start, size : int
        bounds : CountBounds
        """
        kernel = self._engine.kernel(TABLE_SOURCE, "insert_keys", WORDS=self._words)
        self._engine.launch_items(
            kernel, size, run_keys=runs.keys, run_counts=runs.counts, stride=runs.size, start=start, size=size,
            least=bounds.least, most=bounds.highest, taken=self._taken, **self.keys,
        )  # fmt: skip


def key_tables(engine: Engine, kmers: KmerSet, bounds: CountBounds, room: int) -> Iterator[KeyTable]:
    """Make tables that together have all k-mers of a set with counts within bounds, one after the other.

    Parameters
    ----------
    engine : Engine
    kmers : KmerSet
    bounds : CountBounds
    room : int
        K-mers of a table at most.

    Yields
    ------
    KeyTable
        One, though it may be empty, where `room` is enough for all. The one before should be forgotten then.
    """
    wanted = bounds.within(kmers)
    if wanted <= room:
        table = KeyTable(engine, kmers.k, wanted)
        if wanted:
            for runs in _runs(engine, kmers):
                table.insert(runs, 0, runs.size, bounds)
        yield table
        return
    table, left = KeyTable(engine, kmers.k, room), room  # what is left out is not known before
    for runs in _runs(engine, kmers):
        start = 0
        while start < runs.size:
            if not left:
                yield table
                del table
                table, left = KeyTable(engine, kmers.k, room), room
            size = min(left, runs.size - start)
            table.insert(runs, start, size, bounds)
            start, left = start + size, left - size
    yield table


def _runs(engine: Engine, kmers: KmerSet) -> Iterator[Runs]:
    """All k-mers of a set on the device, some at a time."""
    limits = engine.limits()
    if isinstance(kmers, KmerDatabase) and decodes_on_device(limits):
        yield from kmers.runs(engine)
        return
    for block in kmers.blocks():
        for piece in block.pieces(kmers_to_upload(limits, kmers.k)):
            yield uploaded(engine, piece)


@dataclass(frozen=True)
class FoundKmerCounts:
    """How many k-mers pieces or records have, and how many of these a set has; int64 (n,) each."""

    kmers: NDArray[np.int64]
    found: NDArray[np.int64]

    def __getitem__(self, which: slice | NDArray[np.int64]) -> FoundKmerCounts:
        return FoundKmerCounts(self.kmers[which], self.found[which])


class TextKmers:
    """Looks up the k-mers of blocks of text.

    Parameters
    ----------
    engine : Engine
    kmers : KmerSet
        It has to stay open.
    bounds : CountBounds
        K-mers with other counts are as if the set had them not.
    room : int, optional
        K-mers of a table at most; what suits the device's memory if not given. Where the set has more, it is read
        anew for each block.

    Raises
    ------
    InputError
        The database is damaged.
    AllocationError
        The device's memory holds no table.
    """

    def __init__(self, engine: Engine, kmers: KmerSet, bounds: CountBounds, room: int | None = None) -> None:
        self._engine, self._kmers, self._bounds = engine, kmers, bounds
        self._room = table_room(engine.limits(), kmers.k) if room is None else room
        self._table: KeyTable | None = None
        if bounds.within(kmers) <= self._room:
            self._table = next(key_tables(engine, kmers, bounds, self._room))
        cpu = engine.tuning.cpu
        self._defines = {
            "WORDS": key_words(kmers.k),
            "CANONICAL": kmers.canonical,
            "BATCH": CPU_BATCH if cpu else GPU_BATCH,
        }
        self._cut = CPU_CUT if cpu else GPU_CUT

    def count(self, block: LetterBlock) -> FoundKmerCounts:
        """Return how many k-mers start in what each piece of a block owns, and how many of them the set has."""
        cuts = _cut(block.pieces, self._kmers.k, self._cut)
        pieces, count = len(block.pieces), cuts.shape[1]
        kmers, found = np.zeros(pieces, np.int64), np.zeros(pieces, np.int64)
        if not count:
            return FoundKmerCounts(kmers, found)
        engine, cpu = self._engine, self._engine.tuning.cpu
        there, each = self._zeros(pieces, np.uint32), -(-count // CPU_ITEMS) if cpu else 1
        what = {**block.text.place, "cuts": engine.upload(cuts), "count": count, "each": each, "k": self._kmers.k}
        kernel = engine.kernel(TEXT_SOURCE, "count_found", **self._defines)
        for table in self._tables():
            seen = self._zeros(pieces, np.uint32)
            items = -(-count // each)
            engine.launch_items(kernel, items, lanes=1 if cpu else None, **what, **table.keys, kmers=seen, found=there)
            del table
        kmers[:] = engine.download(seen)
        found[:] = engine.download(there)
        return FoundKmerCounts(kmers, found)

    def _tables(self) -> Iterator[KeyTable]:
        if self._table is not None:
            yield self._table
            return
        with contextlib.closing(key_tables(self._engine, self._kmers, self._bounds, self._room)) as tables:  # type: ignore[type-var]
            yield from tables

    def _zeros(self, size: int, dtype: Any) -> DeviceArray:
        array = self._engine.empty(size, dtype)
        self._engine.fill(array, 0)
        return array


def _cut(pieces: Pieces, k: int, most: int) -> NDArray[np.uint32]:
    """Cut the windows of pieces into stretches of at most `most`, which is not too long for one work-item.

    Returns
    -------
    uint32 (3, n)
        Of each stretch: where its first window begins in the text, how many windows there are, and the piece's number.
    """
    windows = np.minimum(np.maximum(pieces.size.astype(np.int64) - (k - 1), 0), pieces.owned)
    if windows.max(initial=0) <= most and windows.min(initial=1) > 0:
        return np.array([pieces.letters, windows, np.arange(len(pieces))], np.uint32)
    parts = -(-windows // most)
    piece = np.repeat(np.arange(len(pieces)), parts)
    before = np.cumsum(parts) - parts
    begin = most * (np.arange(len(piece)) - before[piece])
    return np.array([pieces.letters[piece] + begin, np.minimum(windows[piece] - begin, most), piece], np.uint32)
