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
    from oclgenomics.simulate import signals as signals
    from oclgenomics.simulate.haplotypes.coalescent import HardSweep as HardSweep
    from oclgenomics.simulate.haplotypes.msprime import *
    from oclgenomics.simulate.haplotypes.population import *
    from oclgenomics.simulate.haplotypes.replicates import *
    from oclgenomics.simulate.metagenomes.genomes import *
    from oclgenomics.simulate.metagenomes.reads import *
    from oclgenomics.simulate.signals.drawing import SignalScenario as SignalScenario
    from oclgenomics.simulate.signals.reads import *
    from oclgenomics.simulate.signatures.samples import (
        simulate_samples as simulate_samples,
        simulate_signatures as simulate_signatures,
    )
    from oclgenomics.simulate.signatures.scenario import Scenario as Scenario

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "haplotypes.coalescent": "HardSweep",
        "haplotypes.msprime": "Demography read_demography simulate_with_msprime",
        "haplotypes.population": "Haplotypes Region simulate simulate_independent",
        "haplotypes.replicates": "NeutralReplicates as_alignment generators neutral_alignments replicate_seeds",
        "metagenomes.genomes": "MetagenomeScenario simulate_genomes",
        "metagenomes.reads": "ReadScenario simulate_reads",
        "signals.drawing": "SignalScenario",
        "signals.reads": "Genome random_genome read_genome simulate_signals",
        "signatures.samples": "simulate_samples simulate_signatures",
        "signatures.scenario": "Scenario",
        "": "signals",
    },
)
