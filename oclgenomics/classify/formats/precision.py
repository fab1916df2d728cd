"""How many calls are right, by ranks, in MetaCache's words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.calling.abundances import percent_text
from oclgenomics.classify.formats.summary import MAIN_RANKS
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.ranks import RANKS
from oclgenomics.classify.taxonomy.tree import NO_TAXON

__all__ = ["PrecisionTally", "precision_text"]


class PrecisionTally:
    """Counts calls that are right, part by part, as MetaCache counts them.

    A call is right at a rank if it and the true taxon have a taxon of that rank, or of a lower one, in common. A read
    whose true taxon is of a higher rank than its call can be right at that rank and above.

    Parameters
    ----------
    lineages : Lineages

    Attributes
    ----------
    reads : int
        Those without a known taxon as well.
    called : ndarray, int64 (ranks,)
        Reads that are called a taxon of each rank.
    known : ndarray, int64 (ranks,)
        Reads whose true taxon is known and is of each rank.
    called_known : ndarray, int64 (ranks,)
        Those of them that are called a taxon of each rank.
    right : ndarray, int64 (ranks,)
        Those for which each rank is the lowest one at which both lineages agree.
    """

    def __init__(self, lineages: Lineages) -> None:
        self._at_rank = lineages.at_rank
        filled = lineages.at_rank != NO_TAXON
        self._slots = np.where(filled.any(axis=1), filled.argmax(axis=1), RANKS.index("root"))
        self.reads = 0
        self.called, self.known, self.called_known, self.right = (np.zeros(len(RANKS), np.int64) for _ in range(4))

    def add(self, part: ClassifiedReads, truth: NDArray[np.int32]) -> None:
        """Count the reads of a part.

        Parameters
        ----------
        part : ClassifiedReads
        truth : ndarray, int32 (reads,)
            The true taxon of each read, a number in `Lineages`; `NO_TAXON` if it is not known.
        """
        calls = part.calls.taxon
        called, known = calls != NO_TAXON, truth != NO_TAXON
        both = called & known
        self.reads += len(part)
        self.called += self._counted(calls[called])
        self.known += self._counted(truth[known])
        self.called_known += self._counted(calls[both])
        ours, true = self._at_rank[calls[both]], self._at_rank[truth[both]]
        same = (ours == true) & (ours != NO_TAXON)
        agreed = same.argmax(axis=1)[same.any(axis=1)]
        self.right += np.bincount(agreed, minlength=len(RANKS))

    def _counted(self, numbers: NDArray[np.int32]) -> NDArray[np.int64]:
        return np.bincount(self._slots[numbers], minlength=len(RANKS))


def precision_text(tally: PrecisionTally, comment: str = "# ") -> str:
    """Say how many reads are right at each rank or below; ranks start with the lowest one of any call.

    Precision is the share of those that are called anything there and whose true taxon is known; sensitivity is the
    share of all reads whose true taxon is known there. If none is known, that is all that is said, where MetaCache says
    nothing.

    Parameters
    ----------
    tally : PrecisionTally
    comment : str
        Starts each line.
    """
    called, known, called_known, right = (
        np.cumsum(counts) for counts in (tally.called, tally.known, tally.called_known, tally.right)
    )
    if not known[-1]:
        return f"{comment}ground truth unknown: 100% ({tally.reads})\n" if tally.reads else ""
    ranks = [(rank, RANKS.index(rank)) for rank in MAIN_RANKS if called[RANKS.index(rank)]]
    lines = []
    if unknown := tally.reads - int(known[-1]):
        lines.append(f"ground truth unknown: {percent_text(unknown / tally.reads)}% ({unknown})")
    lines.append("ground truth known:")
    lines += [f"  {rank:<11}{_percent(known[at], tally.reads)} ({known[at]})" for rank, at in ranks]
    lines.append("correctly classified:")
    lines += [f"  {rank:<11}{right[at]}" for rank, at in ranks]
    lines.append("precision (correctly classified / classified) if ground truth known:")
    lines += [f"  {rank:<11}{_percent(right[at], called_known[at])}" for rank, at in ranks]
    lines.append("sensitivity (correctly classified / all) if ground truth known:")
    lines += [f"  {rank:<11}{_percent(right[at], known[at])}" for rank, at in ranks]
    return "".join([f"{comment}{line}\n" for line in lines])


def _percent(part: np.int64, whole: np.int64 | int) -> str:
    return f"{percent_text(int(part) / max(int(whole), 1))}%"
