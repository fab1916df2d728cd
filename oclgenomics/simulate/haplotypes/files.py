"""Simulated replicates as files, ms and VCF, with what befalls real data: missing calls, third alleles, lost phase."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.io.packed_file import Sink
from oclgenomics.simulate.haplotypes.population import Haplotypes
from oclgenomics.simulate.haplotypes.replicates import position_digits
from oclgenomics.simulate.limits import check_probability
from oclgenomics.variation.writers import (
    MISSING,
    distinct_ticks,
    site_blocks,
    write_ms_replicate,
    write_vcf_head,
    write_vcf_sites,
)


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


@dataclass(frozen=True, kw_only=True)
class Flaws:
    """What befalls the data on the way into a file, all at random.

    Parameters
    ----------
    missing : float
        Probability of a call to be missing.
    unphased : float
        Probability of a call of a diploid sample to lose its phase.
    multiallelic : float
        Probability of a site with two or more derived copies to get a third allele.

    Raises
    ------
    UsageError
        A value that is no probability.
    """

    missing: float = 0.0
    unphased: float = 0.0
    multiallelic: float = 0.0

    def __post_init__(self) -> None:
        for name in ("missing", "unphased", "multiallelic"):
            check_probability(name, getattr(self, name))


def write_ms(
    stream: Sink, replicates: Iterable[tuple[Haplotypes, np.random.Generator]], length: int, flaws: Flaws
) -> int:
    """Write replicates behind the head of an ms file.

    Parameters
    ----------
    stream : Sink
    replicates : iterable of (Haplotypes, Generator)
        Each with the generator of its flaws.
    length : int
        Length of the region in bp; positions are finer.
    flaws : Flaws
        Of which ms shows missing calls.

    Returns
    -------
    int
        Sites in all.
    """
    digits, total = position_digits(length), 0
    for haplotypes, rng in replicates:
        rows = (add_missing(block, flaws.missing, rng, missing=MISSING) for block in haplotypes.rows)
        write_ms_replicate(stream, haplotypes.positions, rows, digits)
        total += len(haplotypes.positions)
    return total


def write_vcf(
    stream: Sink,
    replicates: Iterable[tuple[Haplotypes, np.random.Generator]],
    *,
    source: str,
    samples: int,
    count: int,
    length: int,
    ploidy: int,
    flaws: Flaws,
) -> int:
    """Write each replicate as a chromosome of its own.

    Parameters
    ----------
    stream : Sink
    replicates : iterable of (Haplotypes, Generator)
        Each with the generator of its letters and flaws.
    source : str
        What the head names as the source.
    samples, count : int
        Haplotypes, and replicates.
    length : int
        Length of each chromosome in bp.
    ploidy : int
        1 or 2 haplotypes of a sample.
    flaws : Flaws

    Returns
    -------
    int
        Sites in all.

    Raises
    ------
    UsageError
        More sites than base pairs, or haplotypes that do not make diploid samples.
    """
    if samples % ploidy:
        raise UsageError(f"{samples} haplotypes do not make diploid samples; give an even `samples` or `ploidy=1`")
    if flaws.unphased and ploidy == 1:
        raise UsageError("`unphased` has no effect on haploid samples; leave out `ploidy=1`")
    names = [str(number + 1) for number in range(count)]
    people = [f"sample{number + 1}" for number in range(samples // ploidy)]
    write_vcf_head(stream, source, [(name, length) for name in names], people)
    total = 0
    for name, (haplotypes, rng) in zip(names, replicates, strict=True):
        total += _write_chromosome(stream, name, haplotypes, rng, length, ploidy, flaws)
    return total


def _write_chromosome(
    stream: Sink, name: str, haplotypes: Haplotypes, rng: np.random.Generator, length: int, ploidy: int, flaws: Flaws
) -> int:
    sites = len(haplotypes.positions)
    if sites > length:
        raise UsageError(f"{sites} sites do not fit in {length} bp of a VCF; raise `length`")
    positions = distinct_ticks(haplotypes.positions, length) + 1
    done = 0
    for block in site_blocks(haplotypes.rows, sites):
        states, letters, unphased = _calls(block, rng, ploidy, flaws)
        write_vcf_sites(stream, name, positions[done : done + len(block)], letters, states, unphased)
        done += len(block)
    return sites


def _calls(
    block: NDArray[np.uint8], rng: np.random.Generator, ploidy: int, flaws: Flaws
) -> tuple[NDArray[np.uint8], list[str], NDArray[np.bool_] | None]:
    """States, letters and lost phase of some sites, as `write_vcf_sites` takes them."""
    bases = np.frombuffer(b"ACGT", np.uint8)
    letters = rng.permuted(np.tile(bases, (len(block), 1)), axis=1)
    states = add_third_alleles(block, flaws.multiallelic, rng)
    unphased = None
    if ploidy == 2:
        states, unphased = lose_phase(states, flaws.unphased, rng)
    states = add_missing(states, flaws.missing, rng, missing=MISSING, ploidy=ploidy)
    return states, [row.tobytes().decode() for row in letters], unphased
