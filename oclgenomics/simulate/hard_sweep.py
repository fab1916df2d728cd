"""The coalescent through a hard selective sweep: two backgrounds along the path of the beneficial allele.

While the allele is on its way to fixation, a lineage sits either on the beneficial or on the ancestral background of
the selected site. Pairs coalesce only within a background, at rate 1 / x and 1 / (1 - x) in units of 2N generations,
x the frequency of the allele; a recombination between a lineage's material and the selected site puts the far part
onto the beneficial background with probability x (Kaplan, Hudson and Langley 1989, Genetics 123:887). At the origin
of the allele every lineage still on its background descends from the one chromosome it arose on. Before the sweep's
origin and after its end the population is neutral.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.simulate.coalescent import Ancestry, Draws, Stretch, coalesce, split

__all__ = ["HardSweep", "Trajectory", "coalesce_with_sweep", "logistic_path", "wright_fisher_path"]


Trajectory = Literal["stochastic", "deterministic"]
TRAJECTORIES: tuple[Trajectory, ...] = get_args(Trajectory)


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
