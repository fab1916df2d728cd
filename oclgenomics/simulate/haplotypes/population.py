"""Seeded sample alignments of a population of constant size: neutral, swept by selection, or of independent sites.

Every function draws from the generator it is given (`numpy.random.Generator` over PCG64) and from nothing else, so a
seed decides the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.simulate.haplotypes.coalescent import (
    Ancestry,
    Branch,
    Draws,
    HardSweep,
    coalesce,
    coalesce_with_sweep,
    logistic_path,
    wright_fisher_path,
)
from oclgenomics.simulate.limits import (
    MAX_GENERATIONS,
    MAX_LINEAGES,
    MAX_POPULATION,
    MAX_RHO,
    MAX_SAMPLES,
    MAX_SITES,
    check_range,
)
from oclgenomics.variation.bed import MAX_BP

MIN_STRENGTH = 10  # 2 N s of a sweep
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
        check_range("samples", self.samples, 2, MAX_SAMPLES)
        check_range("length", self.length, 1, MAX_BP)
        check_range("population_size", self.population_size, 1, MAX_POPULATION)
        check_range("theta", self.theta, 0, MAX_SITES / _harmonic(self.samples))
        check_range("rho", self.rho, 0, MAX_RHO)
        if self.sites is not None:
            check_range("sites", self.sites, 0, MAX_SITES)


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


def simulate(region: Region, rng: np.random.Generator, sweep: HardSweep | None = None) -> Haplotypes:
    """One alignment from Hudson's coalescent under the infinite-sites model, neutral or through a sweep.

    Raises
    ------
    UsageError
        If the selected site lies outside the region, selection is too weak for a sweep (2 N s below 10), or there are
        more than 100,000 haplotypes.
    """
    check_range("samples", region.samples, 2, MAX_LINEAGES)
    draws = Draws(rng)
    ancestry = Ancestry(region.samples)
    if sweep is None:
        coalesce(ancestry, draws, region.rho)
    else:
        check_sweep(region, sweep)
        size = region.population_size
        if sweep.trajectory == "stochastic":
            path = wright_fisher_path(size, sweep.selection, rng)
        else:
            path = logistic_path(size, sweep.selection)
        site, fixation = sweep.position / region.length, sweep.fixation_age / (2 * size)
        coalesce_with_sweep(ancestry, draws, region.rho, path=path, site=site, fixation=fixation, population_size=size)
    return _mutate(ancestry.branches, region, rng)


def simulate_independent(sites: int, samples: int, rng: np.random.Generator) -> Haplotypes:
    """One alignment of independent sites: uniform positions, i derived copies with probability proportional to 1 / i.

    LD is at noise level; the work of a scan depends only on sizes and positions, so this stands in for large
    workloads. Haplotypes are drawn as they are read: of c derived copies among the n haplotypes still to come, the
    next one carries one with probability c / n. Memory does not grow with the number of haplotypes.

    Raises
    ------
    UsageError
        A number of haplotypes or sites out of range.
    """
    check_range("samples", samples, 2, MAX_SAMPLES)
    check_range("sites", sites, 0, MAX_SITES)
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


def _mutate(branches: list[Branch], region: Region, rng: np.random.Generator) -> Haplotypes:
    """Throw mutations onto the branches: Poisson with theta, or exactly `region.sites`."""
    lefts, rights, durations, descendants = zip(*branches, strict=True)
    left, right = np.array(lefts), np.array(rights)
    area = (right - left) * np.array(durations)
    if region.sites is None:
        mutations = rng.poisson(region.theta / 2 * area)
    else:
        mutations = rng.multinomial(region.sites, area / area.sum())
    branch = np.repeat(np.arange(len(area)), mutations)
    at = left[branch] + (right - left)[branch] * rng.random(len(branch))
    order = np.argsort(at, kind="stable")
    width = (region.samples + 7) // 8
    masks = b"".join(descendants[index].to_bytes(width, "little") for index in branch[order].tolist())
    packed = np.frombuffer(masks, np.uint8).reshape(len(branch), width)
    return Haplotypes(at[order], _unpacked_rows(packed, region.samples), region.samples)


def _unpacked_rows(packed: NDArray[np.uint8], samples: int) -> Iterator[NDArray[np.uint8]]:
    """Rows of haplotypes from uint8 (sites, ceil(samples / 8)), 8 at a time."""
    for start in range(0, samples, 8):
        bits = np.unpackbits(packed[:, start // 8, None], axis=1, count=min(8, samples - start), bitorder="little")
        yield np.ascontiguousarray(bits.T)


def check_sweep(region: Region, sweep: HardSweep) -> None:
    """Refuse a sweep that does not fit the region and its population.

    Raises
    ------
    UsageError
        The selected site lies outside, or selection is too weak.
    """
    if not 0 <= sweep.position < region.length:
        raise UsageError(
            f"sweep at position {sweep.position:g} bp of a region of {region.length} bp; it must lie inside"
        )
    strength = 2 * region.population_size * sweep.selection
    if strength < MIN_STRENGTH:
        raise UsageError(
            f"2Ns is {strength:g}; a sweep needs at least {MIN_STRENGTH}: raise `selection` or `population_size`"
        )
    generations = 2 * math.log(2 * region.population_size) / sweep.selection
    if generations > MAX_GENERATIONS:
        raise UsageError(
            f"the sweep takes {generations:,.0f} generations, {MAX_GENERATIONS:,} are the most: raise `selection`"
        )


def _harmonic(samples: int) -> float:
    """Segregating sites for each unit of theta, about: the sum of 1 / i below `samples`."""
    return 1 + math.log(samples)
