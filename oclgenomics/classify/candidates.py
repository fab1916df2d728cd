"""Candidates: the targets in which most features of a read were found close to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_TARGET", "Candidate", "Candidates", "merged"]

NO_TARGET = 0xFFFFFFFF
MAX_LOCATED = (1 << 32) - 1


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
    def none(cls, maxcand: int) -> Candidates:
        """Return the candidates of no reads."""
        slots = np.zeros((0, maxcand), np.uint32)
        return cls(slots, slots, slots, slots, np.zeros(0, np.uint32))

    @classmethod
    def joined(cls, parts: Sequence[Candidates]) -> Candidates:
        """Join the candidates of batches of reads, one at least, in their order."""
        if len(parts) == 1:
            return parts[0]
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


def merged(parts: Sequence[Candidates], groups: NDArray[np.int32], maxcand: int) -> Candidates:
    """Return the candidates of reads in a whole database, from those in parts of it with different targets.

    A candidate of the whole is one of its part: what is better there is better in the whole.

    Parameters
    ----------
    parts : sequence of Candidates
        Of the same reads, each found with at least `maxcand` candidates; at least one part.
    groups : ndarray, int32 (targets,)
        Taxa of which only the best target is a candidate.
    maxcand : int
    """
    names = ("targets", "hits", "first", "last")
    columns = {name: np.concatenate([getattr(part, name) for part in parts], axis=1) for name in names}
    # By hits, then by the number of the target. What is behind the last candidate of a part has no hits.
    order = np.argsort((np.uint64(MAX_LOCATED) - columns["hits"] << np.uint64(32)) | columns["targets"], axis=1)
    columns = {name: np.take_along_axis(column, order, axis=1) for name, column in columns.items()}
    chosen = _first_of_groups(columns["targets"], groups)
    order = np.argsort(~chosen, axis=1, kind="stable")[:, :maxcand]
    chosen = np.take_along_axis(chosen, order, axis=1)
    best = {name: np.take_along_axis(column, order, axis=1) for name, column in columns.items()}
    targets = np.where(chosen, best.pop("targets"), np.uint32(NO_TARGET))
    hits, first, last = (np.where(chosen, column, np.uint32(0)) for column in best.values())
    located = np.sum([part.located for part in parts], axis=0, dtype=np.uint64)
    return Candidates(targets, hits, first, last, np.minimum(located, MAX_LOCATED).astype(np.uint32))


def _first_of_groups(targets: NDArray[np.uint32], groups: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether no target to the left has the same group; not where there is no target."""
    there = targets != NO_TARGET
    own = np.append(groups, np.int32(0)).astype(np.int64)[np.where(there, targets, 0)]
    own[~there] = -1 - np.nonzero(~there)[1]  # groups of their own
    order = np.argsort(own, axis=1, kind="stable")
    ordered = np.take_along_axis(own, order, axis=1)
    heads = np.ones(own.shape, np.bool_)
    heads[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.empty(own.shape, np.bool_)
    np.put_along_axis(first, order, heads, axis=1)
    chosen: NDArray[np.bool_] = first & there
    return chosen
