"""Sample alignments by msprime (extra `msprime`), in place of the package's own coalescent."""

from __future__ import annotations

import numpy as np

from oclgenomics.errors import MissingDependencyError, ParameterError, UsageError
from oclgenomics.simulate.hard_sweep import HardSweep
from oclgenomics.simulate.population import Haplotypes, Region, check_sweep

__all__ = ["simulate_with_msprime"]


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
            "`engine=msprime` needs msprime: pip install 'oclgenomics[msprime]', or leave `engine` out"
        ) from None
    if region.sites is not None:
        raise UsageError("`sites` cannot be combined with `engine=msprime`; give `theta` or `mutation_rate`")
    if not 0 <= growth_rate < 1 or (growth_rate and sweep):
        raise ParameterError("growth_rate", f"must be from 0 to below 1, and 0 with a sweep, not {growth_rate:g}")
    size = region.population_size
    population = {"population_size": size}
    if growth_rate:
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
