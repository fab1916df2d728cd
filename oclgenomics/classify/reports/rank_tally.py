"""How many reads were classified at each rank, and MetaCache's words for it."""

from __future__ import annotations

import numpy as np

from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.ranks import NO_RANK, RANKS, SEQUENCE
from oclgenomics.classify.taxonomy.tree import NO_TAXON

__all__ = ["MAIN_RANKS", "RankTally", "summary_lines"]

MAIN_RANKS = (
    "sequence", "subspecies", "species", "genus", "family", "order", "class", "phylum", "kingdom", "domain", "root",
)  # fmt: skip
ROOT = RANKS.index("root")


class RankTally:
    """Counts reads, part by part, by the ranks of the taxa that they are called.

    Attributes
    ----------
    sequences : int
        Reads, each mate counted.
    reads : int
        Reads or pairs.
    at_rank : ndarray, int64 (ranks,)
        Those of them that are called a taxon of each rank.
    """

    def __init__(self, lineages: Lineages) -> None:
        ranks = lineages.taxonomy.ranks
        slots = np.where(ranks == NO_RANK, ROOT, ranks)  # what fills no slot is only sure to be below the root
        self._slots = np.append(slots, np.full(len(lineages.targets), SEQUENCE)).astype(np.int8)
        self.sequences = self.reads = 0
        self.at_rank = np.zeros(len(RANKS), np.int64)

    def add(self, part: ClassifiedReads) -> None:
        """Count the reads of a part."""
        taxon = part.calls.taxon
        self.at_rank += np.bincount(self._slots[taxon[taxon != NO_TAXON]], minlength=len(RANKS))
        self.reads += len(part)
        self.sequences += len(part) * (1 if part.reads.mate_letters is None else 2)

    @property
    def classified(self) -> int:
        """Reads or pairs that are called any taxon."""
        return int(self.at_rank.sum())

    def at_or_below(self, rank: str) -> int:
        """Reads or pairs that are called a taxon of a rank or a lower one, whether or not it has one of that rank."""
        return int(self.at_rank[: RANKS.index(rank) + 1].sum())


def summary_lines(tally: RankTally, comment: str) -> str:
    """Write how many reads were classified; shares are of reads, or of pairs."""
    lines = [f"queries: {tally.sequences}"]
    unclassified = tally.reads - tally.classified
    if tally.reads and not tally.classified:
        lines.append("None of the input sequences could be classified.")
    elif unclassified:
        lines.append(f"unclassified: {100 * unclassified / tally.reads:g}% ({unclassified})")
    if tally.classified:
        lines.append("classified:")
        for rank in MAIN_RANKS:
            if count := tally.at_or_below(rank):
                lines.append(f"  {rank:<11}{100 * count / tally.reads:g}% ({count})")
    return "".join([f"{comment}{line}\n" for line in lines])
