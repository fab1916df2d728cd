"""Lines as Kraken 2 writes them: C or U, the read, its taxon, its letters, and what was found.

The fifth column, a list of `taxid:count`, is what differs. Kraken counts k-mers there; here each entry is a candidate,
the best one first, and the count is its hits: features of the read that were found close to each other in that taxon.
A feature may count for several candidates, and those that were found nowhere are not listed; `0:0` stands for no
candidate. Hits of both mates count together, and stand before `|:|`; behind it there is always `0:0`.

A target has no taxid of its own, so a read called one gets that of its taxon; where it has none, that of the root.
"""

from __future__ import annotations

import numpy as np

from oclgenomics.classify.candidates import NO_TARGET
from oclgenomics.classify.formats.candidate_numbers import target_numbers, where_known
from oclgenomics.classify.formats.lines import Column, LineJoiner, NameColumn, NumberColumn, TextColumn, clean_names
from oclgenomics.classify.formats.taxon_words import NO_TAXID, TaxonWords
from oclgenomics.classify.formats.text_table import NO_TEXT, TextTable
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import ROOT_TAXID

__all__ = ["KrakenReport"]


class KrakenReport:
    """A line for each read or pair.

    Parameters
    ----------
    lineages : Lineages
    lowest : str
        The lowest rank at which reads are classified.
    joiner : LineJoiner
    """

    def __init__(self, lineages: Lineages, lowest: str, joiner: LineJoiner) -> None:
        self._words, self._joiner = TaxonWords(lineages), joiner
        self._groups = lineages.groups(lowest)
        targets = len(lineages.targets)
        self._status = TextTable(self._words.count, lambda number: "C\t" if self._taxid(number) else "U\t")
        self._calls = TextTable(self._words.count, lambda number: f"\t{self._taxid(number)}\t")
        self._mate = TextTable(0, lambda _: "|")
        self._first = TextTable(targets, lambda target: "\t0:0" if target == NO_TEXT else f"\t{self._found(target)}:")
        self._others = TextTable(targets, lambda target: "" if target == NO_TEXT else f" {self._found(target)}:")
        self._end = TextTable(1, lambda pair: "\n" if pair == NO_TEXT else " |:| 0:0\n")

    def _taxid(self, number: int) -> int:
        return NO_TAXID if number == NO_TEXT else self._words.taxid(number) or ROOT_TAXID

    def _found(self, target: int) -> int:
        return self._words.taxid(int(self._groups[target]))

    def head(self) -> bytes:
        """There is none."""
        return b""

    def body(self, part: ClassifiedReads) -> memoryview:
        """Write the reads of a part."""
        reads, calls, candidates = part.reads, part.calls.taxon, part.candidates
        columns: list[Column] = [
            TextColumn(self._status, self._status.places(calls)),
            NameColumn(clean_names(reads.names)),
            TextColumn(self._calls, self._calls.places(calls)),
            NumberColumn(reads.letters.astype(np.uint64)),
        ]
        nowhere = np.full(len(part), NO_TEXT)
        if reads.mate_letters is not None:
            columns += [
                TextColumn(self._mate, self._mate.places(nowhere)),
                NumberColumn(reads.mate_letters.astype(np.uint64)),
            ]
        for place in range(candidates.targets.shape[1]):
            table, targets = self._others if place else self._first, candidates.targets[:, place]
            columns += [
                TextColumn(table, table.places(target_numbers(targets))),
                NumberColumn(where_known(candidates.hits[:, place], targets != NO_TARGET)),
            ]
        ends = nowhere if reads.mate_letters is None else np.zeros_like(nowhere)
        columns.append(TextColumn(self._end, self._end.places(ends)))
        return self._joiner.join(len(part), columns)

    def tail(self) -> bytes:
        """There is none."""
        return b""
