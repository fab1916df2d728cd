"""Taxonomies as arrays, the part of a tree above some taxa, and two trees made one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import NO_RANK, RANKS
from oclgenomics.errors import InputError

NO_TAXON = -1
ROOT_TAXID = 1


@dataclass(frozen=True)
class Taxonomy:
    """A tree of taxa, which are numbered in ascending order of their identifiers.

    Attributes
    ----------
    taxids : ndarray, int64 (taxa,)
        Identifiers, ascending, no two equal, all above 0.
    parents : ndarray, int32 (taxa,)
        Number of the parent; the root's is its own.
    ranks : ndarray, int8 (taxa,)
        Slot of the rank in `ranks.RANKS`; `NO_RANK` where it fills none.
    names : tuple of str
        Scientific names; "" for a taxon without one.
    merged_from, merged_to : ndarray, int64
        Identifiers that are no longer used, ascending, and those that took their place.
    """

    taxids: NDArray[np.int64]
    parents: NDArray[np.int32]
    ranks: NDArray[np.int8]
    names: tuple[str, ...]
    merged_from: NDArray[np.int64]
    merged_to: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.taxids)

    @classmethod
    def none(cls) -> Taxonomy:
        """Return a tree without taxa."""
        none = np.zeros(0, np.int64)
        return cls(none, none.astype(np.int32), none.astype(np.int8), (), none, none)

    def find(self, taxids: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the numbers of taxa, `NO_TAXON` for identifiers that the tree does not know, even as merged ones."""
        wanted = _looked_up(self.merged_from, taxids, self.merged_to, taxids)
        numbers = np.arange(len(self), dtype=np.int32)
        return _looked_up(self.taxids, wanted, numbers, np.full(wanted.shape, NO_TAXON, np.int32))


def _looked_up(keys: NDArray[np.int64], wanted: NDArray[np.int64], values: NDArray, otherwise: NDArray) -> NDArray:  # type: ignore[type-arg]
    """values[i] where wanted is keys[i], which ascend; else what `otherwise` has."""
    if not len(keys):
        return otherwise
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, values[at], otherwise)


def pruned(taxonomy: Taxonomy, taxa: NDArray[np.int32]) -> tuple[Taxonomy, NDArray[np.int32]]:
    """Keep some taxa, those above them and the root, and the merged identifiers that lead to one of these.

    Parameters
    ----------
    taxonomy : Taxonomy
    taxa : ndarray, int32
        Numbers of taxa, `NO_TAXON` among them.

    Returns
    -------
    taxonomy : Taxonomy
    taxa : ndarray, int32
        The new numbers of the given taxa; `NO_TAXON` stays what it is.
    """
    kept = taxonomy.parents == np.arange(len(taxonomy))
    todo = np.unique(taxa[taxa != NO_TAXON])
    while len(todo):
        kept[todo] = True
        above = np.unique(taxonomy.parents[todo])
        todo = above[~kept[above]]
    numbers = np.where(kept, np.cumsum(kept) - 1, NO_TAXON).astype(np.int32)
    leads = kept[taxonomy.find(taxonomy.merged_to)] if len(taxonomy) else np.zeros(0, np.bool_)
    which = np.flatnonzero(kept)
    tree = Taxonomy(
        taxonomy.taxids[which],
        numbers[taxonomy.parents[which]],
        taxonomy.ranks[which],
        tuple(taxonomy.names[at] for at in which.tolist()),
        taxonomy.merged_from[leads],
        taxonomy.merged_to[leads],
    )
    renumbered = np.append(numbers, np.int32(NO_TAXON))[taxa]  # the last one is that of NO_TAXON, -1
    return tree, renumbered.astype(np.int32)


