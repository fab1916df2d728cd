"""Lines of JSON, one for each read or pair, with all of its candidates.

The keys are those of the table (`tsv`), with null where that has a dot, and `candidates`: a list, the best one first,
of `target`, `taxid`, `hits`, `begin` and `end`. Each line is made by the host, so this is the slow format.
"""

from __future__ import annotations

from json.encoder import encode_basestring_ascii
from typing import Any

from oclgenomics.classify.candidates import NO_TARGET
from oclgenomics.classify.formats.taxon_words import NO_TAXID, TaxonWords
from oclgenomics.classify.formats.tsv import range_in_target
from oclgenomics.classify.options import SketchOptions
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.io.text_rows import rows_of

__all__ = ["JsonReport"]

_LINE = (
    '{"read": %s, "length": %d, "mate_length": %s, "taxid": %d, "rank": %s, "name": %s, "needed": %d,'
    ' "candidates": [%s]}\n'
)


class JsonReport:
    """A line for each read or pair.

    Parameters
    ----------
    lineages : Lineages
    sketch : SketchOptions
        Those of the database.
    """

    def __init__(self, lineages: Lineages, sketch: SketchOptions) -> None:
        self._lineages, self._sketch, self._words = lineages, sketch, TaxonWords(lineages)
        self._calls: dict[int, tuple[int, str, str]] = {NO_TAXON: (NO_TAXID, "null", "null")}
        self._targets: dict[int, str] = {}

    def head(self) -> bytes:
        """There is none."""
        return b""

    def body(self, part: ClassifiedReads) -> bytes:
        """Write the reads of a part."""
        reads = part.reads
        calls = [self._call(number) for number in part.calls.taxon.tolist()]
        mates = ["null"] * len(part) if reads.mate_letters is None else reads.mate_letters.tolist()
        columns: list[list[Any]] = [
            list(map(encode_basestring_ascii, reads.names)),
            reads.letters.tolist(),
            mates,
            *([call[item] for call in calls] for item in range(3)),
            part.calls.hitmin.tolist(),
            self._candidates(part),
        ]
        return rows_of(columns, _LINE).encode()

    def _call(self, number: int) -> tuple[int, str, str]:
        if number not in self._calls:
            words = self._words
            shown = (words.rank(number), words.name(number))
            self._calls[number] = (words.taxid(number), *map(encode_basestring_ascii, shown))  # type: ignore[assignment]
        return self._calls[number]

    def _candidates(self, part: ClassifiedReads) -> list[str]:
        candidates = part.candidates
        lists: list[list[str]] = [[] for _ in range(len(part))]
        for place in range(candidates.targets.shape[1]):
            ranges = range_in_target(candidates, place, self._lineages, self._sketch)
            arrays = (candidates.targets[:, place], candidates.hits[:, place], *ranges)
            for listed, target, hits, begin, end in zip(lists, *(array.tolist() for array in arrays), strict=True):
                if target != NO_TARGET:
                    listed.append(f'{self._target(target)}, "hits": {hits}, "begin": {begin}, "end": {end}}}')
        return [", ".join(listed) for listed in lists]

    def _target(self, target: int) -> str:
        if target not in self._targets:
            number = self._words.taxa + target
            name = encode_basestring_ascii(self._words.name(number))
            self._targets[target] = f'{{"target": {name}, "taxid": {self._words.taxid(number)}'
        return self._targets[target]

    def tail(self) -> bytes:
        """There is none."""
        return b""
