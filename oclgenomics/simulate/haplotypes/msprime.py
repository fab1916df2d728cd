"""Alignments by msprime (extra `msprime`) in place of the package's own coalescent, and histories from demes files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from oclgenomics.errors import InputError, ParameterError, UsageError
from oclgenomics.io.text_file import read_text
from oclgenomics.lazy_names import optional
from oclgenomics.simulate.haplotypes.coalescent import HardSweep
from oclgenomics.simulate.haplotypes.population import Haplotypes, Region, check_sweep

DEMES_NEED = "`demes` needs msprime: pip install 'oclgenomics[msprime]'"
ENGINE_NEED = "`engine=msprime` needs msprime: pip install 'oclgenomics[msprime]', or leave `engine` out"


@dataclass(frozen=True)
class Demography:
    """A history, and the deme of it that is sampled today.

    Attributes
    ----------
    text : str
        The demes file.
    deme : str
    """

    text: str
    deme: str

    def for_msprime(self) -> Any:
        """Return the `msprime.Demography`."""
        return _for_msprime(self.text)


def read_demography(path: str | os.PathLike[str], deme: str | None = None) -> Demography:
    """Read a history in the demes format (https://popsim-consortium.github.io/demes-spec-docs).

    Parameters
    ----------
    path : str or path-like
        YAML file, or "-" for standard input; uncompressed or compressed.
    deme : str, optional
        The deme that is sampled; needed where more than one lives to the present.

    Raises
    ------
    InputError
        The file cannot be read, or is no history.
    ParameterError
        There is no such deme today, or none is named and there are several.
    MissingDependencyError
        msprime is not installed.
    """
    text, name = read_text(path)
    optional("msprime", DEMES_NEED)
    demes = optional("demes", DEMES_NEED)
    try:
        graph = demes.loads(text)
        _for_msprime(text)
    except Exception as error:  # of the YAML reader, of demes and of msprime, whose classes have nothing in common
        told = " ".join(str(error).split())
        raise InputError(f"is no history in the demes format: {told}", source=name) from None
    today = [one.name for one in graph.demes if one.end_time == 0]
    if deme is None and len(today) == 1:
        return Demography(text, today[0])
    if deme is None or deme not in today:
        raise ParameterError("deme", f"name one that lives to the present: {', '.join(today) or 'there is none'}", deme)
    return Demography(text, deme)


@lru_cache(maxsize=4)
def _for_msprime(text: str) -> Any:
    return optional("msprime", DEMES_NEED).Demography.from_demes(optional("demes", DEMES_NEED).loads(text))


def simulate_with_msprime(
    region: Region,
    seed: int,
    sweep: HardSweep | None = None,
    *,
    growth_rate: float = 0.0,
    demography: Demography | None = None,
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
    demography : Demography, optional
        The history, in place of a population of constant size; `region.theta` and `region.rho` are then
        4 N times the rates with `region.population_size` as N, whatever sizes the history has.

    Raises
    ------
    MissingDependencyError
        If msprime is not installed.
    UsageError
        The sweep does not fit, or the population shrinks or grows through a sweep.
    """
    msprime = optional("msprime", ENGINE_NEED)
    if not 0 <= growth_rate < 1 or (growth_rate and sweep):
        raise ParameterError("growth_rate", f"must be from 0 to below 1, and 0 with a sweep, not {growth_rate:g}")
    if demography is not None and (growth_rate or sweep):
        raise UsageError("`demes` says how the population grew, and knows no sweep; leave `growth_rate` out")
    size = region.population_size
    population = {"population_size": size}
    if demography is not None:
        population = {"demography": demography.for_msprime()}
    elif growth_rate:
        population = {"demography": msprime.Demography.isolated_model([size], growth_rate=[growth_rate])}
    models = [msprime.StandardCoalescent()]
    if sweep is not None:
        check_sweep(region, sweep)
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
        samples=[msprime.SampleSet(region.samples, ploidy=1, population=demography and demography.deme)],
        ploidy=2,
        **population,
        sequence_length=region.length,
        recombination_rate=region.rho / (4 * size * region.length),
        discrete_genome=False,
        model=models,
        random_seed=seed % (2**32 - 1) + 1,
    )
    if region.sites is None:
        mutated = _mutated(history, region.theta / (4 * size * region.length), seed)
    else:
        mutated = _with_sites(history, region.sites, seed)
    genotypes = mutated.genotype_matrix().astype(np.uint8)
    positions = np.asarray(mutated.tables.sites.position, np.float64) / region.length
    return Haplotypes(positions, iter([np.ascontiguousarray(genotypes.T)]), region.samples)


def _mutated(history: Any, rate: float, seed: int) -> Any:
    msprime = optional("msprime", ENGINE_NEED)
    return msprime.sim_mutations(
        history, rate=rate, discrete_genome=False, model=msprime.BinaryMutationModel(),
        random_seed=seed % (2**32 - 1) + 1,
    )  # fmt: skip


def _with_sites(history: Any, sites: int, seed: int) -> Any:
    """The history with exactly so many mutations, placed on the trees in proportion to branch length.

    Any so many of the events of a Poisson process are such a set.
    """
    area = sum(tree.span * tree.total_branch_length for tree in history.trees())
    wanted = sites + 6 * np.sqrt(sites) + 20  # fewer than `sites` come about once in a billion
    while (mutated := _mutated(history, wanted / area, seed)).num_sites < sites:
        wanted *= 2
    chosen = np.random.default_rng(seed).permutation(mutated.num_sites)[sites:]
    return mutated.delete_sites(chosen)
