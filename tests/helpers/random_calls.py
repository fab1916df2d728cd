"""Made-up trees of taxa, and reads that were called taxa and targets of them."""

from __future__ import annotations

import numpy as np

from oclgenomics.classify.options import NO_RANK, RANKS
from oclgenomics.classify.result import ClassifiedReads, Reads
from oclgenomics.classify.taxonomy.calls import NO_TARGET, Calls, Candidates
from oclgenomics.classify.taxonomy.lineages import Lineages, Targets
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy
from oclgenomics.sequence.name_list import NameList

__all__ = ["random_lineages", "random_reads"]


def random_lineages(seed: int, taxa: int = 30, targets: int = 12) -> Lineages:
    """Return a tree whose ranks fall from the root on, some of them missing, and targets, some without a taxon."""
    rng = np.random.default_rng(seed)
    parents, ranks = [0], [RANKS.index("root")]
    for taxon in range(1, taxa):
        above = [one for one in range(taxon) if ranks[one] == NO_RANK or ranks[one] > 2]
        parent = int(rng.choice(above))
        lowest = min([RANKS.index("root"), *_ranks_above(parent, parents, ranks)])
        parents.append(parent)
        ranks.append(NO_RANK if rng.random() < 0.2 else int(rng.integers(1, lowest)) if lowest > 1 else NO_RANK)
    none = np.zeros(0, np.int64)
    taxids = np.cumsum(np.append(1, rng.integers(1, 50, taxa - 1)))
    names = tuple(f"T\t {taxid}" if taxid % 7 == 0 else f"Taxon {taxid}" for taxid in taxids.tolist())
    taxonomy = Taxonomy(taxids, np.array(parents, np.int32), np.array(ranks, np.int8), names, none, none)
    windows = rng.integers(1, 50, targets)
    return Lineages.of(
        taxonomy,
        Targets(
            tuple(f"target_{number}" for number in range(targets)),
            ("references.fa",),
            np.zeros(targets, np.int32),
            np.arange(targets),
            np.where(rng.random(targets) < 0.2, NO_TAXON, rng.integers(0, taxa, targets)).astype(np.int32),
            windows * 112,
            windows,
        ),
    )


def _ranks_above(taxon: int, parents: list[int], ranks: list[int]) -> list[int]:
    found = []
    while True:
        if ranks[taxon] != NO_RANK:
            found.append(ranks[taxon])
        if parents[taxon] == taxon:
            return found
        taxon = parents[taxon]


def random_reads(
    lineages: Lineages, seed: int, reads: int, *, pairs: bool = False, maxcand: int = 2
) -> ClassifiedReads:
    """Return reads called any taxon that fills a rank, any target or nothing, with any candidates."""
    rng = np.random.default_rng(seed)
    taxa, targets = len(lineages.taxonomy), len(lineages.targets)
    ranked = np.flatnonzero(lineages.taxonomy.ranks != NO_RANK)
    callable_ = np.concatenate([[NO_TAXON], ranked, taxa + np.arange(targets)])
    letters = rng.integers(20, 300, (2, reads), np.uint32)
    names = NameList.of([f"read_{number}" for number in range(reads)])
    found = np.minimum(rng.integers(0, maxcand + 1, reads), targets)
    there = np.arange(maxcand) < found[:, np.newaxis]
    chosen = np.array([rng.permutation(max(targets, maxcand))[:maxcand] for _ in range(reads)]).reshape(reads, maxcand)
    hits = -np.sort(-rng.integers(1, 20, (reads, maxcand)), axis=1)
    first = rng.integers(0, 5, (reads, maxcand))
    table = [np.where(there, array, 0).astype(np.uint32) for array in (hits, first, first + 1)]
    candidates = Candidates(np.where(there, chosen, NO_TARGET).astype(np.uint32), *table, np.full(reads, 30, np.uint32))
    calls = Calls(rng.choice(callable_, reads).astype(np.int32), np.full(reads, 3, np.uint32))
    return ClassifiedReads(Reads(0, names, letters[0], letters[1] if pairs else None, "reads.fq"), candidates, calls)
