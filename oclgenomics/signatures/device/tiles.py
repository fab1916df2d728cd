"""Stretches of samples that are looked through together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sequence.letters import Pieces
from oclgenomics.signatures.device.encode import tiles_of
from oclgenomics.signatures.seeds import STEP

__all__ = ["Tiles"]

PARTS = 16  # of a tile with too many candidates


@dataclass(frozen=True)
class Tiles:
    """Stretches of pieces; arrays of one length.

    Attributes
    ----------
    piece : ndarray, uint32
    begin, end : ndarray, uint32
        Letters begin .. end - 1 of the piece.
    """

    piece: NDArray[np.uint32]
    begin: NDArray[np.uint32]
    end: NDArray[np.uint32]

    @classmethod
    def of(cls, pieces: Pieces, letters: int, chosen: NDArray[np.bool_] | None = None) -> Tiles:
        """Cut pieces, or those chosen, into tiles of at most so many letters."""
        size = pieces.size if chosen is None else np.where(chosen, pieces.size, np.uint32(0))
        piece, begin = tiles_of(size, letters)
        return cls(piece, begin, np.minimum(begin + np.uint32(letters), size[piece]))

    def __len__(self) -> int:
        return len(self.piece)

    def part(self, begin: int, end: int) -> Tiles:
        """Some of them."""
        return Tiles(*(getattr(self, field.name)[begin:end] for field in fields(self)))

    def split(self, counts: NDArray[np.uint32], room: int) -> Iterator[Tiles]:
        """Cut the tiles into parts that have at most `room` candidates; a tile that has more is cut itself.

        Parameters
        ----------
        counts : ndarray, uint32
            Candidates of each tile.
        room : int
        """
        ends = np.cumsum(counts, dtype=np.int64)
        begin = 0
        while begin < len(self):
            before = int(ends[begin - 1]) if begin else 0
            end = int(np.searchsorted(ends, before + room, side="right"))
            yield self.part(begin, end) if end > begin else self._cut(begin)
            begin = max(end, begin + 1)

    def _cut(self, number: int) -> Tiles:
        """Cut one tile into parts, of a look-up at least."""
        begin, end = int(self.begin[number]), int(self.end[number])
        each = max(STEP, -(-(end - begin) // PARTS))
        begins = np.arange(begin, end, each, dtype=np.uint32)
        piece = np.full(len(begins), self.piece[number])
        return Tiles(piece, begins, np.minimum(begins + np.uint32(each), np.uint32(end)))
