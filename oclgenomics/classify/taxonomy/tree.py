"""Taxonomies as arrays, and the ranked lineages of taxa and of targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_TAXON", "ROOT_TAXID", "Taxonomy"]

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
