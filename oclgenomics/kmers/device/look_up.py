"""The k-mers of records as they stand in the text, looked up in tables of a set's k-mers on the device."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.data_classes import dataclass
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import KmerSet
from oclgenomics.kmers.device.parts import uploaded
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.kmers.options import MAX_COUNTER, check_counts
from oclgenomics.kmers.plan.memory import LINE, decodes_on_device, kmers_to_upload, lines_for, table_room
from oclgenomics.primitives import Runs
from oclgenomics.runtime import DeviceArray, Engine, HostArray
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.pieces import LetterBlock

TABLE_SOURCE = "kmers/key_table.cl"
TEXT_SOURCE = "kmers/text_kmers.cl"
CPU_BATCH, GPU_BATCH = 32, 1  # k-mers that a work-item looks up together
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
    with_counts : bool
        The table has their counts, too.
    """

    def __init__(self, engine: Engine, k: int, size: int, *, with_counts: bool = False) -> None:
        lines = lines_for(size)
        words = key_words(k)
        self.slots = LINE * lines
        self.room = size
        self._engine, self._words = engine, words
        # A CPU device finds lines of huge pages sooner, which the host's memory has.
        self._keys = HostArray(engine, (words, self.slots), np.uint64)
        self._counts = HostArray(engine, self.slots, np.uint32) if with_counts else None
        self._full = engine.empty(-(-lines // 32), np.uint32)
        self._poly_a = engine.empty(1, np.uint32)
        self._taken = engine.empty(lines, np.uint32)
        for array in (self._keys.device, self._full, self._poly_a, self._taken):
            engine.fill(array, 0)

    @property
    def keys(self) -> dict[str, Any]:
        """What kernels take that ask whether k-mers are there, or for their counts."""
        keys = {"slots": self.slots, "keys": self._keys.device, "full": self._full, "poly_a": self._poly_a}
        return keys if self._counts is None else {**keys, "key_counts": self._counts.device}

    def insert(self, runs: Runs, start: int, size: int, bounds: CountBounds) -> None:
        """Put in `size` k-mers from `start` on, of those with counts within bounds.

        Parameters
        ----------
        runs : Runs
            K-mers that the table does not have, uint64 (words, n), with their counts, uint32 (n,).
        start, size : int
        bounds : CountBounds
        """
        cpu = self._engine.tuning.cpu
        each = -(-size // CPU_ITEMS) if cpu else 1
        defines = {"WORDS": self._words, "COUNTS": self._counts is not None, "BATCH": CPU_BATCH if cpu else GPU_BATCH}
        kernel = self._engine.kernel(TABLE_SOURCE, "insert_keys", **defines)
        self._engine.launch_items(
            kernel, -(-size // each), lanes=1 if cpu else None, run_keys=runs.keys, run_counts=runs.counts,
            stride=runs.size, start=start, size=size, each=each, least=bounds.least, most=bounds.highest,
            taken=self._taken, **self.keys,
        )  # fmt: skip


def key_tables(
    engine: Engine, kmers: KmerSet, bounds: CountBounds, room: int, *, with_counts: bool = False
) -> Iterator[KeyTable]:
    """Make tables that together have all k-mers of a set with counts within bounds, one after the other.

    Parameters
    ----------
    engine : Engine
    kmers : KmerSet
    bounds : CountBounds
    room : int
        K-mers of a table at most.
    with_counts : bool
        As `KeyTable` takes it.

    Yields
    ------
    KeyTable
        One, though it may be empty, where `room` is enough for all. The one before should be forgotten then.
    """
    wanted = bounds.within(kmers)
    if wanted <= room:
        table = KeyTable(engine, kmers.k, wanted, with_counts=with_counts)
        if wanted:
            for runs in _runs(engine, kmers):
                table.insert(runs, 0, runs.size, bounds)
        yield table
        return
    table, left = KeyTable(engine, kmers.k, room, with_counts=with_counts), room  # what is left out is not known before
    for runs in _runs(engine, kmers):
        start = 0
        while start < runs.size:
            if not left:
                yield table
                del table
                table, left = KeyTable(engine, kmers.k, room, with_counts=with_counts), room
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
    with_counts : bool
        For `counts_along`, which needs tables with counts.

    Raises
    ------
    InputError
        The database is damaged.
    AllocationError
        The device's memory holds no table.
    """

    def __init__(
        self, engine: Engine, kmers: KmerSet, bounds: CountBounds, room: int | None = None, *, with_counts: bool = False
    ) -> None:
        self._engine, self._kmers, self._bounds, self._with_counts = engine, kmers, bounds, with_counts
        self._room = table_room(engine.limits(), kmers.k, with_counts=with_counts) if room is None else room
        self._table: KeyTable | None = None
        if bounds.within(kmers) <= self._room:
            self._table = next(key_tables(engine, kmers, bounds, self._room, with_counts=with_counts))
        cpu = engine.tuning.cpu
        self._defines = {
            "WORDS": key_words(kmers.k),
            "CANONICAL": kmers.canonical,
            "BATCH": CPU_BATCH if cpu else GPU_BATCH,
        }
        self._cut = CPU_CUT if cpu else GPU_CUT

    def count(self, block: LetterBlock) -> FoundKmerCounts:
        """Return how many k-mers start in what each piece of a block owns, and how many of them the set has."""
        windows = block.pieces.windows(self._kmers.k)
        pieces = len(windows)
        piece, begin, size = _cut(windows, self._cut)
        if not len(piece):
            return FoundKmerCounts(np.zeros(pieces, np.int64), np.zeros(pieces, np.int64))
        cuts = np.array([block.pieces.letters[piece] + begin, size, piece], np.uint32)
        there = self._zeros(pieces, np.uint32)
        for table in self._tables():
            seen = self._zeros(pieces, np.uint32)
            self._launch("count_found", block.text, cuts, table, BACKWARD=False, kmers=seen, found=there)
            del table
        kmers, found = (self._engine.download(array).astype(np.int64) for array in (seen, there))
        return FoundKmerCounts(kmers, found)

    def counts_along(
        self, text: Text, letters: NDArray[np.int64], windows: NDArray[np.int64], *, backward: bool = False
    ) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
        """Return the counts of all windows of k bases of some pieces of a text.

        Parameters
        ----------
        text : Text
        letters : ndarray, int64 (pieces,)
            Where the first window of each piece starts.
        windows : ndarray, int64 (pieces,)
            How many windows each piece has.
        backward : bool
            Look up the reverse complements, in a set that is not canonical.

        Returns
        -------
        counts : ndarray, uint32 (windows,)
            Those of all pieces, one behind the other; 0 for a k-mer that the set does not have, and for no k-mer.
        valid : ndarray, bool (windows,)
            Whether a window is a k-mer.
        """
        piece, begin, size = _cut(windows, self._cut)
        total = int(windows.sum())
        if not total:
            return np.zeros(0, np.uint32), np.zeros(0, np.bool_)
        places = np.cumsum(windows) - windows
        cuts = np.array([letters[piece] + begin, size, places[piece] + begin], np.uint32)
        counts, valid = (HostArray(self._engine, total, dtype) for dtype in (np.uint32, np.uint8))
        made = {"counts": counts.device, "valid": valid.device}
        for array in made.values():
            self._engine.fill(array, 0)
        for table in self._tables():
            self._launch("take_counts", text, cuts, table, BACKWARD=backward, **made)
            del table
        return counts.fetch(), valid.fetch().view(np.bool_)

    def _launch(
        self, name: str, text: Text, cuts: NDArray[np.uint32], table: KeyTable, *, BACKWARD: bool, **made: DeviceArray
    ) -> None:
        engine, count = self._engine, cuts.shape[1]
        cpu = engine.tuning.cpu
        each = -(-count // CPU_ITEMS) if cpu else 1
        kernel = engine.kernel(TEXT_SOURCE, name, BACKWARD=BACKWARD, **self._defines)
        engine.launch_items(
            kernel, -(-count // each), lanes=1 if cpu else None, **text.place, cuts=engine.upload(cuts), count=count,
            each=each, k=self._kmers.k, **table.keys, **made,
        )  # fmt: skip

    def _tables(self) -> Iterator[KeyTable]:
        if self._table is not None:
            yield self._table
            return
        tables = key_tables(self._engine, self._kmers, self._bounds, self._room, with_counts=self._with_counts)
        with contextlib.closing(tables):  # type: ignore[type-var]
            yield from tables

    def _zeros(self, size: int, dtype: Any) -> DeviceArray:
        array = self._engine.empty(size, dtype)
        self._engine.fill(array, 0)
        return array


def _cut(windows: NDArray[np.int64], most: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Cut the windows of pieces into stretches of at most `most`, which is not too long for one work-item.

    Returns
    -------
    piece, begin, size : ndarray, int64 (n,)
        Of each stretch: the number of its piece, which of its windows is the first one, and how many there are.
    """
    parts = -(-windows // most)
    piece = np.repeat(np.arange(len(windows)), parts)
    before = np.cumsum(parts) - parts
    begin = most * (np.arange(len(piece)) - before[piece])
    return piece, begin, np.minimum(windows[piece] - begin, most)
