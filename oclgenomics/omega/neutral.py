"""Neutral replicates as alignments, straight from the simulators, without a file in between."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from oclgenomics.errors import UsageError
from oclgenomics.formats.alignment import Alignment, words_for
from oclgenomics.formats.numbers import base_pairs
from oclgenomics.formats.packing import join_sites, pack_states
from oclgenomics.formats.write import distinct_ticks, site_blocks
from oclgenomics.omega.simulate import (
    Haplotypes,
    Region,
    generators,
    replicate_seeds,
    simulate,
    simulate_with_msprime,
)

__all__ = ["as_alignment", "neutral_alignments", "position_digits"]


def neutral_alignments(
    region: Region, seed: int, replicates: int, *, engine: str = "own", growth_rate: float = 0.0
) -> Iterator[Alignment]:
    """Simulate neutral replicates, the same that `simulate omega` writes with this seed.

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

    Yields
    ------
    Alignment
        Binary and complete, named by its number from "1".

    Raises
    ------
    UsageError
        Growth without msprime, or a value out of range.
    MissingDependencyError
        msprime is not installed.
    """
    if growth_rate and engine != "msprime":
        raise UsageError("--growth-rate needs --engine msprime; the own simulator keeps the population constant")
    for number, child in enumerate(replicate_seeds(seed, replicates), start=1):
        history, _ = generators(child)
        if engine == "msprime":
            drawn = simulate_with_msprime(region, int(history.integers(1, 2**32)), growth_rate=growth_rate)
        else:
            drawn = simulate(region, history)
        yield as_alignment(drawn, region.length, number)


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