def united(first: Taxonomy, second: Taxonomy) -> tuple[Taxonomy, NDArray[np.int32], NDArray[np.int32]]:
    """Make one tree of two. Where both name a taxon, the first one's name is taken.

    Returns
    -------
    taxonomy : Taxonomy
    first, second : ndarray, int32
        The new numbers of the taxa of both.

    Raises
    ------
    InputError
        A taxon has another parent or another rank in the second tree, is merged into another one there, or is the root
        of one tree and not of the other.
    """
    if not len(first) or not len(second):
        whole = second if len(second) else first
        return whole, np.arange(len(first), dtype=np.int32), np.arange(len(second), dtype=np.int32)
    _, at, there = np.intersect1d(first.taxids, second.taxids, return_indices=True)
    _refuse_differences(first, second, at, there)
    taxids = np.union1d(first.taxids, second.taxids)
    numbers = [np.searchsorted(taxids, one.taxids).astype(np.int32) for one in (first, second)]
    parents, ranks = np.empty(len(taxids), np.int32), np.empty(len(taxids), np.int8)
    names = [""] * len(taxids)
    for one, places in ((second, numbers[1]), (first, numbers[0])):
        parents[places], ranks[places] = places[one.parents], one.ranks
        for place, name in zip(places.tolist(), one.names, strict=True):
            names[place] = name or names[place]
    roots = taxids[parents == np.arange(len(taxids))]
    if len(roots) > 1:
        raise InputError(
            f"the two taxonomies have other roots, taxids {roots[0]} and {roots[1]}; use one release for both"
        )
    merged_from, merged_to = _united_merges(first, second, taxids)
    return Taxonomy(taxids, parents, ranks, tuple(names), merged_from, merged_to), numbers[0], numbers[1]


def _refuse_differences(first: Taxonomy, second: Taxonomy, at: NDArray[np.int64], there: NDArray[np.int64]) -> None:
    """Refuse taxa of both trees that have other parents or ranks."""
    parents = first.taxids[first.parents[at]], second.taxids[second.parents[there]]
    moved = np.flatnonzero(parents[0] != parents[1])
    if len(moved):
        one = moved[0]
        raise InputError(
            f"{_shown(first, at[one])} lies below taxid {parents[0][one]} in the database and below taxid "
            f"{parents[1][one]} in the added taxonomy; use the taxonomy that the database was built with"
        )
    ranked = np.flatnonzero(first.ranks[at] != second.ranks[there])
    if len(ranked):
        ranks = [
            "no rank" if rank == NO_RANK else RANKS[rank]
            for rank in (first.ranks[at[ranked[0]]], second.ranks[there[ranked[0]]])
        ]
        raise InputError(
            f"{_shown(first, at[ranked[0]])} has the rank {ranks[0]} in the database and {ranks[1]} in the added "
            "taxonomy; use the taxonomy that the database was built with"
        )


def _shown(taxonomy: Taxonomy, taxon: int) -> str:
    """A taxon in a message."""
    name = taxonomy.names[taxon]
    return f"taxid {taxonomy.taxids[taxon]}" + (f" ({name})" if name else "")


def _united_merges(
    first: Taxonomy, second: Taxonomy, taxids: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The merged identifiers of both trees."""
    old = np.concatenate([first.merged_from, second.merged_from])
    new = np.concatenate([first.merged_to, second.merged_to])
    order = np.lexsort((new, old))
    old, new = old[order], new[order]
    again = np.flatnonzero((old[1:] == old[:-1]) & (new[1:] != new[:-1]))
    if len(again):
        raise InputError(
            f"taxid {old[again[0]]} was merged into taxid {new[again[0]]} in the one taxonomy and into taxid "
            f"{new[again[0] + 1]} in the other; use the taxonomy that the database was built with"
        )
    stays = np.flatnonzero(np.isin(old, taxids))
    if len(stays):
        raise InputError(
            f"taxid {old[stays[0]]} was merged into taxid {new[stays[0]]} in the one taxonomy and is a taxon of the "
            "other; use the taxonomy that the database was built with"
        )
    kept = np.append(True, old[1:] != old[:-1])[: len(old)]
    return old[kept], new[kept]
