"""Candidates: the targets in which most features of a read were found close to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_TARGET", "Candidate", "Candidates"]

NO_TARGET = 0xFFFFFFFF


class Candidate(NamedTuple):
    """A range of neighbouring windows of a target, and the hits in it."""

    target: int
    hits: int
    first: int
    last: int


@dataclass(frozen=True)
class Candidates:
    """Candidates of reads, the best one first: by hits, then by the number of the target.

    Attributes
    ----------
    targets : ndarray, uint32 (reads, maxcand)
        `NO_TARGET` behind the last one of a read.
    hits : ndarray, uint32 (reads, maxcand)
        0 behind the last one.
    first, last : ndarray, uint32 (reads, maxcand)
        The first and the last window of the target that were hit in the best range, counted from 0 in each target.
    located : ndarray, uint32 (reads,)
        Locations of all features of the read together.
    """

    targets: NDArray[np.uint32]
    hits: NDArray[np.uint32]
    first: NDArray[np.uint32]
    last: NDArray[np.uint32]
    located: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.targets)

    @classmethod
    def joined(cls, parts: Sequence[Candidates]) -> Candidates:
        """Join the candidates of several batches of reads, in their order."""
        names = ("targets", "hits", "first", "last", "located")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def without(self, reads: NDArray[np.bool_]) -> Candidates:
        """Return the same with no candidates, nor locations, for the reads where `reads` is True."""
        if not reads.any():
            return self
        targets = np.where(reads[:, np.newaxis], np.uint32(NO_TARGET), self.targets)
        hits, first, last = (
            np.where(reads[:, np.newaxis], np.uint32(0), array) for array in (self.hits, self.first, self.last)
        )
        return Candidates(targets, hits, first, last, np.where(reads, np.uint32(0), self.located))

    def of(self, read: int) -> list[Candidate]:
        """List the candidates of a read."""
        rows = zip(*(array[read].tolist() for array in (self.targets, self.hits, self.first, self.last)), strict=True)
        return [Candidate(*row) for row in rows if row[0] != NO_TARGET]
