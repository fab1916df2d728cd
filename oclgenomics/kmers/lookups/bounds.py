"""Which k-mers of a set are looked for: those with counts within bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.kmers.database.reader import KmerDatabase
from oclgenomics.kmers.kmer_set import KmerSet
from oclgenomics.kmers.options import MAX_COUNTER

__all__ = ["ALL_COUNTS", "CountBounds"]


@dataclass(frozen=True)
class CountBounds:
    """Counts from `least` to `most`.

    Raises
    ------
    UsageError
        A value is outside its range.
    """

    least: int = 1
    most: int = MAX_COUNTER

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most:
            raise UsageError(f"`min_count={self.least}` `max_count={self.most}`: take 1 <= min <= max")
        if self.least > MAX_COUNTER:
            raise ParameterError("min_count", f"counters hold at most {MAX_COUNTER:,}", self.least)

    @property
    def highest(self) -> int:
        """The largest count within the bounds that there can be."""
        return min(self.most, MAX_COUNTER)

    def within(self, kmers: KmerSet) -> int:
        """Return how many k-mers of a set are within the bounds, or, where only reading all would tell, at most."""
        if not isinstance(kmers, KmerDatabase):
            return kmers.distinct
        counts, distinct = kmers.histogram
        chosen = (counts >= self.least) & (counts <= self.most)
        return int(distinct[chosen].sum(dtype=np.uint64))


ALL_COUNTS = CountBounds()
