"""Decisions of a scan for signatures: pure arithmetic, tested without a device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["PairPart", "parts_of_pairs"]

MATCHES_AT_ONCE = 1 << 22  # that are listed; 4 bytes each on the device, and some 100 on the host


@dataclass(frozen=True)
class PairPart:
    """Some of a block's pairs, whose matches are listed together.

    Attributes
    ----------
    begin, end : int
        The pairs begin .. end - 1.
    first_piece, end_piece : int
        The pieces first_piece .. end_piece - 1, those without pairs included.
    again : bool
        The part before has pairs of the first piece, too.
    goes_on : bool
        The next part has pairs of the last piece, too.
    """

    begin: int
    end: int
    first_piece: int
    end_piece: int
    again: bool
    goes_on: bool


def parts_of_pairs(
    piece: NDArray[np.uint32], hits: NDArray[np.uint32], pieces: int, most: int = MATCHES_AT_ONCE
) -> Iterator[PairPart]:
    """Cut pairs, ordered by piece, into parts of at most `most` matches; a pair that has more is a part of its own.

    Parameters
    ----------
    piece, hits : ndarray, uint32
        The piece of each pair, and the number of its matches.
    pieces : int
        Pieces of the block.
    most : int

    Yields
    ------
    PairPart
        At least one.
    """
    ends = np.cumsum(hits, dtype=np.int64)
    begin, first, again = 0, 0, False
    while True:
        before = int(ends[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(ends, before + most, side="right")), min(begin + 1, len(hits)))
        done = end == len(hits)
        goes_on = not done and piece[end] == piece[end - 1]
        stop = pieces if done else int(piece[end]) + int(goes_on)
        yield PairPart(begin, end, first, stop, again, bool(goes_on))
        if done:
            return
        begin, first, again = end, stop - int(goes_on), bool(goes_on)
