"""Candidates of reads and what follows from them: their merging, calls, and targets that are covered well.

A candidate is a target in which most features of a read were found close to each other. The call is the lowest common
ancestor of the candidates that count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import RANKS, QueryOptions
from oclgenomics.classify.taxonomy.lineages import Lineages, Targets
from oclgenomics.classify.taxonomy.tree import NO_TAXON

NO_TARGET = 0xFFFFFFFF
MAX_LOCATED = (1 << 32) - 1


_NO_SLOT = len(RANKS)  # above all ranks


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
        return parts[0] if len(parts) == 1 else cls(*map(np.concatenate, zip(*map(_columns, parts), strict=True)))

    def take(self, reads: NDArray[np.intp]) -> Candidates:
        """Return the candidates of some reads."""
        return Candidates(*(column[reads] for column in _columns(self)))

    def without(self, reads: NDArray[np.bool_]) -> Candidates:
        """Return the same with no candidates, nor locations, for the reads where `reads` is True."""
        if not reads.any():
            return self
        kept = self.where(~reads[:, np.newaxis])
        return replace(kept, located=np.where(reads, np.uint32(0), self.located))

    def where(self, kept: NDArray[np.bool_]) -> Candidates:
        """Return the same without the candidates that are not kept, whose places stay empty."""
        hits, first, last = (np.where(kept, one, np.uint32(0)) for one in (self.hits, self.first, self.last))
        return Candidates(np.where(kept, self.targets, np.uint32(NO_TARGET)), hits, first, last, self.located)

    def reordered(self, order: NDArray[np.intp]) -> Candidates:
        """Return the candidates of each read in another order, or some of them, by their places."""
        targets, hits, first, last = (np.take_along_axis(column, order, axis=1) for column in _columns(self)[:-1])
        return Candidates(targets, hits, first, last, self.located)

    def of(self, read: int) -> list[Candidate]:
        """List the candidates of a read."""
        rows = zip(*(column[read].tolist() for column in _columns(self)[:-1]), strict=True)
        return [Candidate(*row) for row in rows if row[0] != NO_TARGET]


@dataclass(frozen=True)
class Calls:
    """The taxa that reads are called.

    Attributes
    ----------
    taxon : ndarray, int32 (reads,)
        A number in `Lineages`: of a taxon, or, behind all taxa, of a target; `NO_TAXON` for unclassified reads.
    hitmin : ndarray, uint32 (reads,)
        Hits that the read needed.
    """

    taxon: NDArray[np.int32]
    hitmin: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.taxon)


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
    columns = zip(*(_columns(part)[:-1] for part in parts), strict=True)
    targets, hits, first, last = (np.concatenate(column, axis=1) for column in columns)
    located = np.sum([part.located for part in parts], axis=0, dtype=np.uint64)
    every = Candidates(targets, hits, first, last, np.minimum(located, MAX_LOCATED).astype(np.uint32))
    # By hits, then by the number of the target. What is behind the last candidate of a part has no hits.
    order = np.argsort((np.uint64(MAX_LOCATED) - every.hits << np.uint64(32)) | every.targets, axis=1)
    every = every.reordered(order)
    return best_of_groups(every, groups, maxcand)


def best_of_groups(candidates: Candidates, groups: NDArray[np.int32], maxcand: int) -> Candidates:
    """Keep the first candidate of each group, and `maxcand` of a read at most; parameters as of `merged`."""
    chosen = _first_of_groups(candidates.targets, groups)
    order = np.argsort(~chosen, axis=1, kind="stable")[:, :maxcand]
    return candidates.reordered(order).where(np.take_along_axis(chosen, order, axis=1))


def _columns(candidates: Candidates) -> tuple[NDArray[np.uint32], ...]:
    return candidates.targets, candidates.hits, candidates.first, candidates.last, candidates.located


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


class Caller:
    """Calls reads, batch after batch.

    Parameters
    ----------
    lineages : Lineages
    options : QueryOptions
        `hitdiff`, `lowest` and `highest` say which candidates count and between which ranks reads are called.
    """

    def __init__(self, lineages: Lineages, options: QueryOptions) -> None:
        self._hitdiff = np.float32(options.hitdiff)
        lowest, highest = RANKS.index(options.lowest), RANKS.index(options.highest)
        of_targets = lineages.at_rank[len(lineages.taxonomy) :]
        filled = np.flatnonzero((of_targets != NO_TAXON).any(axis=0))
        self._slots = [slot for slot in filled.tolist() if lowest <= slot <= highest]
        self._columns = [np.ascontiguousarray(of_targets[:, slot]) for slot in self._slots]
        self._taxon = np.full(len(of_targets), NO_TAXON, np.int32)
        self._slot = np.full(len(of_targets), _NO_SLOT, np.int8)
        for slot, column in zip(reversed(self._slots), reversed(self._columns), strict=True):
            here = column != NO_TAXON
            self._taxon[here], self._slot[here] = column[here], slot

    def call(self, candidates: Candidates, hitmin: NDArray[np.uint32], lead: NDArray[np.uint32] | None = None) -> Calls:
        """Call each read the lowest common ancestor of its candidates that count.

        A read whose best candidate has fewer than `hitmin` hits is not classified. Else the best candidate counts, and
        each one with more hits than `hitdiff` times what the best one has above `lead`. A candidate's taxon is the
        first one of its lineage at `lowest` or above. The common ancestor is the first taxon that fills the same rank
        in both lineages; without one up to `highest`, the read is not classified.

        Parameters
        ----------
        candidates : Candidates
        hitmin : ndarray, uint32 (reads,)
            Hits that each read needs.
        lead : ndarray, uint32 (reads,), optional
            `hitmin` if not given.
        """
        best = candidates.hits[:, 0]
        classified = (best >= hitmin) & (candidates.targets[:, 0] != NO_TARGET)
        at = np.flatnonzero(classified)
        top = candidates.targets[:, 0].astype(np.intp)[at]
        taxon, slot = self._taxon[top], self._slot[top]
        # MetaCache rounds the threshold to float32, too
        threshold = (best - np.minimum(hitmin if lead is None else lead, best)).astype(np.float32) * self._hitdiff
        for place in range(1, candidates.hits.shape[1]):
            counts = (candidates.hits[:, place] > threshold)[at] & (taxon != NO_TAXON)
            these = np.flatnonzero(counts)
            if not len(these):
                break
            self._join(taxon, slot, these, top, candidates.targets[:, place].astype(np.intp)[at])
        calls = np.full(len(candidates), NO_TAXON, np.int32)
        calls[at] = taxon
        return Calls(calls, hitmin)

    def _join(
        self,
        taxon: NDArray[np.int32],
        slot: NDArray[np.int8],
        these: NDArray[np.intp],
        top: NDArray[np.intp],
        other: NDArray[np.intp],
    ) -> None:
        """Raise the taxa of some reads to the first one that their best target has in common with another target."""
        tops, others, least = top[these], other[these], slot[these]
        taxon[these], slot[these] = NO_TAXON, _NO_SLOT
        for level, column in zip(self._slots, self._columns, strict=True):
            found = column[tops]
            same = (found == column[others]) & (found != NO_TAXON) & (least <= level)
            if not same.any():
                continue
            shared = these[same]
            taxon[shared], slot[shared] = found[same], level
            if len(shared) == len(these):
                break
            apart = ~same
            these, tops, others, least = these[apart], tops[apart], others[apart], least[apart]


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
    return candidates.reordered(order).where(np.take_along_axis(stays, order, axis=1))
