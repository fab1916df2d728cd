"""Pairs of a piece and a pattern, which every method finds in a block, and the starts of their matches.

Methods that compare each piece with each pattern have a table of them, pieces as rows and patterns as columns, of which
as many pairs go through the device at a time as there is room for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.primitives import compact
from oclgenomics.runtime import BufferNeed, DeviceArray, Engine, chunks
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SampleLetters, sum_type
from oclgenomics.signatures.plan import CPU_PAIRS, GPU_PAIRS
from oclgenomics.signatures.result import Columns

FIELDS = 4  # number of the pair in its round, hits, first, best
MAX_STARTS = 1 << 22
SUM_BITS = 48  # of a rank, for the sum of qualities
LEAST_ROWS = 1 << 16  # that are joined at a time
LAST = np.uint64(0xFFFFFFFFFFFFFFFF)
TallyColumns = Sequence[NDArray[np.uint64]]  # key, hits, first, rank, best


@dataclass(frozen=True)
class FoundPairs(Columns):
    """Pieces and patterns that match anywhere, ordered by piece, then by pattern; arrays of one length.

    Attributes
    ----------
    piece : ndarray, uint32
        Number of the piece in its block.
    pattern : ndarray, uint32
    hits : ndarray, uint32
        Starts at which the pattern matches, of those that the piece owns.
    first : ndarray, uint32
        The leftmost of them, counted from the piece's first letter.
    best : ndarray, uint32
        That of the fewest mismatches, among these of the highest sum of qualities, among these the leftmost.
    """

    TYPES = "IIIII"

    piece: NDArray[np.uint32]
    pattern: NDArray[np.uint32]
    hits: NDArray[np.uint32]
    first: NDArray[np.uint32]
    best: NDArray[np.uint32]

    def in_order(self) -> FoundPairs:
        """Sort pairs by piece, then by pattern."""
        return self.take(np.lexsort((self.pattern, self.piece)))


@dataclass(frozen=True)
class FoundStarts(Columns):
    """Matches, ordered by piece, then by pattern, then by start; arrays of one length.

    Attributes
    ----------
    piece, pattern, start : ndarray, uint32
        `start` counts from the piece's first letter.
    """

    TYPES = "III"

    piece: NDArray[np.uint32]
    pattern: NDArray[np.uint32]
    start: NDArray[np.uint32]


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
    listed : DeviceArray, uint32 (pairs, 3)
        The row and the column of each pair, and where its starts begin.
    pairs : int
    starts : DeviceArray, uint32 (as many as all pairs have,)
    """

    listed: DeviceArray
    pairs: int
    starts: DeviceArray


class PairMatcher(ABC):
    """Compares each piece of a block with each pattern.

    Parameters
    ----------
    engine : Engine
    patterns : DevicePatterns
    which : ndarray, optional
        Numbers of the patterns to find; all if not given.
    max_pairs : int, optional
        Most that a round compares; as suits the device if not given.
    max_starts : int
        Most that a round lists.
    """

    def __init__(
        self,
        engine: Engine,
        patterns: DevicePatterns,
        which: NDArray[np.integer[Any]] | None = None,
        *,
        max_pairs: int | None = None,
        max_starts: int = MAX_STARTS,
    ) -> None:
        self._engine, self._patterns = engine, patterns
        self._max_pairs, self._max_starts = max_pairs, max_starts
        everyone = np.arange(len(patterns.patterns), dtype=np.uint32)
        self._numbers = everyone if which is None else np.unique(which).astype(np.uint32)
        lengths = patterns.patterns.lengths[self._numbers]
        self._shortest = int(lengths.min(initial=1 << 32))
        self._sum = sum_type(int(lengths.max(initial=1)))

    def pairs(self, samples: SampleLetters, pieces: NDArray[np.bool_] | None = None) -> FoundPairs:
        """Find all pairs of a block, or of some of its pieces.

        Memory stays within the engine's budget, whatever the number of matches.
        """
        long_enough = samples.block.pieces.size >= self._shortest
        rows = np.flatnonzero(long_enough if pieces is None else long_enough & pieces).astype(np.uint32)
        find = self._finder(samples, rows)
        found = find_pairs(self._engine, len(rows), len(self._numbers), find, most=self._max_pairs)
        return replace(found, piece=rows[found.piece], pattern=self._numbers[found.pattern])

    def starts(self, samples: SampleLetters, pairs: FoundPairs) -> Iterator[FoundStarts]:
        """List all matches of some of a block's pairs, in parts that follow each other in the order of the pairs."""
        rows = np.unique(pairs.piece)
        row, column = np.searchsorted(rows, pairs.piece), np.searchsorted(self._numbers, pairs.pattern)
        places = replace(pairs, piece=row.astype(np.uint32), pattern=column.astype(np.uint32))
        for part in list_starts(self._engine, places, self._lister(samples, rows), most=self._max_starts):
            yield FoundStarts(rows[part.piece], self._numbers[part.pattern], part.start)

    @abstractmethod
    def _finder(self, samples: SampleLetters, rows: NDArray[np.uint32]) -> Callable[[PairRound], None]:
        """Return what enqueues the comparison of a round; `rows` are the numbers of the pieces."""

    @abstractmethod
    def _lister(self, samples: SampleLetters, rows: NDArray[np.uint32]) -> Callable[[ListRound], None]:
        """Return what enqueues the listing of a round's starts."""


