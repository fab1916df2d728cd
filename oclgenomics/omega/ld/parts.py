"""Parts of a region: the halves of a window, and what lies across; sums and means of their pairs, and omega of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from oclgenomics.omega.ld.pairs import LdBlock
from oclgenomics.omega.score import EPSILON

__all__ = ["LdPart", "omega_of_parts", "window_parts"]


@dataclass(frozen=True)
class LdPart:
    """A part of a region: the pairs of sites of a triangle or a rectangle of the map, and the sum of their values.

    Attributes
    ----------
    name : str
    rows, columns : tuple of int
        First and last site of the pairs' earlier and later sites; where both are the same, a pair counts once.
    total : float
        Sum over the blocks so far.
    undefined : int
        Pairs without a value, because a site does not vary among the haplotypes observed at both.
    """

    name: str
    rows: tuple[int, int]
    columns: tuple[int, int]
    total: float = 0.0
    undefined: int = 0

    def plus(self, block: LdBlock) -> LdPart:
        """Return the part with the values of some more rows."""
        row, stop_row = (max(site - block.row0, 0) for site in (self.rows[0], self.rows[1] + 1))
        column, stop_column = (max(site - block.row0, 0) for site in (self.columns[0], self.columns[1] + 1))
        values = block.values[row:stop_row, column:stop_column]
        more, missing = float(values.sum(dtype=np.float64)), 0
        if np.isnan(more):
            more, missing = float(np.nansum(values, dtype=np.float64)), int(np.isnan(values).sum())
        return replace(self, total=self.total + more, undefined=self.undefined + missing)

    @property
    def sites(self) -> int:
        """Sites that take part."""
        rows = self.rows[1] - self.rows[0] + 1
        return rows if self.rows == self.columns else rows + self.columns[1] - self.columns[0] + 1

    @property
    def pairs(self) -> int:
        """Pairs of sites."""
        rows = self.rows[1] - self.rows[0] + 1
        return rows * (rows - 1) // 2 if self.rows == self.columns else rows * (self.sites - rows)

    @property
    def defined(self) -> int:
        """Pairs of sites that have a value."""
        return self.pairs - self.undefined

    @property
    def mean(self) -> float:
        """Mean of the values; NaN where no pair has one."""
        return self.total / self.defined if self.defined else float("nan")


def window_parts(first: int, split: int, last: int) -> tuple[LdPart, LdPart, LdPart]:
    """Return the parts of a window: within [first, split], within [split + 1, last], and across."""
    left, right = (first, split), (split + 1, last)
    return LdPart("left", left, left), LdPart("right", right, right), LdPart("across", left, right)


def omega_of_parts(left: LdPart, right: LdPart, across: LdPart) -> float:
    """Return omega of a window whose parts hold sums of n r2; 0 without pairs on either side."""
    pairs = left.pairs + right.pairs
    return (left.total + right.total) / pairs / (across.mean + EPSILON) if pairs else 0.0
