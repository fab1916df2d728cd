"""What every method finds in a block: pairs of a piece and a pattern, and the places of their matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signatures.device.samples import SampleLetters

__all__ = ["FoundPairs", "FoundStarts", "Matcher"]


@dataclass(frozen=True)
class FoundPairs:
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

    piece: NDArray[np.uint32]
    pattern: NDArray[np.uint32]
    hits: NDArray[np.uint32]
    first: NDArray[np.uint32]
    best: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.piece)

    def part(self, begin: int, end: int) -> FoundPairs:
        """Some of them."""
        return FoundPairs(*(getattr(self, field.name)[begin:end] for field in fields(self)))

    @classmethod
    def joined(cls, parts: Sequence[FoundPairs]) -> FoundPairs:
        """Join pairs that differ, of which there is at least one lot, in the order of pairs."""
        columns = [np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)]
        order = np.lexsort((columns[1], columns[0]))
        return cls(*(column[order] for column in columns))


@dataclass(frozen=True)
class FoundStarts:
    """Matches, ordered by piece, then by pattern, then by start; arrays of one length.

    Attributes
    ----------
    piece, pattern, start : ndarray, uint32
        `start` counts from the piece's first letter.
    """

    piece: NDArray[np.uint32]
    pattern: NDArray[np.uint32]
    start: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.piece)

    @classmethod
    def joined(cls, parts: Sequence[FoundStarts]) -> FoundStarts:
        """Join parts that follow each other."""
        nothing = np.empty(0, np.uint32)
        return cls(*(np.concatenate([nothing, *(getattr(part, f.name) for part in parts)]) for f in fields(cls)))

    def part(self, begin: int, end: int) -> FoundStarts:
        """Some of them."""
        return FoundStarts(self.piece[begin:end], self.pattern[begin:end], self.start[begin:end])


class Matcher(Protocol):
    """A method for patterns that it was made for."""

    def pairs(self, samples: SampleLetters, pieces: NDArray[np.bool_] | None = None) -> FoundPairs:
        """Find all pairs of a block, or of some of its pieces.

        Memory stays within the engine's budget, whatever the number of matches.
        """
        ...
