"""Tables of k-mers on the device, in which the k-mers of reads are looked up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from oclgenomics.kmers.database.reader import KmerDatabase
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.kmer_set import KmerSet
from oclgenomics.kmers.lookups.bounds import CountBounds
from oclgenomics.kmers.lookups.plan import LINE, decodes_on_device, kmers_to_upload, lines_for
from oclgenomics.kmers.plan import DeviceLimits
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Engine

__all__ = ["KeyTable", "key_tables"]

SOURCE = "kmers/key_table.cl"


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
        kernel = self._engine.kernel(SOURCE, "insert_keys", WORDS=self._words)
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
    limits = DeviceLimits.of(engine)
    if isinstance(kmers, KmerDatabase) and decodes_on_device(limits):
        yield from kmers.runs(engine)
        return
    for block in kmers.blocks():
        for piece in block.pieces(kmers_to_upload(limits, kmers.k)):
            yield Runs(engine.upload(piece.keys), engine.upload(piece.counts), len(piece))
