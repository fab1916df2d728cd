"""What reports share: lines of reads, words for taxa and targets, by their numbers in `Lineages`, and columns."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.reports import Report
from oclgenomics.classify.options import NO_RANK, RANKS, SEQUENCE
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.calls import NO_TARGET, Candidates
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.sequence.joined_lines import Column, NumberColumn, TextTable, one_field

NO_TAXID = 0  # of what has no taxon
UNRANKED = "none"  # the rank of a taxon that fills no slot


class LineReport(Report[ClassifiedReads]):
    """A report with lines that depend on nothing but the reads of a part, which may bring them along.

    Attributes
    ----------
    form : str
        Tells these lines from those of other reports on the same query; "" where no part may bring them.
    """

    form = ""

    @abstractmethod
    def lines(self, part: ClassifiedReads) -> bytes | memoryview:
        """Make the lines of a part."""

    def brought(self, part: ClassifiedReads) -> memoryview | None:
        """Return the lines that a part brings along; None if they are to be made."""
        written = part.written
        return written.text.data if written is not None and written.form == self.form else None

    def body(self, part: ClassifiedReads) -> bytes | memoryview:
        """Write the reads of a part."""
        brought = self.brought(part)
        return self.lines(part) if brought is None else brought


class TaxonWords:
    """Names, ranks and identifiers of taxa and targets.

    Parameters
    ----------
    lineages : Lineages
    """

    def __init__(self, lineages: Lineages) -> None:
        self.lineages = lineages
        self.taxa = len(lineages.taxonomy)
        self.count = self.taxa + len(lineages.targets)

    def name(self, number: int) -> str:
        """The scientific name of a taxon, its identifier if it has no name, or the name of a target; one field."""
        if number >= self.taxa:
            return one_field(self.lineages.targets.names[number - self.taxa])
        name = one_field(self.lineages.taxonomy.names[number]).strip()
        return name or str(self.taxid(number))

    def slot(self, number: int) -> int:
        """The rank as a number in `RANKS`; `NO_RANK` where it fills no slot."""
        return SEQUENCE if number >= self.taxa else int(self.lineages.taxonomy.ranks[number])

    def rank(self, number: int) -> str:
        """The name of the rank."""
        slot = self.slot(number)
        return UNRANKED if slot == NO_RANK else RANKS[slot]

    def taxid(self, number: int) -> int:
        """The identifier of a taxon; that of its taxon for a target, `NO_TAXID` if it has none."""
        taxon = self.taxon(number)
        return NO_TAXID if taxon == NO_TAXON else int(self.lineages.taxonomy.taxids[taxon])

    def taxon(self, number: int) -> int:
        """The number of the taxon itself, or of that of a target; `NO_TAXON` if it has none."""
        return int(self.lineages.targets.taxon[number - self.taxa]) if number >= self.taxa else number

    def at_rank(self, number: int, slot: int) -> int:
        """The number of the ancestor, or of the taxon itself, at a rank; `NO_TAXON` where there is none."""
        return int(self.lineages.at_rank[number, slot])


def hit_columns(candidates: Candidates, first: TextTable, others: TextTable) -> list[Column]:
    """Return columns of all candidates: the texts of their targets, each followed by the hits if there is a target."""
    columns: list[Column] = []
    for place in range(candidates.targets.shape[1]):
        targets = candidates.targets[:, place]
        texts = (others if place else first).column(target_numbers(targets))
        columns += [texts, NumberColumn.of(candidates.hits[:, place], targets != NO_TARGET)]
    return columns


def target_numbers(targets: NDArray[np.uint32]) -> NDArray[np.int32]:
    """Return the numbers of targets as tables take them, `NO_TEXT` for `NO_TARGET`."""
    return np.ascontiguousarray(targets).view(np.int32)


def target_range(
    candidates: Candidates, place: int, stride: int, window: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return where the first window that was hit begins, and where the last one ends if it is whole.

    Parameters
    ----------
    candidates : Candidates
    place : int
        0 for the best ones.
    stride, window : int
        Bases of the database's windows.
    """
    first, last = (
        array[:, place].astype(np.uint64) * np.uint64(stride) for array in (candidates.first, candidates.last)
    )
    return first, last + np.uint64(window)
