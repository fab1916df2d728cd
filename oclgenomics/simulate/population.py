"""Seeded sample alignments: neutral, swept by selection, or of independent sites.

Every function draws from the generator it is given (`numpy.random.Generator` over PCG64) and from nothing else, so a
seed decides the data. `replicate_seeds` gives each replicate its own stream: replicate 3 is the same data whether 3
or 300 are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import MissingDependencyError, UsageError
from oclgenomics.simulate.coalescent import Ancestry, Branches, Draws, coalesce
from oclgenomics.simulate.hard_sweep import coalesce_with_sweep, logistic_path, wright_fisher_path

__all__ = [
    "Haplotypes",
    "HardSweep",
    "Region",
    "add_missing",
    "add_third_alleles",
    "generators",
    "lose_phase",
    "replicate_seeds",
    "simulate",
    "simulate_independent",
    "simulate_with_msprime",
]

_ROW_BLOCK_BYTES = 1 << 22


@dataclass(frozen=True)
class Region:
    """A stretch of genome in a population of constant size, and the sample taken from it.

    Parameters
    ----------
    samples : int
        Haplotypes, at least 2.
    length : int
        Length in bp.
    population_size : float
        N, diploid individuals.
    theta : float
        4 N mu of the whole region (mu: mutations per region and generation).
    rho : float
        4 N r of the whole region (r: recombinations per region and generation).
    sites : int, optional
        Exact number of segregating sites, placed on the trees in proportion to branch length; theta then plays no role.

    Raises
    ------
    UsageError
        For a value outside its range.
    """

    samples: int
    length: int
    population_size: float
    theta: float
    rho: float
    sites: int | None = None

    def __post_init__(self) -> None:
        _require(self.samples >= 2, f"{self.samples} haplotypes asked for; a sample needs at least 2")
        _require(self.length >= 1, f"a region of {self.length} bp; give a length of at least 1")
        _require(self.population_size >= 1, f"a population of {self.population_size:g}; give at least 1 individual")
        _require(0 <= self.theta < float("inf"), f"theta is {self.theta:g}; it must be 0 or more")
        _require(0 <= self.rho < float("inf"), f"rho is {self.rho:g}; it must be 0 or more")
        _require(self.sites is None or self.sites >= 0, f"{self.sites} sites asked for; give 0 or more")


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
    trajectory: str = "stochastic"

    def __post_init__(self) -> None:
        _require(0 < self.selection <= 1, f"selection coefficient {self.selection:g}; it must be above 0 and at most 1")
        _require(self.fixation_age >= 0, f"fixation {self.fixation_age:g} generations ago; it must be 0 or more")
        _require(
            self.trajectory in ("stochastic", "deterministic"),
            f"trajectory {self.trajectory!r}; it is stochastic or deterministic",
        )


@dataclass
class Haplotypes:
    """One simulated alignment.

    Attributes
    ----------
    positions : float64 (sites,)
        Ascending, as fractions of the region in [0, 1).
    rows : iterator of uint8 (block, sites)
        The haplotypes in order, some at a time; 0 ancestral, 1 derived. It can be gone through once.
    samples : int
        Number of haplotypes in all.
    """

    positions: NDArray[np.float64]
    rows: Iterator[NDArray[np.uint8]]
    samples: int


def replicate_seeds(seed: int, replicates: int) -> list[np.random.SeedSequence]:
    """Independent seeds, one per replicate; the first ones do not depend on how many are asked for.

    Raises
    ------
    UsageError
        If the seed is negative or no replicate is asked for.
    """
    _require(seed >= 0, f"seed {seed}; it must be 0 or more")
    _require(replicates >= 1, f"{replicates} replicates asked for; give at least 1")
    return np.random.SeedSequence(seed).spawn(replicates)


def generators(seed: np.random.SeedSequence) -> tuple[np.random.Generator, np.random.Generator]:
    """Two generators of one replicate: for its history, and for what is done to the data later (missing calls...)."""
    history, data = seed.spawn(2)
    return np.random.Generator(np.random.PCG64(history)), np.random.Generator(np.random.PCG64(data))


def simulate(region: Region, rng: np.random.Generator, sweep: HardSweep | None = None) -> Haplotypes:
    """One alignment from Hudson's coalescent under the infinite-sites model, neutral or through a sweep.

    Raises
    ------
    UsageError
        If the selected site lies outside the region or selection is too weak for a sweep (2 N s below 10).
    """
    draws = Draws(rng)
    ancestry = Ancestry(region.samples)
    if sweep is None:
        coalesce(ancestry, draws, region.rho)
    else:
        _check_sweep(region, sweep)
        size = region.population_size
        if sweep.trajectory == "stochastic":
            path = wright_fisher_path(size, sweep.selection, rng)
        else:
            path = logistic_path(size, sweep.selection)
        coalesce_with_sweep(
            ancestry,
            draws,
            region.rho,
            path=path,
            site=sweep.position / region.length,
            fixation=sweep.fixation_age / (2 * size),
            population_size=size,
        )
    return _mutate(ancestry.branches, region, rng)


def simulate_independent(sites: int, samples: int, rng: np.random.Generator) -> Haplotypes:
    """One alignment of independent sites: uniform positions, i derived copies with probability proportional to 1 / i.

    LD is at noise level; the work of a scan depends only on sizes and positions, so this stands in for large
    workloads. Haplotypes are drawn as they are read: of c derived copies among the n haplotypes still to come, the
    next one carries one with probability c / n. Memory does not grow with the number of haplotypes.

    Raises
    ------
    UsageError
        If there are fewer than 2 haplotypes or a negative number of sites.
    """
    _require(samples >= 2, f"{samples} haplotypes asked for; a sample needs at least 2")
    _require(sites >= 0, f"{sites} sites asked for; give 0 or more")
    positions = np.sort(rng.random(sites))
    cumulative = np.cumsum(1 / np.arange(1, samples))
    copies = np.searchsorted(cumulative[:-1], rng.random(sites) * cumulative[-1], side="right") + 1
    return Haplotypes(positions, _independent_rows(copies.astype(np.uint32), samples, rng), samples)


def _independent_rows(
    copies: NDArray[np.uint32], samples: int, rng: np.random.Generator
) -> Iterator[NDArray[np.uint8]]:
    block = max(1, _ROW_BLOCK_BYTES // max(1, len(copies)))
    for start in range(0, samples, block):
        rows = np.empty((min(block, samples - start), len(copies)), np.uint8)
        for index in range(len(rows)):
            derived = rng.integers(0, samples - start - index, len(copies), np.uint32) < copies
            copies -= derived
            rows[index] = derived
        yield rows


def simulate_with_msprime(
    region: Region, seed: int, sweep: HardSweep | None = None, *, growth_rate: float = 0.0
) -> Haplotypes:
    """As `simulate`, by msprime.

    Parameters
    ----------
    region : Region
        Its population size is that of today where the population grows.
    seed : int
    sweep : HardSweep, optional
    growth_rate : float
        Exponential growth per generation; the size t generations ago is N exp(-growth_rate t).

    Raises
    ------
    MissingDependencyError
        If msprime is not installed.
    UsageError
        If an exact number of sites is asked for, which msprime does not offer, the sweep does not fit, or the
        population shrinks or grows through a sweep.
    """
    try:
        import msprime  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        raise MissingDependencyError(
            "--engine msprime needs msprime: pip install 'oclgenomics[msprime]', or leave --engine out"
        ) from None
    _require(region.sites is None, "--sites cannot be combined with --engine msprime; give --theta or --mutation-rate")
    _require(
        0 <= growth_rate < 1 and not (growth_rate and sweep),
        f"growth of {growth_rate:g} per generation; it is from 0 to 1, and 0 with a sweep",
    )
    size = region.population_size
    population = {"population_size": size}
    if growth_rate:
        population = {"demography": msprime.Demography.isolated_model([size], growth_rate=[growth_rate])}
    models = [msprime.StandardCoalescent()]
    if sweep is not None:
        _check_sweep(region, sweep)
        # msprime takes s as the advantage of homozygotes and steps the path in 2N generations
        hard = msprime.SweepGenicSelection(
            position=sweep.position,
            start_frequency=1 / (2 * size),
            end_frequency=1 - 1 / (2 * size),
            s=2 * sweep.selection,
            dt=1 / (40 * size),
        )
        models = [msprime.StandardCoalescent(duration=sweep.fixation_age), hard, msprime.StandardCoalescent()]
    history = msprime.sim_ancestry(
        samples=[msprime.SampleSet(region.samples, ploidy=1)],
        ploidy=2,
        **population,
        sequence_length=region.length,
        recombination_rate=region.rho / (4 * size * region.length),
        discrete_genome=False,
        model=models,
        random_seed=seed % (2**32 - 1) + 1,
    )
    mutated = msprime.sim_mutations(
        history,
        rate=region.theta / (4 * size * region.length),
        discrete_genome=False,
        model=msprime.BinaryMutationModel(),
        random_seed=seed % (2**32 - 1) + 1,
    )
    genotypes = mutated.genotype_matrix().astype(np.uint8)
    positions = np.asarray(mutated.tables.sites.position, np.float64) / region.length
    return Haplotypes(positions, iter([np.ascontiguousarray(genotypes.T)]), region.samples)


def _mutate(branches: Branches, region: Region, rng: np.random.Generator) -> Haplotypes:
    """Throw mutations onto the branches: Poisson with theta, or exactly `region.sites`."""
    left, right = np.array(branches.left), np.array(branches.right)
    area = (right - left) * np.array(branches.duration)
    if region.sites is None:
        mutations = rng.poisson(region.theta / 2 * area)
    else:
        mutations = rng.multinomial(region.sites, area / area.sum())
    branch = np.repeat(np.arange(len(area)), mutations)
    at = left[branch] + (right - left)[branch] * rng.random(len(branch))
    order = np.argsort(at, kind="stable")
    width = (region.samples + 7) // 8
    masks = b"".join(branches.descendants[index].to_bytes(width, "little") for index in branch[order].tolist())
    packed = np.frombuffer(masks, np.uint8).reshape(len(branch), width)
    return Haplotypes(at[order], _unpacked_rows(packed, region.samples), region.samples)


def _unpacked_rows(packed: NDArray[np.uint8], samples: int) -> Iterator[NDArray[np.uint8]]:
    """Rows of haplotypes from uint8 (sites, ceil(samples / 8)), 8 at a time."""
    for start in range(0, samples, 8):
        bits = np.unpackbits(packed[:, start // 8, None], axis=1, count=min(8, samples - start), bitorder="little")
        yield np.ascontiguousarray(bits.T)


def add_missing(
    states: NDArray[np.uint8], rate: float, rng: np.random.Generator, *, missing: int, ploidy: int = 1
) -> NDArray[np.uint8]:
    """Make calls missing at random.

    Parameters
    ----------
    states : uint8 (rows, columns)
        Alleles; with ploidy 2 the columns 2s and 2s + 1 are one call and go missing together.
    rate : float
        Probability of each call to be missing.
    missing : int
        State to write.

    Returns
    -------
    uint8 (rows, columns)
        A copy, or `states` itself when the rate is 0.
    """
    if rate == 0:
        return states
    lost = rng.random((states.shape[0], states.shape[1] // ploidy), np.float32) < rate
    return np.where(np.repeat(lost, ploidy, axis=1), np.uint8(missing), states)


def add_third_alleles(states: NDArray[np.uint8], rate: float, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Turn some sites triallelic: each derived copy becomes state 2 with probability 1/2, but neither none nor all.

    Parameters
    ----------
    states : uint8 (sites, haplotypes)
        0 ancestral, 1 derived.
    rate : float
        Probability of each site with two or more derived copies to become triallelic.

    Returns
    -------
    uint8 (sites, haplotypes)
        A copy, or `states` itself when the rate is 0.
    """
    if rate == 0:
        return states
    changed = states.copy()
    for site in np.flatnonzero((rng.random(len(states)) < rate) & (states.sum(axis=1) >= 2)):
        carriers = np.flatnonzero(states[site])
        second = rng.random(len(carriers)) < 0.5
        second[rng.permutation(len(carriers))[:2]] = (False, True)
        changed[site, carriers[second]] = 2
    return changed


