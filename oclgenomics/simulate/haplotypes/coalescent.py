"""The coalescent with recombination of one population, neutral or swept, as branches that carry mutations.

The algorithm is Hudson's exact one (Hudson 1983, Theor. Popul. Biol. 23:183), not the sequential approximation SMC':
omega and every other LD statistic lives on correlations between distant sites, which the exact process gets right by
construction; a sweep needs many lineages moving between two backgrounds at once, which a process that runs back in time
expresses directly; and a region of rho = 1,000 takes half a second, so nothing would be gained by the approximation.

Positions run over [0, 1) of the region, time over units of 2N generations (N diploids), so that a pair of lineages
coalesces at rate 1 and a lineage that spans the region recombines at rate rho / 2.

A hard sweep has two backgrounds along the path of the beneficial allele. While the allele is on its way to fixation, a
lineage sits either on the beneficial or on the ancestral background of the selected site. Pairs coalesce only within a
background, at rate 1 / x and 1 / (1 - x) in units of 2N generations, x the frequency of the allele; a recombination
between a lineage's material and the selected site puts the far part onto the beneficial background with probability x
(Kaplan, Hudson and Langley 1989, Genetics 123:887). At the origin of the allele every lineage still on its background
descends from the one chromosome it arose on. Before the sweep's origin and after its end the population is neutral.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError

# left, right, time at which the ancestor of its descendants appeared, descendants as a bit mask (bit h: haplotype h)
Stretch = tuple[float, float, float, int]

_BLOCK = 4096


Trajectory = Literal["stochastic", "deterministic"]
TRAJECTORIES: tuple[Trajectory, ...] = get_args(Trajectory)


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


class Branch(NamedTuple):
    """A completed branch of the local trees: it spans `left` to `right` of the region and lasted `duration`."""

    left: float
    right: float
    duration: float
    descendants: int


class Ancestry:
    """The lineages alive at one time, each an ordered list of stretches of ancestral material, and the branches so far.

    A stretch whose descendants are the whole sample has found its most recent common ancestor and is dropped.
    """

    def __init__(self, samples: int) -> None:
        self.everyone = (1 << samples) - 1
        self.lineages: list[list[Stretch]] = [[(0.0, 1.0, 0.0, 1 << haplotype)] for haplotype in range(samples)]
        self.branches: list[Branch] = []
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
            self.branches.append(Branch(left, right, self.time - stretch[2], stretch[3]))
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


@dataclass(frozen=True)
class HardSweep:
    """A new beneficial mutation that went to fixation.

    Parameters
    ----------
    position : float
        Selected site in bp from the start of the region.
    selection : float
        s per copy and generation: fitness 1, 1 + s, 1 + 2s.
    fixation_age : float
        Generations between the fixation and the sample.
    trajectory : str
        "stochastic": a Wright-Fisher path given fixation, drawn anew for each replicate; "deterministic": the
        logistic path.

    Raises
    ------
    UsageError
        For a value outside its range.
    """

    position: float
    selection: float = 0.05
    fixation_age: float = 0.0
    trajectory: Trajectory = "stochastic"

    def __post_init__(self) -> None:
        if not 0 < self.selection <= 1:
            raise ParameterError("selection", f"must be above 0 and at most 1, not {self.selection:g}")
        if not 0 <= self.fixation_age < math.inf:
            raise ParameterError("fixation_age", f"must be 0 generations or more, not {self.fixation_age:g}")
        if self.trajectory not in TRAJECTORIES:
            raise ParameterError("trajectory", f"must be {' or '.join(TRAJECTORIES)}, not {self.trajectory!r}")


def logistic_path(population_size: float, selection: float) -> NDArray[np.float64]:
    """Deterministic path of the allele, generation by generation from 1 / 2N to 1 - 1 / 2N.

    Parameters
    ----------
    population_size : float
        N, diploid individuals.
    selection : float
        s, advantage of one copy of the allele: fitness 1, 1 + s, 1 + 2s, so that x grows by s x (1 - x) per generation.

    Returns
    -------
    float64 (generations,)
        Frequency in each generation; the path lasts 2 ln(2N - 1) / s generations.
    """
    odds = math.log(2 * population_size - 1)
    generations = math.ceil(2 * odds / selection)
    return np.asarray(1 / (1 + np.exp(-np.linspace(-odds, odds, generations + 1))))


def wright_fisher_path(population_size: float, selection: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Random path of the allele from a single copy to the generation before its fixation.

    Wright-Fisher sampling of 2N gametes, restarted whenever the allele is lost, which gives the law of a path given
    fixation.

    Parameters
    ----------
    population_size : float
        N, diploid individuals.
    selection : float
        s, advantage of one copy of the allele (as in `logistic_path`).
    rng : numpy.random.Generator

    Returns
    -------
    float64 (generations,)
        Frequency in each generation, starting at 1 / 2N.
    """
    size = round(2 * population_size)
    path = [1]
    while True:
        frequency = path[-1] / size
        copies = int(rng.binomial(size, frequency * (1 + selection) / (1 + selection * frequency)))
        if copies == size:
            return np.array(path, np.float64) / size
        if copies:
            path.append(copies)
        else:
            path = [1]


