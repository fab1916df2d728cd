"""Reads counted by what they were called, part by part, and what that says of a sample as a whole."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import NO_RANK, RANKS, SEQUENCE, SketchOptions
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.abundances import (
    Abundances,
    count_calls,
    estimated_abundances,
    percent_text,
    shared_abundances,
)
from oclgenomics.classify.taxonomy.coverage import Coverage, CoverageCounter
from oclgenomics.classify.taxonomy.evidence import Evidence, SpeciesShares
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.errors import ParameterError

_ROOT = RANKS.index("root")


MAIN_RANKS = (
    "sequence", "subspecies", "species", "genus", "family", "order", "class", "phylum", "kingdom", "domain", "root",
)  # fmt: skip


class Tally:
    """Counts of reads; a pair counts as one.

    Parameters
    ----------
    lineages : Lineages
    sketch : SketchOptions, optional
        Of the database, for queries whose `QueryOptions.tells_shares`: `estimate` is from the candidates of the reads.
    features : bool
        Whether parts have features (`Wanted.features`), which `coverage` counts.
    known : callable, optional
        Returns the features that the database has of each taxon; see `taxonomy.coverage.known_features`.

    Attributes
    ----------
    lineages : Lineages
    counts : ndarray, int64 (taxa + targets + 1,)
        Reads that were called each taxon or target, in the numbering of `Lineages`; the last one is unclassified reads.
    sequences : int
        Reads, each mate counted.
    """

    def __init__(
        self,
        lineages: Lineages,
        sketch: SketchOptions | None = None,
        *,
        features: bool = False,
        known: Callable[[], NDArray[np.int64]] | None = None,
    ) -> None:
        self.lineages = lineages
        self._counter = CoverageCounter(lineages) if features else None
        self._known = known
        self._sketch = sketch
        self._evidence = None if sketch is None else Evidence(lineages, sketch)
        self.counts = np.zeros(len(lineages.at_rank) + 1, np.int64)
        self.sequences = 0

    def add(self, part: ClassifiedReads) -> None:
        """Count the reads of a part."""
        self.counts += count_calls(part.calls, self.lineages)
        self.sequences += len(part) * (1 if part.reads.mate_letters is None else 2)
        if self._evidence is not None and self._sketch is not None:
            self._evidence.add(part.candidates, part.calls, part.reads.kmers(self._sketch.kmerlen))
        if self._counter is not None and part.shared is not None:
            self._counter.add(part.calls.taxon, part.shared.counts, part.shared.features)

    def coverage(self, *, known: bool = False) -> Coverage | None:
        """Return what the reads cover of each taxon and target, or None if their features are not known.

        Parameters
        ----------
        known : bool
            Also what the database has, which takes a look at all of it.
        """
        if self._counter is None:
            return None
        return self._counter.coverage(self._known() if known and self._known is not None else None)

    def estimate(self, rank: str) -> Abundances:
        """Estimate the reads of each taxon of a rank: from candidates, or else from calls alone, as MetaCache does."""
        if self._evidence is None:
            return estimated_abundances(self.counts, self.lineages, rank)
        return shared_abundances(self._evidence.shares(), self.counts, self.lineages, rank)

    def shares(self, *, per_genome: bool = False, rounds: int = 0) -> SpeciesShares:
        """Estimate shares of species from candidates; parameters as of `taxonomy.evidence.Evidence.estimate`.

        Raises
        ------
        ParameterError
            There are no candidates that tell shares.
        """
        if self._evidence is None:
            raise ParameterError("sketch", "candidates are not counted, so no shares can be estimated from them")
        return self._evidence.estimate(per_genome=per_genome, rounds=rounds)

    def calls_alone(self) -> Tally:
        """Return the counts without what they rest on, which may be large and belongs to this process."""
        alone = Tally(self.lineages)
        alone.counts, alone.sequences = self.counts, self.sequences
        return alone

    @property
    def reads(self) -> int:
        """All reads or pairs."""
        return int(self.counts.sum())

    @property
    def unclassified(self) -> int:
        """Reads or pairs that were called nothing."""
        return int(self.counts[-1])

    @property
    def without_taxon(self) -> int:
        """Reads or pairs that were called a target of no taxon: all that is known is that they are classified."""
        targets = self.counts[len(self.lineages.taxonomy) : -1]
        return int(targets[self.lineages.targets.taxon == NO_TAXON].sum())

    def of_taxa(self, *, rootless: bool = True) -> NDArray[np.int64]:
        """Return the reads of each taxon itself, those of its targets among them, int64 (taxa,).

        Parameters
        ----------
        rootless : bool
            Reads of targets without a taxon count for the root, if there is one.
        """
        taxonomy, targets = self.lineages.taxonomy, self.lineages.targets
        reads, known = self.counts[: len(taxonomy)].copy(), targets.taxon != NO_TAXON
        np.add.at(reads, targets.taxon[known], self.counts[len(taxonomy) : -1][known])
        if rootless and len(taxonomy):
            reads[np.argmax(taxonomy.parents == np.arange(len(taxonomy)))] += self.without_taxon
        return reads

    def of_clades(self) -> NDArray[np.int64]:
        """Return the reads of each taxon and all that is below it, int64 (taxa,)."""
        reads, parents = self.of_taxa(), self.lineages.taxonomy.parents
        levels = depths(parents)
        for level in range(int(levels.max(initial=0)), 0, -1):
            taxa = np.flatnonzero(levels == level)
            np.add.at(reads, parents[taxa], reads[taxa])
        return reads

    def at_or_below(self, rank: str) -> int:
        """Reads that were called a taxon of a rank or a lower one, whether or not its lineage has that rank."""
        ranks = self.lineages.taxonomy.ranks
        slots = np.append(np.where(ranks == NO_RANK, _ROOT, ranks), np.full(len(self.lineages.targets), SEQUENCE))
        return int(self.counts[:-1][slots <= RANKS.index(rank)].sum())

    def at_rank(self, rank: str) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the taxa of a rank that have reads in their clade, ascending, and how many."""
        above = self.lineages.at_rank[:, RANKS.index(rank)]
        seen = np.flatnonzero((above != NO_TAXON) & (self.counts[:-1] > 0))
        taxa, place = np.unique(above[seen], return_inverse=True)
        reads = np.zeros(len(taxa), np.int64)
        np.add.at(reads, place, self.counts[seen])
        return taxa, reads


def depths(parents: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return how many taxa are above each one, int32 (taxa,)."""
    depth: NDArray[np.int32] = (parents != np.arange(len(parents))).astype(np.int32)
    above = parents
    while True:  # each round looks twice as far up
        further = depth[above]
        if not further.any():
            return depth
        depth = depth + further
        above = above[above]


def summary_text(tally: Tally, comment: str = "# ") -> str:
    """Say how many reads were classified at each rank or below; shares are of reads, or of pairs.

    Parameters
    ----------
    tally : Tally
    comment : str
        Starts each line.
    """
    lines = [f"queries: {tally.sequences}"]
    reads, unclassified = tally.reads, tally.unclassified
    if reads and unclassified == reads:
        lines.append("None of the input sequences could be classified.")
    elif unclassified:
        lines.append(f"unclassified: {percent_text(unclassified / reads)}% ({unclassified})")
    if unclassified < reads:
        lines.append("classified:")
        for rank in MAIN_RANKS:
            if count := tally.at_or_below(rank):
                lines.append(f"  {rank:<11}{percent_text(count / reads)}% ({count})")
    return "".join([f"{comment}{line}\n" for line in lines])
