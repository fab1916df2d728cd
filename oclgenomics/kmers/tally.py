"""How many k-mers there are of each count."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.database.layout import HISTOGRAM

__all__ = ["Tally"]

FEW = 1 << 12  # counts below are tallied by NumPy


class Tally:
    """A histogram that grows, exact for counts of any size."""

    def __init__(self, counts: NDArray[np.uint32] | None = None) -> None:
        self._few = np.zeros(FEW + 1, np.int64)
        self._many: Counter[int] = Counter()
        if counts is not None:
            self._few += np.bincount(np.minimum(counts, FEW), minlength=FEW + 1)
            if self._few[FEW]:
                values, kmers = np.unique(counts[counts >= FEW], return_counts=True)
                self._many.update(dict(zip(values.tolist(), kmers.tolist(), strict=True)))

    @classmethod
    def of(cls, few: NDArray[np.integer], many: NDArray[np.uint32]) -> Tally:
        """Make one of what was tallied elsewhere.

        Parameters
        ----------
        few : int (n,)
            How many counts there are of 0, 1, ..., n - 1; at most `FEW` of them.
        many : uint32 (m,)
            All counts from n on, in any order.
        """
        tally = cls(many)
        tally._few[: len(few)] += few
        return tally

    def add(self, other: Tally) -> None:
        """Take in what another one holds."""
        self._few += other._few
        self._many.update(other._many)

    @property
    def distinct(self) -> int:
        """How many counts there are."""
        return int(self.histogram()["kmers"].sum())

    @property
    def total(self) -> int:
        """Their sum."""
        table = self.histogram()
        return int((table["count"] * table["kmers"]).sum())

    def histogram(self) -> NDArray[np.void]:
        """The counts that there are, ascending, and the k-mers of each: `HISTOGRAM` (n,)."""
        few = np.flatnonzero(self._few[:FEW])
        many = sorted(self._many)
        histogram = np.empty(len(few) + len(many), HISTOGRAM)
        histogram["count"] = [*few.tolist(), *many]
        histogram["kmers"] = [*self._few[few].tolist(), *(self._many[count] for count in many)]
        return histogram
