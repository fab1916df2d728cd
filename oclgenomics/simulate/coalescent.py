"""The coalescent with recombination of one neutral population, as branches that carry mutations.

The algorithm is Hudson's exact one (Hudson 1983, Theor. Popul. Biol. 23:183), not the sequential approximation SMC':
omega and every other LD statistic lives on correlations between distant sites, which the exact process gets right by
construction; a sweep (`hard_sweep`) needs many lineages moving between two backgrounds at once, which a process that
runs back in time expresses directly; and a region of rho = 1,000 takes half a second, so nothing would be gained by
the approximation.

Positions run over [0, 1) of the region, time over units of 2N generations (N diploids), so that a pair of lineages
coalesces at rate 1 and a lineage that spans the region recombines at rate rho / 2.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ancestry", "Branches", "Draws", "Stretch", "coalesce", "split"]

# left, right, time at which the ancestor of its descendants appeared, descendants as a bit mask (bit h: haplotype h)
Stretch = tuple[float, float, float, int]

_BLOCK = 4096


class Draws:
    """Single uniform and exponential draws, taken from a NumPy generator in blocks: one call each is slow."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.uniform = _block_reader(rng.random)
        self.exponential = _block_reader(rng.standard_exponential)


def _block_reader(draw: Callable[[int], NDArray[np.float64]]) -> Callable[[], float]:
    def values() -> Iterator[float]:
        for size in repeat(_BLOCK):
            yield from draw(size).tolist()

    return values().__next__


@dataclass
class Branches:
    """Completed branches of the local trees: each spans `left` to `right` of the region and lasted `duration`."""

    left: list[float] = field(default_factory=list)
    right: list[float] = field(default_factory=list)
    duration: list[float] = field(default_factory=list)
    descendants: list[int] = field(default_factory=list)

    def add(self, left: float, right: float, duration: float, descendants: int) -> None:
        self.left.append(left)
        self.right.append(right)
        self.duration.append(duration)
        self.descendants.append(descendants)


class Ancestry:
    """The lineages alive at one time, each an ordered list of stretches of ancestral material, and the branches so far.

    A stretch whose descendants are the whole sample has found its most recent common ancestor and is dropped.
    """

    def __init__(self, samples: int) -> None:
        self.everyone = (1 << samples) - 1
        self.lineages: list[list[Stretch]] = [[(0.0, 1.0, 0.0, 1 << haplotype)] for haplotype in range(samples)]
        self.branches = Branches()
        self.time = 0.0

    def take(self, index: int) -> list[Stretch]:
        """Remove a lineage; the last one moves into its place."""
        lineages = self.lineages
        last = lineages.pop()
        if index == len(lineages):
            return last
        taken, lineages[index] = lineages[index], last
        return taken

    def merge(self, first: list[Stretch], second: list[Stretch]) -> list[Stretch]:
        """The common ancestor of two lineages at the current time; empty when nothing of it is left to follow."""
        merged: list[Stretch] = []
        one, two = _Cursor(first), _Cursor(second)
        while (stretch := one.stretch) is not None and (other := two.stretch) is not None:
            if stretch[0] > other[0]:
                one, two, stretch, other = two, one, other, stretch
            left, right, birth, mask = stretch
            start = other[0]
            if right <= start:
                _append(merged, stretch)
                merged += one.skip_to(start)
            elif left < start:
                _append(merged, (left, start, birth, mask))
                one.cut(start)
            else:
                end = min(right, other[1])
                self._join(merged, left, end, stretch, other)
                one.cut(end)
                two.cut(end)
        for rest in (one, two):
            if rest.stretch is not None:
                _append(merged, rest.stretch)
                merged += rest.skip_to(1.0)
        return merged

    def _join(self, merged: list[Stretch], left: float, right: float, one: Stretch, two: Stretch) -> None:
        for stretch in (one, two):
            self.branches.add(left, right, self.time - stretch[2], stretch[3])
        union = one[3] | two[3]
        if union != self.everyone:
            _append(merged, (left, right, self.time, union))


class _Cursor:
    """A place in the stretches of one lineage; `stretch` is what remains of the current one, None at the end."""

    __slots__ = ("index", "stretch", "stretches")

    def __init__(self, stretches: list[Stretch]) -> None:
        self.stretches, self.index = stretches, 0
        self.stretch: Stretch | None = stretches[0]

    def cut(self, at: float) -> None:
        """Drop what lies left of `at`, a point within the current stretch or at its end."""
        _, right, birth, mask = self.stretch  # type: ignore[misc]
        if at < right:
            self.stretch = (at, right, birth, mask)
        else:
            self._move(self.index + 1)

    def skip_to(self, start: float) -> list[Stretch]:
        """Leave the current stretch and pass over all that end before `start`; returns those passed over."""
        begin = self.index + 1
        end = bisect_left(self.stretches, (start,), begin)
        if end > begin and self.stretches[end - 1][1] > start:
            end -= 1
        self._move(end)
        return self.stretches[begin:end]

    def _move(self, index: int) -> None:
        self.index = index
        self.stretch = self.stretches[index] if index < len(self.stretches) else None


def _append(stretches: list[Stretch], stretch: Stretch) -> None:
    """Append, or lengthen the last stretch when the new one only continues it (this keeps lineages short)."""
    if stretches:
        left, right, birth, mask = stretches[-1]
        if right == stretch[0] and birth == stretch[2] and mask == stretch[3]:
            stretches[-1] = (left, stretch[1], birth, mask)
            return
    stretches.append(stretch)


def split(stretches: list[Stretch], at: float) -> tuple[list[Stretch], list[Stretch]]:
    """Material left and right of a cut."""
    index = bisect_left(stretches, (at,))
    near, far = stretches[:index], stretches[index:]
    if near and near[-1][1] > at:
        left, right, birth, mask = near[-1]
        near[-1] = (left, at, birth, mask)
        far.insert(0, (at, right, birth, mask))
    return near, far


def coalesce(ancestry: Ancestry, draws: Draws, rho: float, until: float = math.inf) -> None:
    """Follow the lineages back in time, neutrally, to the last common ancestor or to `until`.

    Recombination is thinned: every lineage proposes breakpoints over the whole region, and those outside its own span
    change nothing.

    Parameters
    ----------
    rho : float
        4 N r of the whole region, r its recombination probability per generation.
    until : float
        Time at which to stop, in 2N generations.
    """
    lineages, uniform, exponential = ancestry.lineages, draws.uniform, draws.exponential
    per_lineage = rho / 2
    time = ancestry.time
    while count := len(lineages):
        pairs = count * (count - 1) / 2
        rate = pairs + count * per_lineage
        time += exponential() / rate
        if time >= until:
            ancestry.time = until
            return
        event = uniform() * rate
        if event < pairs:
            ancestry.time = time
            first = ancestry.take(int(uniform() * count))
            merged = ancestry.merge(first, ancestry.take(int(uniform() * (count - 1))))
            if merged:
                lineages.append(merged)
            continue
        place = (event - pairs) / per_lineage  # one number for the lineage and the place on it; most proposals are void
        index = int(place)
        stretches = lineages[index % count]
        if stretches[0][0] < place - index < stretches[-1][1]:
            lineages[index], right = split(stretches, place - index)
            lineages.append(right)
