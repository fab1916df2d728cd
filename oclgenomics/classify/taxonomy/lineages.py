"""The reference sequences of a database, and ranked lineages: the taxon of every taxon and target at each rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import NO_RANK, RANKS, SEQUENCE
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy


@dataclass(frozen=True)
class Lineages:
    """Taxa and targets under one numbering: the taxa of the tree, then the targets.

    Attributes
    ----------
    taxonomy : Taxonomy
    targets : Targets
    at_rank : ndarray, int32 (taxa + targets, ranks)
        Number of the ancestor, or of the taxon itself, that fills each slot of `RANKS`, the highest one if several do;
        `NO_TAXON` where none does.
    """

    taxonomy: Taxonomy
    targets: Targets
    at_rank: NDArray[np.int32]

    @classmethod
    def of(cls, taxonomy: Taxonomy, targets: Targets) -> Lineages:
        """Find the lineages of a tree without cycles."""
        taxa = len(taxonomy)
        at_rank = np.full((taxa + len(targets), len(RANKS)), NO_TAXON, np.int32)
        ranked = np.flatnonzero(taxonomy.ranks != NO_RANK)
        at_rank[ranked, taxonomy.ranks[ranked]] = ranked
        above, before = taxonomy.parents, np.arange(taxa, dtype=np.int32)
        for _ in range(taxa.bit_length()):  # each round looks twice as many taxa up
            if np.array_equal(above, before):
                break
            found = at_rank[above]
            np.copyto(at_rank[:taxa], found, where=found != NO_TAXON)
            above, before = above[above], above
        known = targets.taxon != NO_TAXON
        at_rank[taxa:][known] = at_rank[targets.taxon[known]]
        at_rank[taxa:, SEQUENCE] = taxa + np.arange(len(targets), dtype=np.int32)
        return cls(taxonomy, targets, at_rank)

    def groups(self, lowest: str) -> NDArray[np.int32]:
        """Return the first taxon of each target at a rank or above, int32 (targets,); `NO_TAXON` without one."""
        slots = self.at_rank[len(self.taxonomy) :, RANKS.index(lowest) :]
        first = (slots != NO_TAXON).argmax(axis=1)
        groups: NDArray[np.int32] = slots[np.arange(len(slots)), first]
        return groups


@dataclass(frozen=True)
class Targets:
    """Reference sequences in the order of the input. The windows of all are numbered in a row.

    Attributes
    ----------
    names : tuple of str
        No two equal.
    sources : tuple of str
        Files, each once.
    source : ndarray, int32 (targets,)
        The file of each target: a number in `sources`.
    record : ndarray, int64 (targets,)
        Its number in that file, from 0 on.
    taxon : ndarray, int32 (targets,)
        Its taxon in the database's `Taxonomy`; `NO_TAXON` without one.
    letters : ndarray, int64 (targets,)
    windows : ndarray, int64 (targets,)
    """

    names: tuple[str, ...]
    sources: tuple[str, ...]
    source: NDArray[np.int32]
    record: NDArray[np.int64]
    taxon: NDArray[np.int32]
    letters: NDArray[np.int64]
    windows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def none(cls) -> Targets:
        """Return no targets."""
        none = np.zeros(0, np.int64)
        return cls((), (), none.astype(np.int32), none, none.astype(np.int32), none, none)

    @property
    def first_window(self) -> NDArray[np.int64]:
        """Windows of the targets before each one, and of all, int64 (targets + 1,)."""
        return np.append(np.int64(0), np.cumsum(self.windows))
