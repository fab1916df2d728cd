"""The pieces and patterns that a method compares: rows and columns of a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sequence.letters import Pieces
from oclgenomics.signatures.device.found import FoundPairs, FoundStarts

__all__ = ["Choice", "chosen_patterns"]


@dataclass(frozen=True)
class Choice:
    """Numbers of pieces and patterns, ascending.

    Attributes
    ----------
    pieces, patterns : ndarray, uint32
    """

    pieces: NDArray[np.uint32]
    patterns: NDArray[np.uint32]

    @classmethod
    def of(
        cls, pieces: Pieces, wanted: NDArray[np.bool_] | None, patterns: NDArray[np.uint32], shortest: int
    ) -> Choice:
        """Choose the pieces that are wanted and long enough for a pattern.

        Parameters
        ----------
        pieces : Pieces
        wanted : ndarray, bool, or None
            All pieces if None.
        patterns : ndarray, uint32
        shortest : int
            Letters of the shortest of the patterns.
        """
        long_enough = pieces.size >= shortest
        chosen = np.flatnonzero(long_enough if wanted is None else long_enough & wanted)
        return cls(chosen.astype(np.uint32), patterns)

    def pairs(self, found: FoundPairs) -> FoundPairs:
        """Return pairs of rows and columns as pairs of pieces and patterns."""
        return FoundPairs(self.pieces[found.piece], self.patterns[found.pattern], found.hits, found.first, found.best)

    @classmethod
    def of_pairs(cls, found: FoundPairs, patterns: NDArray[np.uint32]) -> Choice:
        """Choose the pieces of pairs."""
        return cls(np.unique(found.piece), patterns)

    def places(self, found: FoundPairs) -> FoundPairs:
        """Return pairs of chosen pieces and patterns as pairs of rows and columns."""
        row, column = np.searchsorted(self.pieces, found.piece), np.searchsorted(self.patterns, found.pattern)
        return replace(found, piece=row.astype(np.uint32), pattern=column.astype(np.uint32))

    def starts(self, parts: Iterator[FoundStarts]) -> Iterator[FoundStarts]:
        """Return starts in rows and columns as starts in pieces and patterns."""
        for part in parts:
            yield FoundStarts(self.pieces[part.piece], self.patterns[part.pattern], part.start)


def chosen_patterns(patterns: int, which: NDArray[np.integer[Any]] | None) -> NDArray[np.uint32]:
    """Return the numbers of patterns to use, ascending: all of them, or those in `which`."""
    return np.arange(patterns, dtype=np.uint32) if which is None else np.unique(which).astype(np.uint32)
