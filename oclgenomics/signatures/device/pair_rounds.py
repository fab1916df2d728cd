"""Rounds of pairs of a piece and a pattern: as many at a time as a table has room for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from oclgenomics.primitives import compact
from oclgenomics.runtime import BufferNeed, DeviceArray, Engine, chunks
from oclgenomics.signatures.device.found import FoundPairs, FoundStarts

__all__ = ["MAX_PAIRS", "MAX_STARTS", "ListRound", "PairRound", "find_pairs", "list_starts"]

FIELDS = 4  # number of the pair in its round, hits, first, best
MAX_PAIRS = 1 << 20  # of a round: enough for every device to be busy
MAX_STARTS = 1 << 22


@dataclass(frozen=True)
class PairRound:
    """The pairs of some rows (pieces) and some columns (patterns), and where what is found goes.

    Attributes
    ----------
    row, column : int
        The first row and the first column.
    columns, pairs : int
        Number of columns, and of pairs.
    found : DeviceArray, uint8 (at least pairs,)
    table : DeviceArray, uint32 (4, pairs)
        See signatures/matches.clh.
    """

    row: int
    column: int
    columns: int
    pairs: int
    found: DeviceArray
    table: DeviceArray


@dataclass(frozen=True)
class ListRound:
    """Pairs that match, and where their starts go.

    Attributes
    ----------
    row, column : DeviceArray, uint32 (pairs,)
    places : DeviceArray, uint32 (pairs,)
        Where the starts of each pair begin.
    pairs : int
    starts : DeviceArray, uint32 (as many as all pairs have,)
    """

    row: DeviceArray
    column: DeviceArray
    places: DeviceArray
    pairs: int
    starts: DeviceArray


def find_pairs(
    engine: Engine, rows: int, columns: int, find: Callable[[PairRound], None], *, most: int = MAX_PAIRS
) -> FoundPairs:
    """Find all pairs of rows and columns that match.

    Parameters
    ----------
    engine : Engine
    rows, columns : int
    find : callable
        Enqueues what fills the table of a round.
    most : int
        Pairs of a round, fewer where memory is short.

    Returns
    -------
    FoundPairs
        With rows as pieces and columns as patterns.

    Raises
    ------
    AllocationError
        There is no memory for a single pair.
    """
    # Compaction takes as much again as it keeps.
    room = engine.items_that_fit([BufferNeed("pairs", per_item=2 * 4 * FIELDS + 1)], item="pair")
    most = min(most, room, max(1, rows * columns))
    found, table = engine.empty(most, np.uint8), engine.empty(FIELDS * most, np.uint32)
    parts = [np.empty((FIELDS + 1, 0), np.uint32)]
    for row, stop, column, end in _rounds(rows, columns, most):
        width = end - column
        pairs = (stop - row) * width
        # Fields follow each other without gaps: where a round has fewer pairs, they lie closer together.
        lot = DeviceArray(table.memory, (FIELDS, pairs), table.dtype)
        find(PairRound(row, column, width, pairs, found, lot))
        kept = engine.download(compact(engine, lot, found, size=pairs))
        parts.append(np.vstack([row + kept[0] // width, column + kept[0] % width, kept[1:]]))
    piece, pattern, hits, first, best = np.concatenate(parts, axis=1)
    return FoundPairs(piece, pattern, hits, first, best)


def _rounds(rows: int, columns: int, most: int) -> Iterator[tuple[int, int, int, int]]:
    """Cut rows and columns into rounds, in order: (row, last row + 1, column, last column + 1)."""
    for row, stop in chunks(rows, max(1, most // max(1, columns))):
        for column, end in chunks(columns, most):
            yield row, stop, column, end


def list_starts(
    engine: Engine, found: FoundPairs, fill: Callable[[ListRound], None], *, most: int = MAX_STARTS
) -> Iterator[FoundStarts]:
    """List the starts of all matches of pairs.

    Parameters
    ----------
    engine : Engine
    found : FoundPairs
        With rows as pieces and columns as patterns.
    fill : callable
        Enqueues what lists the starts of a round's pairs.
    most : int
        Starts of a round, fewer where memory is short; a pair that has more gets a round of its own.

    Yields
    ------
    FoundStarts
        With rows as pieces and columns as patterns.
    """
    ends = np.cumsum(found.hits, dtype=np.uint64)
    first = 0
    while first < len(found):
        # A start, and at most its pair's row, column and place.
        room = engine.items_that_fit([BufferNeed("starts", per_item=16)], item="start")
        before = int(ends[first]) - int(found.hits[first])
        last = max(first + 1, int(np.searchsorted(ends, before + min(most, room), side="right")))
        hits = found.hits[first:last]
        row, column = found.piece[first:last], found.pattern[first:last]
        places = (ends[first:last] - hits - np.uint64(before)).astype(np.uint32)
        starts = engine.empty(int(ends[last - 1]) - before, np.uint32)
        fill(ListRound(engine.upload(row), engine.upload(column), engine.upload(places), last - first, starts))
        yield FoundStarts(np.repeat(row, hits), np.repeat(column, hits), engine.download(starts))
        first = last