def lose_phase(
    states: NDArray[np.uint8], rate: float, rng: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Forget which haplotype carries which allele, for diploid calls at random.

    Parameters
    ----------
    states : uint8 (sites, haplotypes)
        Columns 2s and 2s + 1 are one call.
    rate : float
        Probability of each call to lose its phase; its alleles are then in ascending order.

    Returns
    -------
    uint8 (sites, haplotypes), bool (sites, haplotypes / 2)
        The states, and where the phase is lost.
    """
    shape = (states.shape[0], states.shape[1] // 2)
    if rate == 0:
        return states, np.zeros(shape, bool)
    lost = rng.random(shape, np.float32) < rate
    pairs = states.reshape(*shape, 2)
    pairs = np.where(lost[:, :, None], np.sort(pairs, axis=2), pairs)
    return pairs.reshape(states.shape), lost


def _check_sweep(region: Region, sweep: HardSweep) -> None:
    _require(
        0 <= sweep.position < region.length,
        f"sweep at {sweep.position:g} bp of a region of {region.length} bp; it must lie inside",
    )
    strength = 2 * region.population_size * sweep.selection
    _require(
        strength >= 10,
        f"2Ns is {strength:g}; a sweep needs at least 10: raise the selection coefficient or the population size",
    )


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise UsageError(message)
