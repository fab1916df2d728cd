"""Which nodes of a tree sequence are its haplotypes, and what the individuals are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError, UsageError
from oclgenomics.variation.samples import columns_of

__all__ = ["NAME_KEYS", "TreeSamples", "tree_samples"]

NAME_KEYS = ("name", "sample_id", "variant_data_sample_id")  # the last is tsinfer's


@dataclass
class TreeSamples:
    """The haplotypes of a tree sequence.

    Attributes
    ----------
    columns : ndarray of int64, shape (haplotypes,)
        Which of the sample nodes they are; 2i and 2i + 1 belong to individual i when the ploidy is 2.
    ploidy : int
        1 or 2.
    names : tuple of str
        Names of the individuals, none if they have none.
    """

    columns: NDArray[np.int64]
    ploidy: int
    names: tuple[str, ...]


def tree_samples(trees: Any, keep: Sequence[str] | None, source: str) -> TreeSamples:
    """Find the haplotypes: by individual if each has one sample node, or each has two; else in the order of the nodes.

    Parameters
    ----------
    trees : tskit.TreeSequence
        The tree sequence.
    keep : sequence of str, optional
        Names of the individuals to keep.
    source : str
        Path of the input.

    Raises
    ------
    InputError
        There is no sample node, metadata that cannot be read, or no individual of a name.
    UsageError
        `keep` for individuals without names.
    """
    if not trees.num_samples:
        raise InputError("the tree sequence has no sample nodes", source=source)
    owners = trees.nodes_individual[trees.samples()]
    individuals, sizes = np.unique(owners, return_counts=True)
    ploidy, columns = 1, np.arange(len(owners))
    names: tuple[str, ...] = ()
    if owners.min() >= 0 and sizes.min() == sizes.max() <= 2:
        ploidy = int(sizes[0])
        columns = np.argsort(owners, kind="stable")
        names = _names(trees, individuals, source)
    if keep is not None and not names:
        raise UsageError(
            f"{source}: samples cannot be chosen, because the individuals have no names of their own in their metadata "
            f"({', '.join(NAME_KEYS)}); leave `samples` out"
        )
    kept = columns_of(names, keep, source)
    if kept is None:
        return TreeSamples(columns, ploidy, names)
    return TreeSamples(columns.reshape(-1, ploidy)[kept].ravel(), ploidy, tuple(names[i] for i in kept))


def _names(trees: Any, individuals: NDArray[np.int64], source: str) -> tuple[str, ...]:
    """The first of `NAME_KEYS` that names every individual differently; none if there is no such key."""
    try:
        metadata = [trees.individual(i).metadata for i in individuals.tolist()]
    except Exception as error:  # whatever the codec named in the file's own schema raises
        raise InputError(f"the metadata of the individuals cannot be read ({error})", source=source) from error
    if not all(isinstance(entry, dict) for entry in metadata):
        return ()
    for key in NAME_KEYS:
        names = tuple(entry.get(key) for entry in metadata)
        if all(isinstance(name, str) and name for name in names) and len(set(names)) == len(names):
            return names
    return ()
