"""Ends of matches with edits as devices give them, in any order and some of them several times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signatures.edit_places import Places, joined_places

__all__ = ["MAX_LETTERS", "EndRows", "EndTally", "edits_of", "start_of"]

EDIT_BITS, SHIFT_BITS = 29, 25  # where a key has its edits and its shift, as align_candidates.cl says
MAX_LETTERS = (1 << SHIFT_BITS) - 1  # of a pattern
END_BITS = 32


@dataclass(frozen=True)
class EndRows:
    """Ends at which patterns match; arrays of one length.

    Attributes
    ----------
    pair : ndarray, uint64
        The piece times the number of patterns, plus the pattern.
    place : ndarray, uint64
        The end << 32 | the key of align_candidates.cl.
    quality_sum : ndarray, uint64
    """

    pair: NDArray[np.uint64]
    place: NDArray[np.uint64]
    quality_sum: NDArray[np.uint64]

    @classmethod
    def none(cls) -> EndRows:
        """No row."""
        return cls(*(np.empty(0, np.uint64) for _ in range(3)))

    @classmethod
    def of(cls, parts: Sequence[EndRows]) -> EndRows:
        """Rows of several parts, of which there is at least one."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)))

    def take(self, which: NDArray[Any]) -> EndRows:
        """Some of them."""
        return type(self)(*(getattr(self, field.name)[which] for field in fields(self)))

    @property
    def end(self) -> NDArray[np.int64]:
        """The end, counted from the piece's first letter."""
        return (self.place >> np.uint64(END_BITS)).astype(np.int64)


def edits_of(key: NDArray[Any]) -> NDArray[np.int64]:
    """Return the edits of keys."""
    return (key >> np.uint64(EDIT_BITS)).astype(np.int64)


def start_of(key: NDArray[Any], end: NDArray[np.int64], length: NDArray[np.int64], max_edits: int) -> NDArray[np.int64]:
    """Return the starts of matches; a match has a letter at least."""
    shift = (key >> np.uint64(SHIFT_BITS)).astype(np.int64) & 15
    return np.minimum(end - length + max_edits + 1 - shift, end - 1)


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
        rows = EndRows.of([self._waiting, rows.take(~self._known(rows))])
        rows = rows.take(np.lexsort((rows.place, rows.pair)))
        new = np.ones(len(rows.pair), np.bool_)
        new[1:] = (rows.pair[1:] != rows.pair[:-1]) | (rows.end[1:] != rows.end[:-1])
        rows = rows.take(new)  # of an end, the least key is first
        self._piece, self._until = piece, until
        known = self._known(rows)
        self._waiting = rows.take(~known)
        self._places.append(self._as_places(rows.take(known)))

    def places(self) -> Places:
        """Return the places of all rows, by piece, pattern and end."""
        self._places.append(self._as_places(self._waiting))
        return joined_places(Places.of(self._places))

    def _known(self, rows: EndRows) -> NDArray[np.bool_]:
        piece, pattern = self._split(rows)
        known: NDArray[np.bool_] = (piece < self._piece) | ((piece == self._piece) & (rows.end < self._until[pattern]))
        return known

    def _split(self, rows: EndRows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        piece, pattern = np.divmod(rows.pair, np.uint64(len(self._lengths)))
        return piece.astype(np.int64), pattern.astype(np.int64)

    def _as_places(self, rows: EndRows) -> Places:
        piece, pattern = self._split(rows)
        key, end = rows.place & np.uint64((1 << END_BITS) - 1), rows.end
        start = start_of(key, end, self._lengths[pattern], self._max_edits)
        informative = MAX_LETTERS - (key & np.uint64(MAX_LETTERS)).astype(np.int64)
        every = Places(piece, pattern, end, end, edits_of(key), start, end, informative, rows.quality_sum, piece)
        return joined_places(every)
