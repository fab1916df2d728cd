"""Seeds of replicates, and neutral ones as alignments, straight from the simulators, without a file in between.

Each replicate has a stream of its own: replicate 3 is the same data whether 3 or 300 are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.simulate.haplotypes.msprime import Demography, simulate_with_msprime
from oclgenomics.simulate.haplotypes.population import Haplotypes, Region, simulate
from oclgenomics.simulate.haplotypes.workers import drawn_side_by_side
from oclgenomics.simulate.limits import MAX_REPLICATES, check_range, check_seed
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.bed import base_pairs
from oclgenomics.variation.packing import join_sites, pack_states, words_for
from oclgenomics.variation.writers import distinct_ticks, site_blocks

Simulator = Literal["own", "msprime"]


def replicate_seeds(seed: int, replicates: int) -> list[np.random.SeedSequence]:
    """Independent seeds, one per replicate; the first ones do not depend on how many are asked for.

    Raises
    ------
    UsageError
        If the seed is negative or no replicate is asked for.
    """
    check_seed(seed)
    check_range("replicates", replicates, 1, MAX_REPLICATES)
    return np.random.SeedSequence(seed).spawn(replicates)


def generators(seed: np.random.SeedSequence) -> tuple[np.random.Generator, np.random.Generator]:
    """Two generators of one replicate: for its history, and for what is done to the data later (missing calls...)."""
    history, data = seed.spawn(2)
    return np.random.Generator(np.random.PCG64(history)), np.random.Generator(np.random.PCG64(data))


@dataclass(frozen=True)
class _Replicate:
    """What a process needs to simulate one replicate."""

    region: Region
    engine: Simulator
    growth_rate: float
    demography: Demography | None
    number: int
    seed: np.random.SeedSequence

    def draw(self) -> Alignment:
        history, _ = generators(self.seed)
        if self.engine == "msprime":
            seed = int(history.integers(1, 2**32))
            drawn = simulate_with_msprime(self.region, seed, growth_rate=self.growth_rate, demography=self.demography)
        else:
            drawn = simulate(self.region, history)
        return as_alignment(drawn, self.region.length, self.number)


@dataclass(frozen=True)
class NeutralReplicates:
    """Neutral replicates, the same that `simulate omega` writes with this seed: an iterable that simulates them.

    Other processes can simulate some of them, for it can be pickled: `oclgenomics.omega.find_thresholds` takes it with
    `executor`.

    Parameters
    ----------
    region : Region
    seed : int
        0 or more; decides all of them.
    replicates : int
        At least 1.
    engine : str
        'own' (Hudson's coalescent, constant size) or 'msprime'.
    growth_rate : float
        Exponential growth per generation, of msprime only.
    demography : Demography, optional
        History of the population (`oclgenomics.simulate.haplotypes.msprime.read_demography`), of msprime only.
    jobs : int
        Processes that simulate side by side; the replicates and their order do not depend on it.

    Raises
    ------
    UsageError
        Growth or a history without msprime, or a value out of range.
    """

    region: Region
    seed: int
    replicates: int
    engine: Simulator = "own"
    growth_rate: float = 0.0
    demography: Demography | None = None
    jobs: int = 1

    def __post_init__(self) -> None:
        if self.engine not in get_args(Simulator):
            raise ParameterError("engine", f"must be own or msprime, not {self.engine!r}")
        for name, given in (("growth_rate", self.growth_rate), ("demes", self.demography)):
            if given and self.engine != "msprime":
                need = "needs `engine=msprime`; the built-in simulator keeps the population constant"
                raise UsageError(f"`{name}` {need}")
        if self.jobs < 1:
            raise ParameterError("jobs", "at least 1 process is needed", self.jobs)

    def __iter__(self) -> Iterator[Alignment]:
        return self.between(0, self.replicates)

    def record(self) -> dict[str, Any]:
        """Return all that decides what they are, as plain values by name."""
        return {name: value for name, value in asdict(self).items() if name != "jobs"}

    def between(self, begin: int, end: int) -> Iterator[Alignment]:
        """Simulate the replicates [begin, end), counted from 0.

        Yields
        ------
        Alignment
            Binary and complete, named by its number from "1".

        Raises
        ------
        UsageError
            A value out of range.
        MissingDependencyError
            msprime is not installed.
        OclGenomicsError
            A process was killed.
        """
        seeds = replicate_seeds(self.seed, self.replicates)
        tasks = [
            _Replicate(self.region, self.engine, self.growth_rate, self.demography, number + 1, seeds[number])
            for number in range(begin, end)
        ]
        processes = min(self.jobs, len(tasks))
        yield from map(_Replicate.draw, tasks) if processes < 2 else drawn_side_by_side(tasks, processes)


def neutral_alignments(
    region: Region,
    seed: int,
    replicates: int,
    *,
    engine: Simulator = "own",
    growth_rate: float = 0.0,
    demography: Demography | None = None,
    jobs: int = 1,
) -> Iterator[Alignment]:
    """Simulate the replicates of `NeutralReplicates`, whose parameters and errors these are."""
    yield from NeutralReplicates(region, seed, replicates, engine, growth_rate, demography, jobs)


def as_alignment(haplotypes: Haplotypes, length: int, replicate: int) -> Alignment:
    """Pack simulated haplotypes; positions are rounded as if they had been written as ms and read again.

    Parameters
    ----------
    haplotypes : Haplotypes
        Its rows are used up.
    length : int
        Length of the region, bp.
    replicate : int
        Number and name of the alignment.
    """
    sites = len(haplotypes.positions)
    ticks = 10 ** position_digits(length)
    blocks = [pack_states(block) for block in site_blocks(haplotypes.rows, sites)] if sites else []
    return Alignment(
        name=str(replicate),
        positions=base_pairs(distinct_ticks(haplotypes.positions, ticks) / ticks, length),
        bits=join_sites(blocks, words_for(haplotypes.samples)),
        haplotypes=haplotypes.samples,
        letters=np.tile(np.frombuffer(b"01", np.uint8), (sites, 1)),
        replicate=replicate,
        source="simulation",
    )


def position_digits(length: int) -> int:
    """Decimals of relative positions in a file: finer than a bp."""
    return max(7, len(str(length)) + 1)
