"""A second world of genomes, made otherwise than those of `oclgenomics simulate genomes`, to judge rules by.

Genomes are rows of genes with spacers between them. The rate of each gene is drawn from a gamma distribution, and on
each branch of the tree it is drawn anew around that; third positions of codons evolve four times as fast as the others.
Some genes, as those of ribosomal RNA, hardly change within a domain. Species lose genes and get others that no genome
else has. There are no repeats, no mobile elements and no genes from other species, and indels are of whole codons.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from oclgenomics.simulate.metagenomes.files import ListedGenome, write_genomes, write_taxonomy
from oclgenomics.simulate.metagenomes.genomes import ALIEN, MetagenomeScenario, SimulatedGenome, plan_genomes, plan_taxa

__all__ = ["GeneWorld", "write_gene_world"]

CONSERVED, SPACER = 0.02, 2.0  # rates of the most conserved genes and of spacers; the mean of all genes is 1
CODON = (0.55, 0.3, 2.15)  # rates of the positions of a codon
LETTERS = np.frombuffer(b"ACGT", np.uint8)
DOMAIN, FAMILY, GENUS, SPECIES, STRAIN, LONE = range(6)


@dataclass(frozen=True)
class GeneWorld:
    """What is simulated.

    Attributes
    ----------
    plan : MetagenomeScenario
        Genera, species, strains, novel species, aliens and divergences; what it says of repeats does not count.
    shape : float
        Of the gamma distribution of the genes' rates.
    jitter : float
        Standard deviation of the logarithm of a gene's rate on a branch.
    replaced : float
        Share of its genes that a species has got for others.
    conserved : int
        Genes of a domain that hardly change.
    """

    plan: MetagenomeScenario
    shape: float = 1.2
    jitter: float = 0.3
    replaced: float = 0.08
    conserved: int = 5


@dataclass
class Gene:
    """A gene or a spacer: its letters as 0 to 3, and its rate."""

    codes: NDArray[np.uint8]
    rate: float
    coding: bool


Genome = list[Gene]


def write_gene_world(folder: Path, world: GeneWorld, seed: int) -> list[ListedGenome]:
    """Write a folder of the form that `oclgenomics simulate genomes` writes."""
    listed = write_genomes(folder, _genomes(world, seed))
    write_taxonomy(folder / "taxonomy", plan_taxa(world.plan))
    return listed


def _genomes(world: GeneWorld, seed: int) -> Iterator[SimulatedGenome]:
    plan, before = world.plan, (-1, -1)
    for one in plan_genomes(plan, plan_taxa(plan)):
        if one.role == ALIEN:
            yield SimulatedGenome(one, _letters(_ancestor(world, _draws(seed, LONE, one.strain))))
            continue
        if before[0] != one.genus:
            family = _family(world, seed, one.genus // 2)
            genus = _child(family, world, plan.genus_divergence, _draws(seed, GENUS, one.genus))
        if before != (one.genus, one.species):
            draws = _draws(seed, SPECIES, one.genus, one.species)
            species = _replaced(_child(genus, world, plan.species_divergence, draws), world, draws)
        before = (one.genus, one.species)
        draws = _draws(seed, STRAIN, one.genus, one.species, one.strain)
        yield SimulatedGenome(one, _letters(_child(species, world, plan.strain_divergence, draws)))


def _draws(seed: int, *what: int) -> np.random.Generator:
    return np.random.default_rng([seed, *what])


def _family(world: GeneWorld, seed: int, family: int) -> Genome:
    """The ancestor of a family, with the conserved genes of the domain somewhere among its own."""
    draws = _draws(seed, FAMILY, family)
    genome = _ancestor(world, draws)
    domain = _draws(seed, DOMAIN, family // 8)
    for _ in range(world.conserved):
        gene = Gene(domain.integers(0, 4, 1_500, np.uint8), CONSERVED, coding=False)
        genome.insert(int(draws.integers(len(genome))), _evolved(gene, 0.6 * CONSERVED, draws))
    return genome


def _ancestor(world: GeneWorld, draws: np.random.Generator) -> Genome:
    """A genome without relatives."""
    strong = draws.uniform(*world.plan.gc)
    genome: Genome = []
    letters = 0
    while letters < world.plan.length:
        genome += [_gene(world, strong, draws), _spacer(strong, draws)]
        letters += len(genome[-1].codes) + len(genome[-2].codes)
    return genome


def _gene(world: GeneWorld, strong: float, draws: np.random.Generator) -> Gene:
    codons = max(int(draws.lognormal(5.6, 0.55)), 30)
    return Gene(_random(3 * codons, strong, draws), draws.gamma(world.shape, 1 / world.shape), coding=True)


def _spacer(strong: float, draws: np.random.Generator) -> Gene:
    return Gene(_random(1 + int(draws.exponential(110)), strong, draws), SPACER, coding=False)


def _random(length: int, strong: float, draws: np.random.Generator) -> NDArray[np.uint8]:
    weak = (1 - strong) / 2
    return draws.choice(4, length, p=[weak, strong / 2, strong / 2, weak]).astype(np.uint8)


def _child(genome: Genome, world: GeneWorld, bounds: tuple[float, float], draws: np.random.Generator) -> Genome:
    """A descendant at the end of a branch whose length lies between two bounds."""
    branch = draws.uniform(*bounds)
    jitter = draws.lognormal(-(world.jitter**2) / 2, world.jitter, len(genome))
    return [_evolved(gene, branch * gene.rate * factor, draws) for gene, factor in zip(genome, jitter, strict=True)]


def _evolved(gene: Gene, distance: float, draws: np.random.Generator) -> Gene:
    """A gene after some substitutions for each letter, several at one place among them."""
    rates = np.resize(CODON, len(gene.codes)) if gene.coding else 1.0
    changed = draws.random(len(gene.codes)) < 0.75 * (1 - np.exp(-4 / 3 * distance * rates))
    codes = gene.codes.copy()
    steps = draws.choice((1, 2, 3), int(changed.sum()), p=(0.2, 0.6, 0.2)).astype(np.uint8)  # 2: a transition
    codes[changed] = (codes[changed] + steps) & 3
    for _ in range(draws.poisson(0.01 * distance * len(codes))):
        at, size = 3 * int(draws.integers(len(codes) // 3 + 1)), 3 * int(draws.geometric(0.5))
        cut = draws.random() < 0.5 and len(codes) > size + 30
        new = draws.integers(0, 4, size, np.uint8)
        codes = np.delete(codes, slice(at, at + size)) if cut else np.insert(codes, min(at, len(codes)), new)
    return Gene(codes, gene.rate, gene.coding)


def _replaced(genome: Genome, world: GeneWorld, draws: np.random.Generator) -> Genome:
    """A genome with other genes in place of some of its own."""
    lost = draws.random(len(genome)) < world.replaced
    return [_gene(world, 0.5, draws) if gene.coding and gone else gene for gene, gone in zip(genome, lost, strict=True)]


def _letters(genome: Genome) -> NDArray[np.uint8]:
    return LETTERS[np.concatenate([gene.codes for gene in genome])]
