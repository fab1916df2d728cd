"""The k-mers of records as they stand in the text, looked up in tables of a set's k-mers on the device."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import KmerSet
from oclgenomics.kmers.device.key_table import CPU_ITEMS, ChosenKmers, KeyTable, key_tables
from oclgenomics.kmers.device.marks import Marks
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.kmers.plan.memory import table_room
from oclgenomics.runtime import DeviceArray, Engine, HostArray
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.pieces import LetterBlock

TEXT_SOURCE = "kmers/text_kmers.cl"
CPU_BATCH, GPU_BATCH = 32, 1  # k-mers that a work-item looks up together
CPU_CUT, GPU_CUT = 1 << 14, 64  # windows of a work-item's stretch at most


@dataclass(frozen=True)
class FoundKmerCounts:
    """How many k-mers pieces or records have, and how many of these a set has; int64 (n,) each."""

    kmers: NDArray[np.int64]
    found: NDArray[np.int64]


class TextMarks:
    """Marks the k-mers of blocks of text, so that only these come into tables.

    Parameters
    ----------
    engine : Engine
    kmers : KmerSet
        That the k-mers will be looked up in.
    bits : int
        Of the prefixes of marks; see `plan.memory.mark_prefix_bits`.

    Attributes
    ----------
    marks : Marks
    """

    def __init__(self, engine: Engine, kmers: KmerSet, bits: int) -> None:
        self.marks = Marks(engine, bits, kmers.firsts if isinstance(kmers, KmerDatabase) else None)
        self._text = _TextKernels(engine, kmers)

    def mark(
        self, text: Text, letters: NDArray[np.int64], windows: NDArray[np.int64], *, backward: bool = False
    ) -> None:
        """Mark all k-mers of some pieces of a text; parameters are those of `TextKmers.counts_along`."""
        piece, begin, size = _cut(windows, self._text.cut)
        cuts = np.array([letters[piece] + begin, size, piece], np.uint32)
        self._text.launch("mark_kmers", text, cuts, BACKWARD=backward, bits=self.marks.bits, marks=self.marks.array)
        seeks = self.marks.seeks(int(windows.sum()))
        if seeks is not None:
            self._text.launch("find_sections", text, cuts, BACKWARD=backward, **seeks)


class _TextKernels:
    """Kernels that go through the k-mers of cuts of a text."""

    def __init__(self, engine: Engine, kmers: KmerSet) -> None:
        cpu = engine.tuning.cpu
        self._engine, self._k = engine, kmers.k
        self._defines = {
            "WORDS": key_words(kmers.k),
            "CANONICAL": kmers.canonical,
            "BATCH": CPU_BATCH if cpu else GPU_BATCH,
        }
        self.cut = CPU_CUT if cpu else GPU_CUT

    def launch(self, name: str, text: Text, cuts: NDArray[np.uint32], *, BACKWARD: bool, **others: Any) -> None:
        engine, count = self._engine, cuts.shape[1]
        if not count:
            return
        cpu = engine.tuning.cpu
        each = -(-count // CPU_ITEMS) if cpu else 1
        kernel = engine.kernel(TEXT_SOURCE, name, BACKWARD=BACKWARD, **self._defines)
        engine.launch_items(
            kernel, -(-count // each), lanes=1 if cpu else None, **text.place, cuts=engine.upload(cuts), count=count,
            each=each, k=self._k, **others,
        )  # fmt: skip


class TextKmers:
    """Looks up the k-mers of blocks of text.

    Parameters
    ----------
    engine : Engine
    kmers : KmerSet
        It has to stay open.
    chosen : ChosenKmers
        Other k-mers are as if the set had them not. With marks, all k-mers that are looked up have to have one.
    room : int, optional
        K-mers of a table at most; what suits the device's memory if not given. Where the set has more that are chosen,
        it is read anew for each block.
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
        self, engine: Engine, kmers: KmerSet, chosen: ChosenKmers, room: int | None = None, *, with_counts: bool = False
    ) -> None:
        self._engine, self._kmers, self._chosen, self._with_counts = engine, kmers, chosen, with_counts
        self._room = table_room(engine.limits(), kmers.k, with_counts=with_counts) if room is None else room
        self._table: KeyTable | None = None
        if chosen.marks is not None or chosen.bounds.within(kmers) <= self._room:
            with contextlib.closing(self._made()) as tables:
                table = next(tables)
            self._table = table if table.last else None
        self._text = _TextKernels(engine, kmers)

    def count(self, block: LetterBlock) -> FoundKmerCounts:
        """Return how many k-mers start in what each piece of a block owns, and how many of them the set has."""
        windows = block.pieces.windows(self._kmers.k)
        pieces = len(windows)
        piece, begin, size = _cut(windows, self._text.cut)
        if not len(piece):
            return FoundKmerCounts(np.zeros(pieces, np.int64), np.zeros(pieces, np.int64))
        cuts = np.array([block.pieces.letters[piece] + begin, size, piece], np.uint32)
        there = self._zeros(pieces, np.uint32)
        for table in self._tables():
            seen = self._zeros(pieces, np.uint32)
            self._text.launch("count_found", block.text, cuts, BACKWARD=False, **table.keys, kmers=seen, found=there)
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
        piece, begin, size = _cut(windows, self._text.cut)
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
            self._text.launch("take_counts", text, cuts, BACKWARD=backward, **table.keys, **made)
            del table
        return counts.fetch(), valid.fetch().view(np.bool_)

    def _tables(self) -> Iterator[KeyTable]:
        if self._table is not None:
            yield self._table
            return
        with contextlib.closing(self._made()) as tables:
            yield from tables

    def _made(self) -> Generator[KeyTable, None, None]:
        return key_tables(self._engine, self._kmers, self._chosen, self._room, with_counts=self._with_counts)

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
