"""The k-mers of records as they stand in the text, looked up on the device."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.kmer_set import KmerSet
from oclgenomics.kmers.lookups.bounds import CountBounds
from oclgenomics.kmers.lookups.key_table import KeyTable, key_tables
from oclgenomics.kmers.lookups.plan import table_room
from oclgenomics.kmers.plan import DeviceLimits
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence.pieces import LetterBlock, Pieces

__all__ = ["FoundKmerCounts", "TextKmers"]

SOURCE = "kmers/text_kmers.cl"
CPU_BATCH, GPU_BATCH = 16, 1  # k-mers that a work-item looks up together
CPU_CUT, GPU_CUT = 1 << 14, 64  # windows of a work-item's stretch at most
CPU_ITEMS = 256  # work-items at most, so that cores share the work evenly


@dataclass(frozen=True)
class FoundKmerCounts:
    """How many k-mers pieces or records have, and how many of these a set has; int64 (n,) each."""

    kmers: NDArray[np.int64]
    found: NDArray[np.int64]


@dataclass(frozen=True)
class _Cuts:
    """Windows of pieces in stretches that are not too long for one work-item; arrays with an item a stretch.

    Attributes
    ----------
    letters, windows : ndarray, uint32
        Where the first window begins in the text, and how many windows there are.
    piece : ndarray, uint32
        The piece's number.
    """

    letters: NDArray[np.uint32]
    windows: NDArray[np.uint32]
    piece: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.letters)


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
        self._room = table_room(DeviceLimits.of(engine), kmers.k) if room is None else room
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
        pieces = len(block.pieces)
        kmers = np.zeros(pieces, np.int64)
        found = np.zeros(pieces, np.int64)
        if not len(cuts):
            return FoundKmerCounts(kmers, found)
        engine = self._engine
        there = self._zeros(pieces, np.uint32)
        shared = self._arguments(block, cuts) | {"pieces": engine.upload(cuts.piece), "found": there}
        for table in self._tables():
            seen = self._zeros(pieces, np.uint32)
            self._launch("count_found", cuts, **shared, **table.keys, kmers=seen)
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

    def _arguments(self, block: LetterBlock, cuts: _Cuts) -> dict[str, Any]:
        upload = self._engine.upload
        return {
            **block.text.place,
            "letters": upload(cuts.letters),
            "windows": upload(cuts.windows),
            "k": self._kmers.k,
        }

    def _launch(self, name: str, cuts: _Cuts, **arguments: Any) -> None:
        engine, cpu = self._engine, self._engine.tuning.cpu
        each = -(-len(cuts) // CPU_ITEMS) if cpu else 1
        kernel = engine.kernel(SOURCE, name, **self._defines)
        items = -(-len(cuts) // each)
        engine.launch_items(kernel, items, lanes=1 if cpu else None, cuts=len(cuts), each=each, **arguments)


def _windows_of(pieces: Pieces, k: int) -> NDArray[np.int64]:
    """Return how many windows of k letters start in what each piece owns."""
    size = pieces.size.astype(np.int64)
    return np.minimum(np.maximum(size - (k - 1), 0), pieces.owned)


def _cut(pieces: Pieces, k: int, most: int) -> _Cuts:
    """Cut the windows of pieces into stretches of at most `most`."""
    windows = _windows_of(pieces, k)
    if windows.max(initial=0) <= most and windows.min(initial=1) > 0:
        piece = np.arange(len(pieces), dtype=np.uint32)
        return _Cuts(pieces.letters, windows.astype(np.uint32), piece)
    parts = -(-windows // most)
    piece = np.repeat(np.arange(len(pieces)), parts)
    before = np.cumsum(parts) - parts
    begin = most * (np.arange(len(piece)) - before[piece])
    return _Cuts(
        (pieces.letters[piece] + begin).astype(np.uint32),
        np.minimum(windows[piece] - begin, most).astype(np.uint32),
        piece.astype(np.uint32),
    )