class _Backgrounds:
    """Lineages of an ancestry during a sweep, with the background each sits on (True: beneficial)."""

    def __init__(self, ancestry: Ancestry, site: float, draws: Draws) -> None:
        self.ancestry, self.site, self.draws = ancestry, site, draws
        self.beneficial = [True] * len(ancestry.lineages)

    def counts(self) -> tuple[int, int]:
        """Lineages on the beneficial and on the ancestral background."""
        beneficial = sum(self.beneficial)
        return beneficial, len(self.beneficial) - beneficial

    def merge_pair(self, background: bool) -> None:
        """Coalesce two random lineages of one background."""
        uniform = self.draws.uniform
        members = [index for index, where in enumerate(self.beneficial) if where is background]
        one = members.pop(int(uniform() * len(members)))
        two = members[int(uniform() * len(members))]
        # the later one first: taking a lineage moves the last one into its place
        first, second = self._take(max(one, two)), self._take(min(one, two))
        merged = self.ancestry.merge(first, second)
        if merged:
            self._put(merged, background)

    def recombine(self, frequency: float) -> None:
        """One proposed recombination: what it cuts off from the selected site picks a background anew."""
        uniform = self.draws.uniform
        index, cut = int(uniform() * len(self.beneficial)), uniform()
        stretches = self.ancestry.lineages[index]
        if not min(stretches[0][0], self.site) < cut < max(stretches[-1][1], self.site):
            return
        left, right = split(stretches, cut)
        linked, far = (right, left) if cut < self.site else (left, right)
        background = uniform() < frequency
        if linked:
            self.ancestry.lineages[index] = linked
            self._put(far, background)
        else:
            self.beneficial[index] = background

    def merge_beneficial(self) -> None:
        """All lineages on the beneficial background have one ancestor: the chromosome the allele arose on."""
        while sum(self.beneficial) > 1:
            self.merge_pair(True)

    def _take(self, index: int) -> list[Stretch]:
        last = self.beneficial.pop()
        if index < len(self.beneficial):
            self.beneficial[index] = last
        return self.ancestry.take(index)

    def _put(self, stretches: list[Stretch], background: bool) -> None:
        self.ancestry.lineages.append(stretches)
        self.beneficial.append(background)


def coalesce_with_sweep(
    ancestry: Ancestry,
    draws: Draws,
    rho: float,
    *,
    path: NDArray[np.float64],
    site: float,
    fixation: float,
    population_size: float,
) -> None:
    """Follow the lineages back through a sweep to their last common ancestor.

    Parameters
    ----------
    rho : float
        4 N r of the whole region.
    path : float64 (generations,)
        Frequencies of the allele, forward in time, all strictly between 0 and 1.
    site : float
        Selected site, as a fraction of the region.
    fixation : float
        Time since the fixation of the allele, in 2N generations.
    population_size : float
        N, diploid individuals.
    """
    coalesce(ancestry, draws, rho, until=fixation)
    if ancestry.lineages:
        _sweep(_Backgrounds(ancestry, site, draws), path[::-1], 1 / (2 * population_size), rho)
        coalesce(ancestry, draws, rho)


def _sweep(backgrounds: _Backgrounds, backward_path: NDArray[np.float64], generation: float, rho: float) -> None:
    """Events of the sweep phase; their rates are constant within a generation, `generation` units of time long."""
    ancestry, draws = backgrounds.ancestry, backgrounds.draws
    waiting = draws.exponential()
    start = ancestry.time
    beneficial, ancestral = backgrounds.counts()
    for age, frequency in enumerate(backward_path.tolist()):
        left = generation
        while True:
            within = beneficial * (beneficial - 1) / 2 / frequency
            without = ancestral * (ancestral - 1) / 2 / (1 - frequency)
            rate = within + without + (beneficial + ancestral) * rho / 2
            if waiting >= rate * left:
                waiting -= rate * left
                break
            left -= waiting / rate
            waiting = draws.exponential()
            ancestry.time = start + (age + 1) * generation - left
            event = draws.uniform() * rate
            if event < within:
                backgrounds.merge_pair(True)
            elif event < within + without:
                backgrounds.merge_pair(False)
            else:
                backgrounds.recombine(frequency)
            beneficial, ancestral = backgrounds.counts()
    ancestry.time = start + len(backward_path) * generation
    backgrounds.merge_beneficial()
