"""Several databases made one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.provenance import make_provenance
from oclgenomics.classify.database.database import MAX_WINDOWS, Database
from oclgenomics.classify.database.features import FeatureList, Features, cut_ranges, filtered
from oclgenomics.classify.database.references import NUMBER, NewTargets, join_targets, refuse_known
from oclgenomics.classify.options import BuildOptions
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON, united
from oclgenomics.errors import UsageError

LOCATIONS_AT_A_TIME = 1 << 24


def merge_databases(databases: Sequence[Database]) -> Database:
    """Put the targets of databases one behind the other.

    The result is what a database of the first one's references gives to which those of the others are added in turn.

    Parameters
    ----------
    databases : sequence of Database
        At least one, all built with the same options.

    Raises
    ------
    UsageError
        Options differ, there are too many windows, or a feature was removed as ambiguous of which an earlier database
        has locations.
    InputError
        Two databases have a file in common, or contradict each other about a taxon.

    Examples
    --------
    >>> from oclgenomics.classify import merge_databases, read_database, write_database
    >>> parts = [read_database(path) for path in ("bacteria.db", "viruses.db")]  # doctest: +SKIP
    >>> write_database("all.db", merge_databases(parts))  # doctest: +SKIP
    """
    if not databases:
        raise UsageError("there are no databases to merge")
    return reduce(_merged, databases)


def _merged(first: Database, second: Database) -> Database:
    _refuse_other_options(first.options, second.options)
    options, theirs = first.options, second.targets
    windows = int(first.targets.windows.sum())
    if windows + int(theirs.windows.sum()) > MAX_WINDOWS:
        raise UsageError(f"together the databases have more than {MAX_WINDOWS:,} windows, more than one may have")
    ids, taxids = [NUMBER.sub("", name) for name in theirs.names], np.zeros(len(theirs), np.int64)
    new = NewTargets(ids, taxids, list(theirs.sources), theirs.source, theirs.record, theirs.letters, theirs.windows)
    refuse_known(first.targets, new)
    taxonomy, mine, others = united(first.taxonomy, second.taxonomy)
    taxon = np.concatenate([_renumbered(first.targets.taxon, mine), _renumbered(theirs.taxon, others)])
    targets = replace(join_targets(first.targets, new), taxon=taxon)
    joined = _joined(first.features, second.features, windows, options)
    features = filtered(joined, options, Lineages.of(taxonomy, targets))
    return Database(options, targets, taxonomy, features, make_provenance(asdict(options)))


def _refuse_other_options(first: BuildOptions, second: BuildOptions) -> None:
    one, other = ({**asdict(options), **asdict(options.sketch)} for options in (first, second))
    for name, value in one.items():
        if name != "sketch" and other[name] != value:
            raise UsageError(f"databases with other options cannot be merged: {name} is {value} and {other[name]}")


def _renumbered(taxon: NDArray[np.int32], numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.append(numbers, np.int32(NO_TAXON))[taxon]  # the last one is that of NO_TAXON, -1


def _joined(first: Features, second: Features, windows: int, options: BuildOptions) -> Features:
    """Join lists of locations; the windows of the second ones come behind so many."""
    lists = [FeatureList(first), FeatureList(second)]
    parts = [
        _joined_part(lists[0].cut(low, high), lists[1].cut(low, high), windows, options)
        for low, high in cut_ranges(lists, LOCATIONS_AT_A_TIME)
    ]
    return Features.joined(parts)


def _joined_part(first: Features, second: Features, windows: int, options: BuildOptions) -> Features:
    most = options.max_locations
    keys = np.union1d(first.keys, second.keys)
    held, others = _counts(keys, first), _counts(keys, second)
    full = held == most
    removed = (held == 0) | ((others == 0) & ~full)
    if options.remove_ambiguous is not None and ((others == 0) & (held > 0) & ~full).any():
        raise UsageError(
            "a feature was removed as ambiguous from a database of which one before it has locations, so nobody knows "
            "whether it would be in both together; build them at once, or add references instead"
        )
    held, others = np.maximum(held, 0), np.maximum(others, 0)
    counts = np.where(removed, 0, np.minimum(held + others, most))
    kept = np.where(removed, 0, held), np.where(removed, 0, counts - np.minimum(held, counts))
    locations = np.empty(int(counts.sum()), np.uint32)
    before = np.cumsum(counts) - counts
    _put(locations, before, first, keys, kept[0], 0)
    _put(locations, before + kept[0], second, keys, kept[1], windows)
    sizes: Any = counts.astype(first.counts.dtype)
    return Features(keys, sizes, locations)


def _counts(keys: NDArray[np.uint32], features: Features) -> NDArray[np.int64]:
    """Locations of each key, -1 for one that the features lack."""
    counts = np.full(len(keys), -1, np.int64)
    counts[np.searchsorted(keys, features.keys)] = features.counts
    return counts


def _put(
    locations: NDArray[np.uint32],
    to: NDArray[np.int64],
    features: Features,
    keys: NDArray[np.uint32],
    sizes: NDArray[np.int64],
    windows: int,
) -> None:
    """Write the first `sizes` locations of each key to their places."""
    starts = np.zeros(len(keys), np.int64)
    starts[np.searchsorted(keys, features.keys)] = features.starts[:-1]
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = features.locations[np.repeat(starts, sizes) + within]
    locations[np.repeat(to, sizes) + within] = kept + np.uint32(windows)
