"""Reads as they stand in the input, those that were classified or those that were not."""

from __future__ import annotations

from typing import Literal

import numpy as np

from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.sequence.name_list import NameList
from oclgenomics.sequence.record_texts import whole_lines

__all__ = ["Mates", "ReadTexts"]

Mates = Literal["both", "first", "second"]


class ReadTexts:
    """The records of reads, unchanged. Of a query whose parts have texts; see `Wanted`.

    Parameters
    ----------
    classified : bool
        Classified reads; else the others.
    mates : {'both', 'first', 'second'}
        Of pairs both mates in turn, or one of them. Single reads are first ones.
    """

    def __init__(self, *, classified: bool, mates: Mates) -> None:
        self._classified, self._mates = classified, mates

    def head(self) -> bytes:
        """Write nothing."""
        return b""

    def body(self, part: ClassifiedReads) -> bytes | memoryview:
        """Write the records of a part."""
        wanted = np.flatnonzero((part.calls.taxon != NO_TAXON) == self._classified)
        texts = part.texts
        if self._mates != "both":
            texts = texts[:1] if self._mates == "first" else texts[1:2]
        if not texts or not len(wanted):
            return b""
        if len(texts) == 1:
            return whole_lines(texts[0].take(wanted))
        both = NameList.joined(texts)
        return whole_lines(both.take(np.stack([wanted, wanted + len(part)], axis=1).ravel()))

    def tail(self) -> bytes:
        """Write nothing."""
        return b""
