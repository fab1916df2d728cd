"""Features that are in too many places lose all their locations; their keys stay, so nothing added brings them back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.database.database import Features
from oclgenomics.classify.options import BuildOptions
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.ranks import RANKS
from oclgenomics.classify.taxonomy.tree import NO_TAXON

__all__ = ["emptied", "filtered", "is_ambiguous", "is_overpopulated"]

LOCATIONS_AT_A_TIME = 1 << 20


def filtered(features: Features, options: BuildOptions, lineages: Lineages) -> Features:
    """Empty the features that the options remove.

    Parameters
    ----------
    features : Features
        With at most `max_locations` locations each.
    options : BuildOptions
    lineages : Lineages
        Of all targets.
    """
    if options.remove_overpopulated:
        features = emptied(features, is_overpopulated(features, options.max_locations))
    if options.remove_ambiguous is not None:
        taxa = lineages.at_rank[len(lineages.taxonomy) :, RANKS.index(options.remove_ambiguous)]
        first_window = lineages.targets.first_window
        features = emptied(features, is_ambiguous(features, taxa, first_window, options.max_ambiguous))
    return features


def emptied(features: Features, remove: NDArray[np.bool_]) -> Features:
    """Take their locations from some features.

    Parameters
    ----------
    features : Features
    remove : ndarray, bool (features,)
    """
    if not remove.any():
        return features
    counts: Any = np.where(remove, features.counts.dtype.type(0), features.counts)
    return Features(features.keys, counts, features.locations[np.repeat(~remove, features.counts)])


def is_overpopulated(features: Features, max_locations: int) -> NDArray[np.bool_]:
    """Say which features have as many locations as are kept, and so may have more, bool (features,)."""
    found: NDArray[np.bool_] = features.counts >= max_locations
    return found


def is_ambiguous(
    features: Features, taxa: NDArray[np.int32], first_window: NDArray[np.int64], most: int
) -> NDArray[np.bool_]:
    """Say which features have locations in more than `most` taxa.

    As in MetaCache, all targets without a taxon of the rank count as one taxon more.

    Parameters
    ----------
    features : Features
    taxa : ndarray, int32 (targets,)
        Of each target; `NO_TAXON` is one more.
    first_window : ndarray, int64 (targets + 1,)
        Windows of the targets before each one.
    most : int

    Returns
    -------
    ndarray, bool (features,)
    """
    found = np.zeros(len(features), np.bool_)
    many = np.flatnonzero(features.counts > most)  # others cannot be in so many taxa
    if not len(many):
        return found
    starts, counts = features.starts[many], features.counts[many].astype(np.int64)
    ends = np.cumsum(counts)
    low = 0
    while low < len(many):
        done = ends[low - 1] if low else 0
        high = max(low + 1, int(np.searchsorted(ends, done + LOCATIONS_AT_A_TIME, side="right")))
        some = slice(low, high)
        found[many[some]] = _distinct(starts[some], counts[some], features.locations, taxa, first_window) > most
        low = high
    return found


def _distinct(
    starts: NDArray[np.int64],
    counts: NDArray[np.int64],
    locations: NDArray[np.uint32],
    taxa: NDArray[np.int32],
    first_window: NDArray[np.int64],
) -> NDArray[np.int64]:
    """How many taxa each of some lists of locations is in, int64 (lists,)."""
    before = np.cumsum(counts) - counts
    places = np.repeat(starts - before, counts) + np.arange(int(counts.sum()))
    targets = np.searchsorted(first_window, locations[places], side="right") - 1
    each = taxa[targets].astype(np.int64)
    lists = np.repeat(np.arange(len(counts)), counts)
    pairs = np.unique(lists << 32 | (each - NO_TAXON))
    return np.bincount(pairs >> 32, minlength=len(counts))
