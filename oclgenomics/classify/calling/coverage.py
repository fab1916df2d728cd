"""Targets that are covered well: of how many of their windows reads come."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.candidates import NO_TARGET, Candidates
from oclgenomics.classify.targets import Targets

__all__ = ["covered_windows", "well_covered", "without_targets"]


def covered_windows(candidates: Candidates, hitmin: NDArray[np.uint32], targets: Targets) -> NDArray[np.int64]:
    """Count the windows of each target that lie in the range of a candidate with hits enough.

    Parameters
    ----------
    candidates : Candidates
        Of all reads.
    hitmin : ndarray, uint32 (reads,)
        Hits that count, of each read.
    targets : Targets

    Returns
    -------
    ndarray, int64 (targets,)
        0 also for targets without any candidate.
    """
    counts = (candidates.targets != NO_TARGET) & (candidates.hits >= hitmin[:, None])
    target = candidates.targets[counts]
    before = targets.first_window[target]
    begins, ends = before + candidates.first[counts], before + candidates.last[counts] + 1
    order = np.argsort(begins)
    target, begins, ends = target[order], begins[order], ends[order]
    reached = np.append(0, np.maximum.accumulate(ends))[:-1]  # by the ranges before; those of other targets lie apart
    new = np.maximum(ends - np.maximum(begins, reached), 0)
    return np.bincount(target, weights=new, minlength=len(targets)).astype(np.int64)


def well_covered(
    candidates: Candidates, hitmin: NDArray[np.uint32], targets: Targets, share: float
) -> NDArray[np.bool_]:
    """Choose the targets that count, by the shares of their windows that are covered.

    Targets are left out one by one, the least covered one first, of equal ones the first one, as long as theirs are at
    most `share` of the coverages of all together. Those without a candidate with hits enough do not count, either.

    Parameters
    ----------
    candidates : Candidates
        Of all reads of a run.
    hitmin : ndarray, uint32 (reads,)
    targets : Targets
    share : float
        0 to 1; see `QueryOptions.cov_percentile`.

    Returns
    -------
    ndarray, bool (targets,)
    """
    covered = covered_windows(candidates, hitmin, targets)
    hit = np.flatnonzero(covered)
    coverage = covered[hit] / targets.windows[hit]
    order = np.argsort(coverage, kind="stable")
    cumulated = np.cumsum(coverage[order])
    counts = np.zeros(len(targets), np.bool_)
    counts[hit[order[cumulated > share * cumulated[-1:]]]] = True
    return counts


def without_targets(candidates: Candidates, kept: NDArray[np.bool_]) -> Candidates:
    """Leave out the candidates of some targets; those behind move up.

    Parameters
    ----------
    candidates : Candidates
    kept : ndarray, bool (targets,)
        The targets that stay.

    Returns
    -------
    Candidates
        `located` stays.
    """
    stays = np.append(kept, np.False_)[np.minimum(candidates.targets, len(kept))]
    order = np.argsort(~stays, axis=1, kind="stable")
    gone = ~np.take_along_axis(stays, order, axis=1)
    moved = {}
    for one in fields(Candidates):
        column = getattr(candidates, one.name)
        if column.ndim == 2:
            column = np.take_along_axis(column, order, axis=1)
            column[gone] = NO_TARGET if one.name == "targets" else 0
        moved[one.name] = column
    return Candidates(**moved)
