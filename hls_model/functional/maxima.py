"""Running maxima and their merge: equal omegas go to the smaller column, then to the smaller right-side iteration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Best", "Groups", "merge"]

Floats = NDArray[np.float32]
NOTHING = np.float32(np.nan)


@dataclass(frozen=True)
class Best:
    """The greatest omega and where it is; `omega` is NaN and the indices are -1 where there is none.

    Attributes
    ----------
    omega : numpy.float32
        The score.
    column, right : int
        Column (outer iteration) and right-side iteration.
    """

    omega: np.float32 = NOTHING
    column: int = -1
    right: int = -1

    @property
    def found(self) -> bool:
        """Whether there is a maximum; NaN is none."""
        return self.column >= 0

    @property
    def bits(self) -> int:
        """The omega's 32 bits; NaN as the hardware writes it."""
        return int(np.float32(self.omega).view(np.uint32)) if self.found else 0x7FC00000

    def better_than(self, other: Best) -> bool:
        """Whether the merge takes this one rather than the other."""
        if not (self.found and other.found) or self.omega != other.omega:
            return self.found and not other.omega >= self.omega
        return (self.column, self.right) < (other.column, other.right)


def merge(maxima: Iterable[Best]) -> Best:
    """Return the greatest of some maxima."""
    best = Best()
    for one in maxima:
        if one.better_than(best):
            best = one
    return best


class Groups:
    """Maxima of groups of right-side iterations, such as lanes, over columns that come in ascending order.

    Parameters
    ----------
    group : ndarray, int64 (right,)
        Group of each right-side iteration, 0 or more.
    """

    def __init__(self, group: NDArray[np.int64]) -> None:
        self.members = [np.flatnonzero(group == one) for one in range(int(group.max(initial=-1)) + 1)]
        self.best = [Best() for _ in self.members]
        self.order = np.concatenate([*self.members, np.empty(0, np.int64)])
        sizes = np.array([len(members) for members in self.members])
        self.starts = np.cumsum(sizes) - sizes
        self.empty = sizes == 0

    def update(self, omegas: Floats, first: int) -> None:
        """Take the omegas of the columns from `first` on, float32 (columns, right)."""
        top = np.maximum.reduce(omegas, axis=0)
        if np.isnan(top).any():
            top = np.fmax.reduce(omegas, axis=0)
        padded = np.append(np.where(np.isnan(top), -np.inf, top)[self.order], np.float32(-np.inf))
        greatest = np.maximum.reduceat(padded, self.starts)
        now = np.array([best.omega for best in self.best], np.float32)
        for index in np.flatnonzero(~(greatest <= now) & ~self.empty):
            found = self._locate(omegas, int(index), greatest[index], first)
            if found.better_than(self.best[index]):
                self.best[index] = found

    def _locate(self, omegas: Floats, index: int, omega: np.float32, first: int) -> Best:
        """Find the first omega of a group that is as great as the greatest."""
        members = self.members[index]
        same = omegas[:, members] == omega
        rows = same.any(axis=1)
        if not rows.any():
            return Best()  # only NaN
        row = int(np.argmax(rows))
        right = int(members[np.argmax(same[row])])
        return Best(omegas[row, right], first + row, right)
