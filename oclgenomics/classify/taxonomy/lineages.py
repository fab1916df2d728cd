"""Ranked lineages: of every taxon and every target, the taxon at each rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.targets import Targets
from oclgenomics.classify.taxonomy.ranks import NO_RANK, RANKS, SEQUENCE
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy

__all__ = ["Lineages"]


@dataclass(frozen=True)
class Lineages:
    """Taxa and targets under one numbering: the taxa of the tree, then the targets.

    Attributes
    ----------
    taxonomy : Taxonomy
    targets : Targets
    at_rank : ndarray, int32 (taxa + targets, ranks)
        Number of the ancestor, or of the taxon itself, that fills each slot of `RANKS`; `NO_TAXON` where none does.
    """

    taxonomy: Taxonomy
    targets: Targets
    at_rank: NDArray[np.int32]

    @classmethod
    def of(cls, taxonomy: Taxonomy, targets: Targets) -> Lineages:
        """Find the lineages of a tree without cycles."""
        taxa = len(taxonomy)
        at_rank = np.full((taxa + len(targets), len(RANKS)), NO_TAXON, np.int32)
        todo = np.arange(taxa, dtype=np.int32)
        at = todo.copy()  # the ancestor at which each one has arrived
        while len(todo):
            ranks = taxonomy.ranks[at]
            fills = (ranks != NO_RANK) & (at_rank[todo, ranks] == NO_TAXON)
            at_rank[todo[fills], ranks[fills]] = at[fills]
            above = taxonomy.parents[at]
            goes_on = above != at
            todo, at = todo[goes_on], above[goes_on]
        ranked = targets.taxon != NO_TAXON
        at_rank[taxa:][ranked] = at_rank[targets.taxon[ranked]]
        at_rank[taxa:, SEQUENCE] = taxa + np.arange(len(targets), dtype=np.int32)
        return cls(taxonomy, targets, at_rank)

    def target_number(self, targets: NDArray[np.uint32]) -> NDArray[np.int32]:
        """Return the numbers of targets in this numbering."""
        return (targets.astype(np.int64) + len(self.taxonomy)).astype(np.int32)
