"""How much work alignments and classifications were, and what became of the reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from oclgenomics.sdtw.classified import Classified
from oclgenomics.sdtw.decisions.words import WORDS
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.result import Alignments
from oclgenomics.sdtw.squiggles.squiggle import Squiggle

__all__ = ["Totals"]


class Totals:
    """Counts of parts that are added one after the other.

    Attributes
    ----------
    reads : int
    samples : int
        That were aligned; a read's samples count once, however many of its prefixes were.
    cells : int
        Pairs of a row and a column that were compared.
    short : int
        Reads that are too short for the first prefix.
    decided : Counter of (int, str)
        Reads by the samples of the last stage that they came to, 0 for none, and their decision.
    """

    def __init__(self) -> None:
        self.reads = self.samples = self.cells = self.short = 0
        self.decided: Counter[tuple[int, str]] = Counter()

    def add(self, part: Alignments | Classified) -> None:
        """Count a part."""
        if isinstance(part, Classified):
            prefixes = part.thresholds.prefixes
            aligned = [int(np.count_nonzero(part.prefix >= prefix)) for prefix in prefixes]
            pairs = zip(part.prefix.tolist(), part.decision.tolist(), strict=True)
            self.decided.update((prefix, WORDS[decision]) for prefix, decision in pairs)
        else:
            prefixes = part.prefixes
            aligned = np.count_nonzero(~np.isnan(part.cost[:, :, 0]), axis=0).tolist()
        self._add(len(part), prefixes, aligned, part.references, part.options)

    def _add(
        self,
        reads: int,
        prefixes: Sequence[int],
        aligned: Sequence[int],
        references: Sequence[Squiggle],
        options: AlignOptions,
    ) -> None:
        """Count so many reads, of which `aligned` were aligned with each prefix."""
        columns = sum(len(reference) for reference in references)
        self.reads += reads
        self.short += reads - aligned[0]
        self.samples += int((np.diff([0, *prefixes]) * aligned).sum())
        rows = [options.rows(prefix) for prefix in prefixes]
        self.cells += columns * sum(row * count for row, count in zip(rows, aligned, strict=True))

    def count(self, word: str) -> int:
        """Return how many reads have a decision."""
        return sum(number for (_, decision), number in self.decided.items() if decision == word)
