"""Columns of candidates, in MetaCache's words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.candidates import NO_TARGET, Candidates
from oclgenomics.classify.lines import NO_NUMBER, Column, NumberColumn, TextColumn
from oclgenomics.classify.options import SketchOptions
from oclgenomics.classify.reports.taxon_words import TaxonWords
from oclgenomics.classify.taxonomy.ranks import RANKS, SEQUENCE
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.classify.text_table import NO_TEXT, TextTable

__all__ = ["CandidateColumns", "target_numbers", "where_known"]


def target_numbers(targets: NDArray[np.uint32]) -> NDArray[np.int32]:
    """Return the numbers of targets, `NO_TEXT` for `NO_TARGET`."""
    return targets.view(np.int32) if targets.flags.c_contiguous else targets.copy().view(np.int32)


def where_known(values: NDArray[np.uint32], known: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return numbers for a column, `NO_NUMBER` where they mean nothing."""
    return np.where(known, values.astype(np.uint64), np.uint64(NO_NUMBER))


class CandidateColumns:
    """The columns `top_hits` and `candidate_locations`, each with the separator before it.

    Parameters
    ----------
    words : TaxonWords
    sketch : SketchOptions
        Of the database: where its windows are.
    lowest : str
        Candidates are shown as the taxon that they stand for: targets by their names, others by their identifiers.
    separator : str
    """

    def __init__(self, words: TaxonWords, sketch: SketchOptions, lowest: str, separator: str) -> None:
        self._words, self._sketch = words, sketch
        self._lowest = RANKS.index(lowest)
        targets = len(words.lineages.targets)
        self._first = TextTable(targets, lambda target: separator + self._label(target, ""))
        self._others = TextTable(targets, lambda target: self._label(target, ","))
        self._begin = TextTable(1, lambda there: separator if there == NO_TEXT else f"{separator}[")
        self._next, self._comma, self._end = (
            TextTable(1, lambda there, text=text: "" if there == NO_TEXT else text)  # type: ignore[misc]
            for text in ("[", ",", "] ")
        )

    def _label(self, target: int, before: str) -> str:
        if target == NO_TEXT:
            return ""
        number = self._words.taxa + target
        if self._lowest != SEQUENCE:
            at_rank = self._words.lineages.at_rank[number, self._lowest :]
            number = int(at_rank[np.argmax(at_rank != NO_TAXON)])
        sequence = number >= self._words.taxa
        return f"{before}{self._words.name(number) if sequence else self._words.taxid(number)}:"

    def hits(self, candidates: Candidates) -> list[Column]:
        """Candidates and their hits."""
        columns: list[Column] = []
        for place in range(candidates.targets.shape[1]):
            table = self._others if place else self._first
            targets = candidates.targets[:, place]
            columns += [
                TextColumn(table, table.places(target_numbers(targets))),
                NumberColumn(where_known(candidates.hits[:, place], targets != NO_TARGET)),
            ]
        return columns

    def locations(self, candidates: Candidates) -> list[Column]:
        """The letters of the candidates' targets in which they were hit."""
        stride = self._sketch.winstride
        columns: list[Column] = []
        for place in range(candidates.targets.shape[1]):
            known = candidates.targets[:, place] != NO_TARGET
            numbers = np.where(known, 0, NO_TEXT)
            first = candidates.first[:, place].astype(np.uint64) * np.uint64(stride)
            last = candidates.last[:, place].astype(np.uint64) * np.uint64(stride) + np.uint64(self._sketch.winlen)
            begin = self._next if place else self._begin
            columns += [
                TextColumn(begin, begin.places(numbers)),
                NumberColumn(where_known(first, known)),
                TextColumn(self._comma, self._comma.places(numbers)),
                NumberColumn(where_known(last, known)),
                TextColumn(self._end, self._end.places(numbers)),
            ]
        return columns
