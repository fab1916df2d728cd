"""Bins of k-mers that begin alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bins"]


@dataclass(frozen=True)
class Bins:
    """Bins of k-mers, in ascending order.

    Attributes
    ----------
    begins, sizes : ndarray, int64 (bins,)
        Where the k-mers of each lie, none has none.
    skips : ndarray, int64 (bins,)
        Leading bits that all k-mers of a bin have in common.
    heads : ndarray, int64 (bins,)
        Those of them that are not kept with each k-mer, as a number.
    """

    begins: NDArray[np.int64]
    sizes: NDArray[np.int64]
    skips: NDArray[np.int64]
    heads: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, chosen: slice | NDArray[np.bool_]) -> Bins:
        return Bins(*(column[chosen] for column in self.columns))

    @property
    def columns(self) -> tuple[NDArray[np.int64], ...]:
        """All attributes."""
        return self.begins, self.sizes, self.skips, self.heads

    def distinct_at_most(self, bits: int) -> NDArray[np.int64]:
        """How many k-mers of so many bits may differ in each bin, int64 (bins,)."""
        return np.where(self.skips < bits, self.sizes, 1)

    def divided(self, stops: NDArray[np.int64], skips: NDArray[np.int64]) -> Bins:
        """Cut each bin in pieces.

        Parameters
        ----------
        stops : int64 (bins, pieces)
            Where each piece ends.
        skips : int64 (bins,)
            Leading bits that the k-mers of a piece have in common.
        """
        begins = np.concatenate([self.begins[:, None], stops[:, :-1]], axis=1)
        pieces = stops.shape[1]
        sizes = (stops - begins).ravel()
        divided = Bins(begins.ravel(), sizes, np.repeat(skips, pieces), np.repeat(self.heads, pieces))
        return divided[sizes > 0]

    def joined(self, other: Bins) -> Bins:
        """The bins of both, in ascending order."""
        both = [np.concatenate(pair) for pair in zip(self.columns, other.columns, strict=True)]
        order = np.argsort(both[0], kind="stable")
        return Bins(*(column[order] for column in both))
