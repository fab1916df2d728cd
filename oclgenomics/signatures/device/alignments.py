"""Candidates aligned to the samples of a block: the ends at which patterns match with at most so many edits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import BufferNeed, DeviceArray, Engine
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SUM_TYPES, SampleLetters, group_sums, sum_type
from oclgenomics.signatures.matches.joining import Places, joined_places, run_starts
from oclgenomics.signatures.plan import FEW_EDITS
from oclgenomics.signatures.result import Columns

AT_ONCE = 1 << 17  # candidates
AT_ONCE_CELLS = 1 << 22  # of their bands
NARROW_EDIT_BIT, EDIT_BIT, SHIFT_BIT = 29, 45, 25  # where a key has its edits and its shift, as edit_keys.clh says
MAX_LETTERS = (1 << SHIFT_BIT) - 1  # of a pattern
NARROW = 4  # edits at most, of keys of 32 bits


def band_cells(max_edits: int) -> int:
    """Return the diagonals of a band: 2 E + 1 from which alignments may start, and E on either side."""
    return 4 * max_edits + 1


@dataclass(frozen=True)
class Candidates(Columns):
    """Bands of diagonals in which patterns may match; arrays of one length.

    Attributes
    ----------
    piece, pattern : ndarray, uint32
    low : ndarray, int32
        The lowest diagonal: the base of the piece that meets the pattern's first one.
    """

    TYPES = "IIi"

    piece: NDArray[np.uint32]
    pattern: NDArray[np.uint32]
    low: NDArray[np.int32]


@dataclass(frozen=True)
class EndRows(Columns):
    """Ends at which patterns match; arrays of one length.

    Attributes
    ----------
    pair : ndarray, uint64
        The piece times the number of patterns, plus the pattern.
    end : ndarray, int64
        Counted from the piece's first letter.
    key : ndarray, uint64
        As edit_keys.clh has it, of 64 bits.
    quality_sum : ndarray, uint64
    """

    TYPES = "QqQQ"

    pair: NDArray[np.uint64]
    end: NDArray[np.int64]
    key: NDArray[np.uint64]
    quality_sum: NDArray[np.uint64]


def wide_keys(keys: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Return keys of 32 bits as keys of 64."""
    edits, rest = (keys >> NARROW_EDIT_BIT).astype(np.uint64), (keys & ((1 << NARROW_EDIT_BIT) - 1)).astype(np.uint64)
    return (edits << np.uint64(EDIT_BIT)) | rest


