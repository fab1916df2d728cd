"""A picture of linkage disequilibrium: means of the pairs that share a pixel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.omega.ld.pairs import LdBlock

__all__ = ["MAX_PIXELS", "BinnedLd"]

MAX_PIXELS = 1_200  # sites along the side of a picture that are shown one by one


class BinnedLd:
    """A picture of at most `most` x `most` pixels: the mean of the pairs that share one.

    Parameters
    ----------
    sites : int
    most : int
        Pixels along either side.

    Attributes
    ----------
    starts : ndarray, int64 (bins + 1,)
        First site of each bin, and the number of sites.
    """

    def __init__(self, sites: int, most: int) -> None:
        self.bins = min(sites, most)
        self.starts = np.arange(self.bins + 1) * sites // self.bins
        self._sums = np.zeros((self.bins, self.bins))
        self._undefined = np.zeros((self.bins, self.bins), np.int64)

    def add(self, block: LdBlock) -> None:
        """Take in some rows."""
        first = int(np.searchsorted(self.starts, block.row0, "right")) - 1
        last = int(np.searchsorted(self.starts, block.row0 + len(block.values) - 1, "right"))
        at = np.maximum(self.starts[first:-1] - block.row0, 0)
        rows = at[: last - first]
        columns = np.add.reduceat(block.values, at, axis=1, dtype=np.float64)
        if np.isnan(columns).any():
            missing = np.isnan(block.values)
            counts = np.add.reduceat(missing, at, axis=1, dtype=np.int64)
            self._undefined[first:last, first:] += np.add.reduceat(counts, rows, axis=0)
            columns = np.add.reduceat(np.where(missing, np.float32(0), block.values), at, axis=1, dtype=np.float64)
        self._sums[first:last, first:] += np.add.reduceat(columns, rows, axis=0)

    def means(self) -> NDArray[np.float64]:
        """Mean of the values in each pixel, float64 (bins, bins); NaN below the diagonal and where no pair has one."""
        size = np.diff(self.starts).astype(np.float64)
        pairs = np.triu(size[:, None] * size, 1) + np.diag(size * (size - 1) / 2) - self._undefined
        return np.divide(self._sums, pairs, out=np.full_like(self._sums, np.nan), where=pairs > 0)
