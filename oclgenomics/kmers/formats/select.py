"""Selects k-mers by their counts."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from oclgenomics.errors import UsageError
from oclgenomics.kmers.kmer_set import KmerBlock, KmerSet, KmerTable
from oclgenomics.kmers.options import MAX_COUNTER

__all__ = ["SelectedKmers"]


@dataclass(frozen=True)
class SelectedKmers(KmerTable):
    """The k-mers of a set whose counts lie in a range. They are a set themselves.

    `distinct`, `total` and `largest` take one pass over the set, when one of them is first asked for.

    Attributes
    ----------
    kmers : KmerSet
    min_count, max_count : int
        Both are included.

    Raises
    ------
    UsageError
        The range has no count in it.
    """

    kmers: KmerSet
    min_count: int = 1
    max_count: int = MAX_COUNTER

    def __post_init__(self) -> None:
        if not 1 <= self.min_count <= self.max_count:
            raise UsageError(f"`min_count={self.min_count}` `max_count={self.max_count}`: take 1 <= min <= max")

    @property
    def k(self) -> int:
        return self.kmers.k

    @property
    def canonical(self) -> bool:
        return self.kmers.canonical

    @property
    def distinct(self) -> int:
        return self._survey[0]

    @property
    def total(self) -> int:
        return self._survey[1]

    @property
    def largest(self) -> int:
        """The largest count, 0 if there is no k-mer."""
        return self._survey[2]

    def blocks(self) -> Iterator[KmerBlock]:
        """All selected k-mers, at most `PIECE` in a block. No block is empty."""
        for block in self.kmers.blocks():
            for piece in block.pieces():
                kept = (piece.counts >= self.min_count) & (piece.counts <= self.max_count)
                if kept.all():
                    yield piece
                elif kept.any():
                    yield KmerBlock(piece.keys[:, kept], piece.counts[kept])

    @functools.cached_property
    def _survey(self) -> tuple[int, int, int]:
        distinct = total = largest = 0
        for block in self.blocks():
            distinct += len(block)
            total += int(block.counts.sum(dtype=np.uint64))
            largest = max(largest, int(block.counts.max()))
        return distinct, total, largest
