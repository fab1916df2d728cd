"""Candidates of the same reads in parts of a database, put together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.candidates import NO_TARGET, Candidates
from oclgenomics.classify.taxonomy.tree import NO_TAXON

__all__ = ["merged_candidates"]

_NAMES = ("targets", "hits", "first", "last")


def merged_candidates(one: Candidates, other: Candidates, groups: NDArray[np.int32], maxcand: int) -> Candidates:
    """Return the candidates in two parts of a database, which have no target in common, together.

    Parameters
    ----------
    one, other : Candidates
        Of the same reads.
    groups : ndarray, int32 (targets,)
        Taxa of which only the best target is a candidate.
    maxcand : int
    """
    arrays = [np.concatenate([getattr(part, name) for part in (one, other)], axis=1) for name in _NAMES]
    arrays = _sorted(arrays)
    again = _repeated(arrays[0], groups)
    arrays[0][again] = NO_TARGET
    arrays[1][again] = arrays[2][again] = arrays[3][again] = 0
    targets, hits, first, last = (np.ascontiguousarray(array[:, :maxcand]) for array in _sorted(arrays))
    return Candidates(targets, hits, first, last, one.located + other.located)


def _sorted(arrays: list[NDArray[np.uint32]]) -> list[NDArray[np.uint32]]:
    """Candidates of each read by hits, then by target."""
    targets, hits, *_ = arrays
    order = np.argsort((np.uint64(NO_TARGET) - hits) << np.uint64(32) | targets, axis=1, kind="stable")
    return [np.take_along_axis(array, order, axis=1) for array in arrays]


def _repeated(targets: NDArray[np.uint32], groups: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Say which candidates have the taxon of an earlier one of the same read."""
    known = targets != NO_TARGET
    taxa = np.where(known, np.append(groups, np.int32(0))[np.where(known, targets, 0)], NO_TAXON)
    order = np.argsort(taxa, axis=1, kind="stable")
    taxa = np.take_along_axis(taxa, order, axis=1)
    again = np.zeros(taxa.shape, np.bool_)
    again[:, 1:] = (taxa[:, 1:] == taxa[:, :-1]) & (taxa[:, 1:] != NO_TAXON)
    found = np.empty_like(again)
    np.put_along_axis(found, order, again, axis=1)
    return found
