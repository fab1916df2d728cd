"""Calls: the lowest common ancestor of the candidates that count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.candidates import NO_TARGET, Candidates
from oclgenomics.classify.options import QueryOptions
from oclgenomics.classify.result import Calls
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.ranks import RANKS
from oclgenomics.classify.taxonomy.tree import NO_TAXON

__all__ = ["Caller", "call_reads"]

_NO_SLOT = len(RANKS)  # above all ranks


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
        lowest, self._highest = RANKS.index(options.lowest), RANKS.index(options.highest)
        of_targets = lineages.at_rank[len(lineages.taxonomy) :]
        filled = np.flatnonzero((of_targets != NO_TAXON).any(axis=0))
        self._slots = [slot for slot in filled.tolist() if lowest <= slot <= self._highest]
        self._columns = [np.ascontiguousarray(of_targets[:, slot]) for slot in self._slots]
        self._taxon = np.full(len(of_targets), NO_TAXON, np.int32)
        self._slot = np.full(len(of_targets), _NO_SLOT, np.int8)
        for slot, column in zip(reversed(self._slots), reversed(self._columns), strict=True):
            here = column != NO_TAXON
            self._taxon[here], self._slot[here] = column[here], slot

    def call(self, candidates: Candidates, hitmin: NDArray[np.uint32], lead: NDArray[np.uint32] | None = None) -> Calls:
        """Call reads; see `call_reads`."""
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


def call_reads(
    candidates: Candidates,
    lineages: Lineages,
    options: QueryOptions,
    hitmin: NDArray[np.uint32],
    lead: NDArray[np.uint32] | None = None,
) -> Calls:
    """Call each read the lowest common ancestor of its candidates that count.

    A read whose best candidate has fewer than `hitmin` hits is not classified. Else the best candidate counts, and
    each one with more hits than `hitdiff` times what the best one has above `lead`. A candidate's taxon is the first
    one of its lineage at `lowest` or above. The common ancestor is the first taxon that fills the same rank in both
    lineages; without one up to `highest`, the read is not classified.

    Parameters
    ----------
    candidates : Candidates
    lineages : Lineages
    options : QueryOptions
    hitmin : ndarray, uint32 (reads,)
        Hits that each read needs.
    lead : ndarray, uint32 (reads,), optional
        `hitmin` if not given.

    Returns
    -------
    Calls
    """
    return Caller(lineages, options).call(candidates, hitmin, lead)
