"""Counts of some k-mers of a database: only the sections that may hold them are read."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.arithmetic import sortable
from oclgenomics.kmers.database.section_file import SectionFile
from oclgenomics.kmers.keys import key_words

__all__ = ["Lookup"]


class Lookup:
    """Finds keys by the first keys of all sections, which are in memory."""

    def __init__(self, file: SectionFile) -> None:
        self._file, self._k = file, file.index.head.options.k
        self._firsts = sortable(np.ascontiguousarray(file.index.table["first"].T.astype(np.uint64)))

    def sections_of(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the section that would hold each key, int64 (n,); -1 for keys less than all.

        Raises
        ------
        ValueError
            Keys of another number of words.
        """
        words = key_words(self._k)
        if keys.dtype != np.uint64 or len(keys) != words:
            raise ValueError(f"keys {keys.dtype} {keys.shape}: keys of {self._k} letters have {words} words")
        return np.searchsorted(self._firsts, sortable(keys), side="right") - 1

    def counts(self, keys: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """Return the count of each key, uint32 (n,); see `KmerDatabase.lookup`."""
        counts = np.zeros(keys.shape[1], np.uint32)
        sections = self.sections_of(keys)
        order = np.argsort(sections, kind="stable")
        present, starts = np.unique(sections[order], return_index=True)
        wanted = sortable(keys)
        for number, (begin, end) in zip(present.tolist(), pairwise([*starts, len(order)]), strict=True):
            if number >= 0:
                queries = order[begin:end]
                block = self._file.section(number)
                held, sought = sortable(block.keys), wanted[queries]
                places = np.minimum(np.searchsorted(held, sought), len(held) - 1)
                counts[queries] = np.where(held[places] == sought, block.counts[places], 0)
        return counts
