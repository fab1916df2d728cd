"""Seeded simulators, one kind of data a module.

Offered here are alignments of haplotypes, neutral, swept or of independent sites; `signatures` has signatures and
samples that hold them.

>>> import numpy as np
>>> from oclgenomics.simulate import Region, simulate
>>> region = Region(samples=50, length=1_000_000, population_size=10_000, theta=400, rho=400)
>>> haplotypes = simulate(region, np.random.default_rng(1))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.simulate import genomes, signals
    from oclgenomics.simulate.demography import read_demography
    from oclgenomics.simulate.hard_sweep import HardSweep
    from oclgenomics.simulate.msprime import simulate_with_msprime
    from oclgenomics.simulate.population import Haplotypes, Region, simulate, simulate_independent
    from oclgenomics.simulate.replicates import as_alignment, generators, neutral_alignments, replicate_seeds

__all__ = [
    "Haplotypes",
    "HardSweep",
    "Region",
    "as_alignment",
    "generators",
    "genomes",
    "neutral_alignments",
    "read_demography",
    "replicate_seeds",
    "signals",
    "simulate",
    "simulate_independent",
    "simulate_with_msprime",
]

HOMES = {
    "Haplotypes": "population",
    "HardSweep": "hard_sweep",
    "Region": "population",
    "as_alignment": "replicates",
    "generators": "replicates",
    "genomes": "",
    "neutral_alignments": "replicates",
    "read_demography": "demography",
    "replicate_seeds": "replicates",
    "signals": "",
    "simulate": "population",
    "simulate_independent": "population",
    "simulate_with_msprime": "msprime",
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