def edits_of(key: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the edits of keys."""
    return (key >> np.uint64(EDIT_BIT)).astype(np.int64)


def start_of(
    key: NDArray[np.uint64], end: NDArray[np.int64], length: NDArray[np.int64], max_edits: int
) -> NDArray[np.int64]:
    """Return the starts of matches; a match has a letter at least."""
    shift = (key >> np.uint64(SHIFT_BIT)).astype(np.int64) & ((1 << (EDIT_BIT - SHIFT_BIT)) - 1)
    return np.minimum(end - length + max_edits + 1 - shift, end - 1)


class Aligner:
    """Aligns patterns to the pieces of a block.

    Parameters
    ----------
    engine : Engine
    patterns : DevicePatterns
    samples : SampleLetters
    max_edits : int
    at_once : int
        Most candidates of a launch.
    """

    def __init__(
        self, engine: Engine, patterns: DevicePatterns, samples: SampleLetters, max_edits: int, at_once: int = AT_ONCE
    ) -> None:
        self._engine, self._patterns, self._samples, self._max_edits = engine, patterns, samples, max_edits
        self._most = at_once
        self._cells = band_cells(max_edits)
        self._widths = patterns.patterns.lengths + max_edits
        self._sum = sum_type(int(self._widths.max()))

    def rows(self, candidates: Candidates) -> EndRows:
        """Return the ends that pieces own of the matches of candidates."""
        lots = (candidates.take(slice(at, at + self._room)) for at in range(0, len(candidates), self._room))
        return EndRows.joined(map(self._rows, lots))

    def _rows(self, candidates: Candidates) -> EndRows:
        """The same for as many candidates as there is room for."""
        found, keys, sums = self._align(candidates)
        bit = NARROW_EDIT_BIT if self._max_edits <= NARROW else EDIT_BIT
        hits, cell = np.nonzero(keys < self._max_edits + 1 << bit)
        chosen = found[hits]
        piece, pattern = candidates.piece[chosen], candidates.pattern[chosen]
        end = candidates.low[chosen] + self._patterns.patterns.lengths[pattern] + cell
        kept = self._owns(piece, pattern, end)
        pair = piece.astype(np.uint64) * np.uint64(len(self._patterns.patterns)) + pattern
        hits, cell = hits[kept], cell[kept]
        key = keys[hits, cell] if keys.itemsize == 8 else wide_keys(keys[hits, cell])
        return EndRows(pair[kept], end[kept].astype(np.int64), key, sums[hits, cell].astype(np.uint64))

    def _owns(
        self, piece: NDArray[np.uint32], pattern: NDArray[np.uint32], end: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Whether pieces own ends; a match lies in the piece that owns its end."""
        pieces, width = self._samples.block.pieces, self._widths[pattern]
        least = np.where(pieces.start[piece] == 0, 1, width)
        behind = pieces.owned[piece].astype(np.int64) + width
        last = pieces.ends[piece]
        owns: NDArray[np.bool_] = (end >= least) & np.where(last, end <= pieces.size[piece], end < behind)
        return owns

    def _align(
        self, candidates: Candidates
    ) -> tuple[NDArray[Any], NDArray[np.unsignedinteger[Any]], NDArray[np.unsignedinteger[Any]]]:
        """Return the candidates that match, and keys and sums of each, (candidates, cells)."""
        engine, samples, count = self._engine, self._samples, len(candidates)
        records = np.column_stack([candidates.piece, candidates.pattern, candidates.low.view(np.uint32)])
        hits, keys, sums = self._buffers
        wide = self._max_edits > NARROW
        defines: dict[str, Any] = {"WIDE_KEYS": wide, "QUALITIES": samples.has_qualities, "SUM": self._sum}
        arguments: dict[str, Any] = {
            **samples.arguments, **self._patterns.arguments, "text_size": samples.block.text.size,
            "groups": self._groups, "candidates": engine.upload(records), "count": count, "keys": keys, "sums": sums,
        }  # fmt: skip
        found: NDArray[Any] = np.arange(count)
        if self._max_edits > FEW_EDITS:
            kernel = engine.kernel("signatures/align_bands.cl", "align_bands", **defines)
            engine.launch_items(kernel, count, **arguments, edits=self._max_edits)
        else:
            kernel = engine.kernel(
                "signatures/align_candidates.cl", "align_candidates", EDITS=self._max_edits, **defines
            )
            engine.fill(DeviceArray(hits.memory, (1,), hits.dtype), 0)
            engine.launch_items(kernel, count, **arguments, hits=hits)
            found = engine.download(hits, int(engine.download(hits, 1)[0]), 1)
        shape = len(found), self._cells
        here = engine.download(keys, len(found) * self._cells).reshape(shape)
        if sums is None:
            return found, here, np.zeros(shape, np.uint32)
        return found, here, engine.download(sums, len(found) * self._cells).reshape(shape)

    @cached_property
    def _groups(self) -> DeviceArray | None:
        text = self._samples.block.text
        return group_sums(self._engine, text, self._sum) if self._samples.has_qualities else None

    @cached_property
    def _room(self) -> int:
        """How many candidates are aligned at a time."""
        need = BufferNeed("candidates", per_item=16 + self._cells * 16)
        most = min(self._most, max(1, AT_ONCE_CELLS // self._cells))
        return min(most, self._engine.items_that_fit([need], item="candidate"))

    @cached_property
    def _buffers(self) -> tuple[DeviceArray, DeviceArray, DeviceArray | None]:
        engine, cells = self._engine, self._room * self._cells
        sums = engine.empty(cells, SUM_TYPES[self._sum]) if self._samples.has_qualities else None
        key = np.uint32 if self._max_edits <= NARROW else np.uint64
        return engine.empty(1 + self._room, np.uint32), engine.empty(cells, key), sums


class EndTally:
    """Makes places of the ends that it is given, of which it keeps those that may still get a better key.

    Parameters
    ----------
    lengths : ndarray, int64 (patterns,)
    max_edits : int
    """

    def __init__(self, lengths: NDArray[np.int64], max_edits: int) -> None:
        self._lengths, self._max_edits = lengths, max_edits
        self._waiting = EndRows.none()
        self._piece, self._until = 0, np.zeros(len(lengths), np.int64)
        self._places: list[Places] = []

    def add(self, rows: EndRows, piece: int, until: NDArray[np.int64]) -> None:
        """Take some rows.

        Parameters
        ----------
        rows : EndRows
            Those of ends that were known to have their least keys are left out.
        piece : int
            No more rows with least keys will come of pieces before this one,
        until : ndarray, int64 (patterns,)
            nor of its ends before these.
        """
        rows = EndRows.joined([self._waiting, rows.take(~self._known(rows))])
        rows = rows.take(np.lexsort((rows.key, rows.end, rows.pair)))
        rows = rows.take(run_starts(rows.pair, rows.end))  # of an end, the least key is first
        self._piece, self._until = piece, until
        known = self._known(rows)
        self._waiting = rows.take(~known)
        self._places.append(self._as_places(rows.take(known)))

    def places(self) -> Places:
        """Return the places of all rows, by piece, pattern and end."""
        self._places.append(self._as_places(self._waiting))
        return joined_places(Places.joined(self._places))

    def _known(self, rows: EndRows) -> NDArray[np.bool_]:
        piece, pattern = self._split(rows)
        known: NDArray[np.bool_] = (piece < self._piece) | ((piece == self._piece) & (rows.end < self._until[pattern]))
        return known

    def _split(self, rows: EndRows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        piece, pattern = np.divmod(rows.pair, np.uint64(len(self._lengths)))
        return piece.astype(np.int64), pattern.astype(np.int64)

    def _as_places(self, rows: EndRows) -> Places:
        piece, pattern = self._split(rows)
        key, end = rows.key, rows.end
        start = start_of(key, end, self._lengths[pattern], self._max_edits)
        informative = MAX_LETTERS - (key & np.uint64(MAX_LETTERS)).astype(np.int64)
        every = Places(piece, pattern, end, end, edits_of(key), start, end, informative, rows.quality_sum, piece)
        return joined_places(every)
