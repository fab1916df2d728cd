"""Seeded simulators of all kinds of input: the same seed and options give the same data everywhere.

`haplotypes` has alignments, neutral, swept or of independent sites; `signatures` samples that hold copies of
signatures; `signals` raw nanopore signal; `metagenomes` genomes of a tree of taxa, and reads of them.

>>> import numpy as np
>>> from oclgenomics.simulate import Region, simulate
>>> region = Region(samples=50, length=1_000_000, population_size=10_000, theta=400, rho=400)
>>> haplotypes = simulate(region, np.random.default_rng(1))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.simulate import signals
    from oclgenomics.simulate.haplotypes.coalescent import HardSweep
    from oclgenomics.simulate.haplotypes.msprime import Demography, read_demography, simulate_with_msprime
    from oclgenomics.simulate.haplotypes.population import Haplotypes, Region, simulate, simulate_independent
    from oclgenomics.simulate.haplotypes.replicates import as_alignment, generators, neutral_alignments, replicate_seeds
    from oclgenomics.simulate.metagenomes.genomes import MetagenomeScenario, simulate_genomes
    from oclgenomics.simulate.metagenomes.reads import ReadScenario, simulate_reads
    from oclgenomics.simulate.signals.drawing import SignalScenario
    from oclgenomics.simulate.signals.reads import Genome, random_genome, read_genome, simulate_signals
    from oclgenomics.simulate.signatures.samples import simulate_samples, simulate_signatures
    from oclgenomics.simulate.signatures.scenario import Scenario

__all__ = [
    "Demography", "Genome", "Haplotypes", "HardSweep", "MetagenomeScenario", "ReadScenario", "Region", "Scenario",
    "SignalScenario", "as_alignment", "generators", "neutral_alignments", "random_genome", "read_demography",
    "read_genome", "replicate_seeds", "signals", "simulate", "simulate_genomes", "simulate_independent",
    "simulate_reads", "simulate_samples", "simulate_signals", "simulate_signatures", "simulate_with_msprime",
]  # fmt: skip

HOMES = {
    "HardSweep": "haplotypes.coalescent", "Demography": "haplotypes.msprime",
    "read_demography": "haplotypes.msprime", "simulate_with_msprime": "haplotypes.msprime",
    "Haplotypes": "haplotypes.population", "Region": "haplotypes.population", "simulate": "haplotypes.population",
    "simulate_independent": "haplotypes.population", "as_alignment": "haplotypes.replicates",
    "generators": "haplotypes.replicates", "neutral_alignments": "haplotypes.replicates",
    "replicate_seeds": "haplotypes.replicates", "MetagenomeScenario": "metagenomes.genomes",
    "simulate_genomes": "metagenomes.genomes", "ReadScenario": "metagenomes.reads",
    "simulate_reads": "metagenomes.reads", "SignalScenario": "signals.drawing", "Genome": "signals.reads",
    "random_genome": "signals.reads", "read_genome": "signals.reads", "simulate_signals": "signals.reads",
    "simulate_samples": "signatures.samples", "simulate_signatures": "signatures.samples",
    "Scenario": "signatures.scenario", "signals": "",
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
