"""Taxonomies, targets and candidates made up for tests."""

from __future__ import annotations

import numpy as np

from oclgenomics.classify.options import NO_RANK, RANKS
from oclgenomics.classify.taxonomy.calls import NO_TARGET, Candidates
from oclgenomics.classify.taxonomy.lineages import Lineages, Targets
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy

NONE = np.zeros(0, np.int64)


def taxonomy_of(parents: dict[int, int], ranks: dict[int, str] | None = None) -> Taxonomy:
    """A tree by the parent of each taxid."""
    taxids = sorted(parents)
    number = {taxid: at for at, taxid in enumerate(taxids)}
    names = {} if ranks is None else ranks
    slots = [RANKS.index(names[taxid]) if taxid in names else NO_RANK for taxid in taxids]
    return Taxonomy(
        np.array(taxids, np.int64),
        np.array([number[parents[taxid]] for taxid in taxids], np.int32),
        np.array(slots, np.int8),
        tuple(f"taxon {taxid}" for taxid in taxids),
        NONE,
        NONE,
    )


def random_taxonomy(taxa: int, rng: np.random.Generator, *, ordered: bool = False) -> Taxonomy:
    """A tree whose ranks come in any order, or become lower from the root on."""
    taxids = np.append(1, 2 + np.sort(rng.choice(10 * taxa, taxa - 1, replace=False))).astype(np.int64)
    parents = np.array([rng.integers(max(at, 1)) for at in range(taxa)], np.int32)
    order = rng.permutation(taxa - 1) + 1  # parents need not have lower numbers
    place = np.append(0, order)
    moved = np.empty(taxa, np.int32)
    moved[place] = place[parents]
    ranks = rng.integers(NO_RANK, len(RANKS) - 1, taxa).astype(np.int8)
    ranks[ranks == 0] = NO_RANK
    ranks[0] = len(RANKS) - 1
    if ordered:
        lowest = ranks.copy()  # of each taxon and those above it
        for at in place[1:].tolist():
            ranks[at] = ranks[at] if 0 < ranks[at] < lowest[moved[at]] else NO_RANK
            lowest[at] = lowest[moved[at]] if ranks[at] == NO_RANK else ranks[at]
    return Taxonomy(taxids, moved, ranks, tuple(f"taxon {taxid}" for taxid in taxids), NONE, NONE)


def targets_of(taxon: list[int], windows: list[int] | None = None) -> Targets:
    """Targets of one file by the numbers of their taxa."""
    count = len(taxon)
    return Targets(
        tuple(f"target{at}" for at in range(count)),
        ("targets.fna",),
        np.zeros(count, np.int32),
        np.arange(count, dtype=np.int64),
        np.array(taxon, np.int32),
        np.full(count, 1000, np.int64),
        np.array([9] * count if windows is None else windows, np.int64),
    )


def random_lineages(taxa: int, targets: int, rng: np.random.Generator, *, ordered: bool = False) -> Lineages:
    """Lineages of targets of which some have no taxon."""
    taxonomy = random_taxonomy(taxa, rng, ordered=ordered)
    return Lineages.of(taxonomy, targets_of(rng.integers(NO_TAXON, taxa, targets).tolist()))


def random_candidates(reads: int, maxcand: int, targets: int, rng: np.random.Generator, most: int = 20) -> Candidates:
    """Candidates in their order; of some reads there are fewer than `maxcand`, or none."""
    hits = -np.sort(-rng.integers(1, most, (reads, maxcand)).astype(np.int64), axis=1)
    found = np.argsort(rng.random((reads, targets)), axis=1)[:, :maxcand]
    if found.shape[1] < maxcand:
        found = np.pad(found, ((0, 0), (0, maxcand - targets)))
    count = np.minimum(rng.integers(0, maxcand + 1, reads), targets)
    gone = np.arange(maxcand) >= count[:, None]
    first = rng.integers(0, 8, (reads, maxcand))
    last = np.minimum(first + rng.integers(0, 3, (reads, maxcand)), 8)
    return Candidates(
        np.where(gone, NO_TARGET, found).astype(np.uint32),
        np.where(gone, 0, hits).astype(np.uint32),
        np.where(gone, 0, first).astype(np.uint32),
        np.where(gone, 0, last).astype(np.uint32),
        hits.sum(axis=1).astype(np.uint32),
    )
