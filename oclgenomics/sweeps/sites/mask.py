"""What of a chromosome does not count: regions excluded, and bp that are not accessible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sweeps.arrays import Floats, Ints
from oclgenomics.sweeps.options import SweepOptions
from oclgenomics.variation.bed import BedRegions, disjoint


@dataclass(frozen=True, eq=False)
class Stretches:
    """Stretches of one chromosome, by bp.

    Attributes
    ----------
    starts, ends : ndarray of float64, shape (stretches,)
        Ascending and disjoint: bp from above `starts` to `ends`.
    """

    starts: Floats
    ends: Floats

    @classmethod
    def of(cls, starts: Ints, ends: Ints) -> Stretches:
        """Take disjoint regions of whole bp."""
        return cls(starts.astype(np.float64), ends.astype(np.float64))

    def __len__(self) -> int:
        return len(self.starts)

    def before(self, positions: Floats) -> Floats:
        """Return the bp of stretches up to and with each position."""
        lengths = np.concatenate([[0.0], np.cumsum(self.ends - self.starts)])
        place = np.searchsorted(self.starts, positions, side="left")  # stretches that start below
        beyond = np.concatenate([[-np.inf], self.ends])[place] - positions
        found: Floats = lengths[place] - np.maximum(beyond, 0.0)
        return found

    def outside(self, first: Floats, last: Floats) -> Floats:
        """Return the bp above each of `first` up to `last` that lie in none."""
        if not len(self):
            return last - first
        return last - first - (self.before(last) - self.before(first))


@dataclass(frozen=True, eq=False)
class Mask:
    """What of one chromosome is excluded or not accessible, by bp.

    Attributes
    ----------
    excluded : Stretches
    passed : Stretches
        Those excluded whose bp do not lie between sites at all.
    lost : Stretches
        Bp that do not count: those of `passed`, and those that are not accessible.
    least : float
        Share of the bp of a window that have to count.
    accessible : bool
        It is known which bp are accessible, so windows of sites need such a share, too.
    """

    excluded: Stretches
    passed: Stretches
    lost: Stretches
    least: float
    accessible: bool

    @classmethod
    def of(
        cls, exclude: BedRegions | None, name: str, options: SweepOptions, accessible: BedRegions | None = None
    ) -> Mask:
        """Take the regions of a chromosome: those excluded, and those accessible if these are known."""
        none = np.zeros(0, np.int64)
        found = (none, none) if exclude is None else (exclude.starts.get(name, none), exclude.ends.get(name, none))
        passed = (none, none) if options.on_exclude == "zero" else found
        lost = passed
        if accessible is not None:
            lost = disjoint(np.concatenate([np.stack(one, axis=1) for one in (passed, accessible.outside(name))]))
        known = accessible is not None
        return cls(Stretches.of(*found), Stretches.of(*passed), Stretches.of(*lost), options.min_accessible, known)

    def between(self, first: Floats, last: Floats) -> Floats:
        """Return the bp above each of `first` up to `last` that count."""
        return self.lost.outside(first, last)

    def distance(self, first: Floats, last: Floats) -> Floats:
        """Return the bp above each of `first` up to `last`, accessible or not, but for those excluded."""
        return self.passed.outside(first, last)

    def touched(self, first: Floats, last: Floats) -> NDArray[np.bool_]:
        """Say whether an excluded region has any bp from each of `first` to `last`, both included."""
        started = np.searchsorted(self.excluded.starts + 1.0, last, side="right")
        ended = np.searchsorted(self.excluded.ends, first, side="left")
        found: NDArray[np.bool_] = started > ended
        return found

    def enough(self, length: Floats, whole: Floats) -> NDArray[np.bool_]:
        """Say of which windows of `whole` bp the bp that count, `length`, are enough."""
        found: NDArray[np.bool_] = (length > 0) & (length >= self.least * whole)
        return found
