"""A database in the host's memory, and what holds of every one, on which the rest of the system relies."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.database.features import Counts, FeatureNumbers, Features
from oclgenomics.classify.options import NO_RANK, RANKS, BuildOptions
from oclgenomics.classify.plan import count_windows
from oclgenomics.classify.taxonomy.lineages import Targets
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy
from oclgenomics.io.cores import usable_cores
from oclgenomics.io.workers import Workers

MAX_WINDOWS = (1 << 32) - 1  # of all targets together
MAX_LETTERS = 1 << 48  # of a target
BLOCK, LOCATIONS = 1 << 20, 1 << 22  # features and locations that are looked at at a time: it takes little memory
THREADS = 8  # that look at them
FEW_LISTS = 4  # one feature in so many at most has other than one location: the others need no look


@dataclass(frozen=True)
class Database:
    """Targets, what is known of them, and where their features are.

    Attributes
    ----------
    options : BuildOptions
    targets : Targets
    taxonomy : Taxonomy
        Of the targets' taxa and those above them.
    features : Features
    provenance : dict of str to object
        See `oclgenomics.app.provenance`.
    known : ndarray, int64 (taxa + targets,), optional
        Distinct features of each taxon and target, see `taxonomy.coverage`; counted when they are needed if not given.
    """

    options: BuildOptions
    targets: Targets
    taxonomy: Taxonomy
    features: Features
    provenance: dict[str, Any]
    known: NDArray[np.int64] | None = None


def find_fault(database: Database) -> str | None:
    """Say what is wrong with a database: the first thing, as words that begin with "it has" may take; None if sound.

    Parameters
    ----------
    database : Database
        Its arrays may hold any numbers and have any lengths.
    """
    fault = described_fault(database)
    return next(feature_faults(database), None) if fault is None else fault


def described_fault(database: Database) -> str | None:
    """Say what is wrong with all but the features of a database; None if sound."""
    options, targets, taxonomy = database.options, database.targets, database.taxonomy
    faults = itertools.chain(_taxonomy_faults(taxonomy), _target_faults(targets, len(taxonomy), options))
    fault = next(faults, None)
    return _known_fault(database) if fault is None else fault


def feature_faults(database: Database) -> Iterator[str]:
    """Yield what is wrong with the features of a database of which all else is sound."""
    features, windows = database.features, int(database.targets.windows.sum())
    with Workers(min(THREADS, usable_cores())) as threads:
        numbers, most = features.counted(threads), database.options.max_locations
        fault = numbers_fault(numbers, len(features), features.located, most)
        if fault is not None:
            yield fault
            return
        if features.in_order(windows):
            return
        pieces = key_before(features.pieces(BLOCK, LOCATIONS))
        yield from filter(None, threads.map(lambda one: piece_fault(*one, windows), pieces))


def numbers_fault(numbers: FeatureNumbers, keys: int, locations: int, max_locations: int) -> str | None:
    """Say what is wrong with how many features and locations there are; None if sound.

    Parameters
    ----------
    numbers : FeatureNumbers
    keys, locations : int
        How many there are.
    max_locations : int
        Of a feature.
    """
    if numbers.alive + numbers.dead != keys:
        return "numbers of features that differ"
    if numbers.largest > max_locations:
        return "a feature of more locations than a feature may have"
    if numbers.located != locations:
        return "a number of locations that is not that of all features together"
    return None


def piece_fault(piece: Features, key_before: int, windows: int) -> str | None:
    """Say what is wrong with features that are some of a row; None if sound.

    Parameters
    ----------
    piece : Features
        Of lengths that go together.
    key_before : int
        Of the feature before them; -1 if there is none.
    windows : int
        Of all targets.
    """
    keys, locations = piece.keys, piece.locations
    if len(keys) and (int(keys[0]) <= key_before or not _ascend(keys)):
        return "features that are out of order"
    if int(locations.max(initial=0)) >= max(windows, 1):
        return "a location behind the last window"
    return None if _lists_ascend(piece.counts, locations) else "locations of a feature that are out of order"


def _taxonomy_faults(taxonomy: Taxonomy) -> Iterator[str]:
    parents, ranks, taxa = taxonomy.parents, taxonomy.ranks, len(taxonomy)
    if not taxa == len(parents) == len(ranks) == len(taxonomy.names):
        yield "numbers of taxa that differ"
        return
    if not _ascend(taxonomy.taxids) or not (taxonomy.taxids > 0).all():
        yield "identifiers of taxa that do not ascend from 1 on"
    if not _within(ranks, NO_RANK, len(RANKS)):
        yield "a taxon of an unknown rank"
    if not _within(parents, 0, taxa):
        yield "a taxon whose parent does not exist"
    elif taxa and not _is_tree(parents):
        yield "taxa that are no tree with one root"
    if len(taxonomy.merged_from) != len(taxonomy.merged_to) or not _ascend(taxonomy.merged_from):
        yield "merged taxa that are out of order"


def _is_tree(parents: NDArray[np.int32]) -> bool:
    """Whether all ways up end in one root."""
    roots = np.flatnonzero(parents == np.arange(len(parents)))
    above = parents
    for _ in range(len(parents).bit_length()):  # each round doubles the steps
        above = above[above]
    return len(roots) == 1 and bool((above == roots[0]).all())


def _target_faults(targets: Targets, taxa: int, options: BuildOptions) -> Iterator[str]:
    columns = (targets.source, targets.record, targets.taxon, targets.letters, targets.windows)
    if any(len(column) != len(targets) for column in columns):
        yield "numbers of targets that differ"
        return
    if len(set(targets.names)) < len(targets):
        yield "two targets of the same name"
    if len(set(targets.sources)) < len(targets.sources) or not _within(targets.source, 0, len(targets.sources)):
        yield "targets whose file is not listed, or is listed twice"
    if not _within(targets.taxon, NO_TAXON, taxa):
        yield "a target whose taxon does not exist"
    if (targets.record < 0).any() or not _within(targets.letters, 0, MAX_LETTERS):
        yield "a target whose place in its file, or whose length, is below 0 or too large"
    elif not np.array_equal(targets.windows, count_windows(targets.letters, options.sketch)):
        yield "a target whose windows do not go with its length"
    elif targets.windows.max(initial=0) > MAX_WINDOWS or targets.windows.sum() > MAX_WINDOWS:
        yield f"more than {MAX_WINDOWS:,} windows"


def _known_fault(database: Database) -> str | None:
    """Whether the numbers of features of taxa may be right: no taxon has fewer than one below it."""
    known, targets, parents = database.known, database.targets, database.taxonomy.parents
    if known is None:
        return None
    taxa = len(parents)
    if len(known) != taxa + len(targets):
        return "numbers of features of taxa that differ from the number of taxa and targets"
    placed = targets.taxon != NO_TAXON
    below, above = np.append(known[:taxa], known[taxa:][placed]), np.append(parents, targets.taxon[placed])
    if (known < 0).any() or (below > known[above]).any():
        return "numbers of features of taxa that do not go together"
    return None


def key_before(pieces: Iterable[Features]) -> Iterator[tuple[Features, int]]:
    """Yield each piece of a row of features with the key before it, -1 if there is none."""
    key = -1
    for piece in pieces:
        yield piece, key
        key = int(piece.keys[-1])


def _lists_ascend(counts: Counts, locations: NDArray[np.uint32]) -> bool:
    """Whether the numbers of each list ascend; the lists follow each other."""
    others = np.flatnonzero(counts != 1)
    if FEW_LISTS * len(others) <= len(counts):
        return _few_ascend(others, counts[others].astype(np.int64), locations)
    ends = np.cumsum(counts, dtype=np.int64)
    rises = np.empty(len(locations) + 1, bool)
    np.greater(locations[1:], locations[:-1], out=rises[1:-1])
    rises[ends] = rises[0] = True  # where a list begins; also behind the last one
    return bool(rises.all())


def _few_ascend(places: NDArray[np.intp], counts: NDArray[np.int64], locations: NDArray[np.uint32]) -> bool:
    """Whether the numbers of some lists ascend, between which all lists have one."""
    starts = places + np.cumsum(counts - 1) - (counts - 1)
    pairs = np.maximum(counts - 1, 0)  # of neighbours in a list
    first = np.repeat(starts - (np.cumsum(pairs) - pairs), pairs) + np.arange(int(pairs.sum()))
    return bool((locations[first + 1] > locations[first]).all())


def _ascend(numbers: NDArray[np.uint32] | NDArray[np.int64]) -> bool:
    return bool((numbers[1:] > numbers[:-1]).all())


def _within(numbers: NDArray[np.int8] | NDArray[np.int32] | NDArray[np.int64], least: int, end: int) -> bool:
    """Whether all are `least` or more and less than `end`."""
    return not len(numbers) or (int(numbers.min()) >= least and int(numbers.max()) < end)
