"""Columns of candidates, in MetaCache's words."""

from __future__ import annotations

import numpy as np

from oclgenomics.classify.candidates import NO_TARGET, Candidates
from oclgenomics.classify.formats.candidate_numbers import target_numbers, target_range, where_known
from oclgenomics.classify.formats.lines import Column, NumberColumn, TextColumn
from oclgenomics.classify.formats.taxon_words import TaxonWords
from oclgenomics.classify.formats.text_table import NO_TEXT, TextTable
from oclgenomics.classify.options import SketchOptions

__all__ = ["CandidateColumns"]


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
        self._groups = words.lineages.groups(lowest)
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
        number = int(self._groups[target])
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
        columns: list[Column] = []
        for place in range(candidates.targets.shape[1]):
            known = candidates.targets[:, place] != NO_TARGET
            numbers = np.where(known, 0, NO_TEXT)
            first, last = target_range(candidates, place, self._sketch.winstride, self._sketch.winlen)
            begin = self._next if place else self._begin
            columns += [
                TextColumn(begin, begin.places(numbers)),
                NumberColumn(where_known(first, known)),
                TextColumn(self._comma, self._comma.places(numbers)),
                NumberColumn(where_known(last, known)),
                TextColumn(self._end, self._end.places(numbers)),
            ]
        return columns