def find_pairs(
    engine: Engine, rows: int, columns: int, find: Callable[[PairRound], None], *, most: int | None = None
) -> FoundPairs:
    """Find all pairs of rows and columns that match.

    Parameters
    ----------
    engine : Engine
    rows, columns : int
    find : callable
        Enqueues what fills the table of a round.
    most : int, optional
        Pairs of a round, fewer where memory is short; as suits the device if not given.

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
    most = min(most or (CPU_PAIRS if engine.tuning.cpu else GPU_PAIRS), room, max(1, rows * columns))
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
        fill(ListRound(engine.upload(np.column_stack([row, column, places])), last - first, starts))
        yield FoundStarts(np.repeat(row, hits), np.repeat(column, hits), engine.download(starts))
        first = last


class PairTally:
    """The pairs of the matches it was given so far.

    Parameters
    ----------
    patterns : int
        How many there are.
    """

    def __init__(self, patterns: int) -> None:
        self._patterns = np.uint64(max(patterns, 1))
        self._joined: TallyColumns = [np.zeros(0, np.uint64)] * 5
        self._waiting: list[TallyColumns] = []
        self._rows = 0

    def add(
        self,
        piece: NDArray[np.uint32],
        pattern: NDArray[np.uint32],
        start: NDArray[np.uint32],
        mismatches: NDArray[np.uint32],
        quality_sum: NDArray[np.uint64],
    ) -> None:
        """Take some matches; arrays of one length."""
        key = piece * self._patterns + pattern
        rank = (mismatches.astype(np.uint64) + np.uint64(1) << np.uint64(SUM_BITS)) - quality_sum
        order = np.argsort(key)
        at = start.astype(np.uint64)[order]
        self._waiting.append(_by_pair(key[order], None, at, rank[order], at))
        self._rows += len(self._waiting[-1][0])
        if self._rows > max(LEAST_ROWS, len(self._joined[0])):
            self._join()

    def pairs(self) -> FoundPairs:
        """Return the pairs of all matches."""
        self._join()
        key, hits, first, _, best = self._joined
        columns = (key // self._patterns, key % self._patterns, hits, first, best)
        return FoundPairs(*(column.astype(np.uint32) for column in columns))

    def _join(self) -> None:
        parts = [self._joined, *self._waiting]
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        order = np.argsort(columns[0])
        self._joined = _by_pair(*(column[order] for column in columns))
        self._waiting, self._rows = [], 0


def _by_pair(
    key: NDArray[np.uint64],
    hits: NDArray[np.uint64] | None,
    first: NDArray[np.uint64],
    rank: NDArray[np.uint64],
    best: NDArray[np.uint64],
) -> TallyColumns:
    """Join rows of one key, ordered by key, of a hit each if not given; of the best rank the leftmost start counts."""
    if not len(key):
        return [key] * 5
    heads = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    sizes = np.diff(heads, append=len(key))
    ranks = np.minimum.reduceat(rank, heads)
    equal = np.where(rank == np.repeat(ranks, sizes), best, LAST)
    sums = sizes.astype(np.uint64) if hits is None else np.add.reduceat(hits, heads)
    return [key[heads], sums, np.minimum.reduceat(first, heads), ranks, np.minimum.reduceat(equal, heads)]
