"""Seeded genomes of a tree: strains of species of genera of families, and genomes of another world.

>>> from oclgenomics.simulate.metagenomes import MetagenomeScenario, simulate_genomes
>>> scenario = MetagenomeScenario(genera=2, species=1, length=2_000)
>>> [genome.plan.role for genome in simulate_genomes(scenario, seed=1)]
['reference', 'strain', 'novel', 'reference', 'strain', 'novel', 'alien', 'alien']

Genomes of a family descend from one random sequence; families of a domain share conserved genes; species have mobile
elements of their genus, stretches of species of other genera, and simple repeats.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.simulate.evolution import CONSERVED, Evolving, ancestor, diverged, plant, plant_simple, text_of
from oclgenomics.simulate.limits import check_range
from oclgenomics.simulate.metagenome_plan import (
    ALIEN,
    GenomePlan,
    MetagenomeScenario,
    Taxon,
    plan_genomes,
    plan_taxa,
)
from oclgenomics.simulate.random_bits import RandomBits

__all__ = ["GenomePlan", "MetagenomeScenario", "SimulatedGenome", "Taxon", "plan_taxa", "simulate_genomes"]

_GENES, _GENE_COPIES, _GENE_LETTERS = 6, 2, 1_500  # conserved in a domain
_GENE_DIVERGENCE = 0.05  # of families
_ELEMENTS, _ELEMENT_LETTERS = 3, 1_200  # mobile ones, of a genus
_TRANSFER_LETTERS = 3_000
_MAX_PIECE = 20  # a piece is at most a genome's letters by this
_FAMILY_GENERA, _DOMAIN_GENERA = 2, 16
# What random numbers are for: each has its own, so that no option changes what does not depend on it.
_FAMILY, _DOMAIN, _GENUS, _ELEMENT, _SPECIES, _MIXING, _STRAIN, _ALIEN = range(8)


@dataclass(frozen=True)
class SimulatedGenome:
    """A genome of one sequence.

    Attributes
    ----------
    plan : GenomePlan
    letters : ndarray, uint8 (letters,)
        A, C, G and T.
    """

    plan: GenomePlan
    letters: NDArray[np.uint8]


def simulate_genomes(scenario: MetagenomeScenario, seed: int) -> Iterator[SimulatedGenome]:
    """Draw the genomes of a scenario.

    Parameters
    ----------
    scenario : MetagenomeScenario
    seed : int
        0 or more.

    Yields
    ------
    SimulatedGenome
        In the order of `plan_genomes`.

    Raises
    ------
    ParameterError
        The seed is outside its range.
    """
    check_range("seed", seed, 0, (1 << 63) - 1)
    return _World(scenario, seed).genomes()


class _World:
    """The ancestors of a scenario."""

    def __init__(self, scenario: MetagenomeScenario, seed: int) -> None:
        self.scenario, self.seed = scenario, seed
        self.pieces = max(scenario.length // _MAX_PIECE, 1)
        each = [(genus, one) for genus in range(scenario.genera) for one in range(scenario.species + scenario.novel)]
        self.species: dict[tuple[int, int], Evolving] = {}
        nothing = Evolving(*np.empty((2, 0), np.uint8))
        family, genus_ancestor = (-1, nothing), nothing
        for genus, one in each:
            if family[0] != genus // _FAMILY_GENERA:
                family = (genus // _FAMILY_GENERA, self._family(genus // _FAMILY_GENERA))
            if one == 0:
                draws = self._draws(_GENUS, genus)
                genus_ancestor = self._diverged(family[1], scenario.genus_divergence, draws)
            draws = self._draws(_SPECIES, genus, one)
            self.species[genus, one] = self._diverged(genus_ancestor, scenario.species_divergence, draws)

    def genomes(self) -> Iterator[SimulatedGenome]:
        mixed: tuple[tuple[int, int], Evolving] | None = None
        for plan in plan_genomes(self.scenario, plan_taxa(self.scenario)):
            if plan.role == ALIEN:
                yield SimulatedGenome(plan, text_of(self._alien(plan.strain).codes))
                continue
            key = (plan.genus, plan.species)
            if mixed is None or mixed[0] != key:
                mixed = (key, self._mixed(*key))
            draws = self._draws(_STRAIN, *key, plan.strain)
            strain = self._diverged(mixed[1], self.scenario.strain_divergence, draws)
            yield SimulatedGenome(plan, text_of(strain.codes))

    def _draws(self, *what: int) -> RandomBits:
        return RandomBits(np.random.SeedSequence(self.seed, spawn_key=what))

    def _diverged(self, one: Evolving, bounds: tuple[float, float], draws: RandomBits) -> Evolving:
        return diverged(one, _between(bounds, draws), self.scenario.indels, draws)

    def _family(self, family: int) -> Evolving:
        """The ancestor of a family: a random sequence with the conserved genes of its domain."""
        draws = self._draws(_FAMILY, family)
        one = ancestor(self.scenario.length, _between(self.scenario.gc, draws), draws)
        plant_simple(one, self.scenario.simple / 2, draws)
        domain = self._draws(_DOMAIN, family * _FAMILY_GENERA // _DOMAIN_GENERA)
        genes = ancestor(_GENES * min(_GENE_LETTERS, self.pieces), 0.5, domain)
        own = diverged(genes, _GENE_DIVERGENCE, 0, draws)
        plant(one, _GENE_COPIES * np.array_split(own.codes, _GENES), draws, CONSERVED)
        return one

    def _mixed(self, genus: int, species: int) -> Evolving:
        """The ancestor of a species with what it has from elsewhere."""
        one, draws = self.species[genus, species].copy(), self._draws(_MIXING, genus, species)
        plant(one, self._elements(genus, len(one), draws), draws)
        plant(one, self._transfers(genus, len(one), draws), draws)
        plant_simple(one, self.scenario.simple / 2, draws)
        return one

    def _elements(self, genus: int, length: int, draws: RandomBits) -> list[NDArray[np.uint8]]:
        """Copies of the mobile elements of a genus."""
        size = min(_ELEMENT_LETTERS, self.pieces)
        elements = np.array_split(ancestor(_ELEMENTS * size, 0.5, self._draws(_ELEMENT, genus)).codes, _ELEMENTS)
        copies = round(self.scenario.repeats * length / size)
        return [elements[which] for which in draws.below(_ELEMENTS, copies).tolist()]

    def _transfers(self, genus: int, length: int, draws: RandomBits) -> list[NDArray[np.uint8]]:
        """Stretches of species of other genera."""
        size = min(_TRANSFER_LETTERS, self.pieces)
        number = round(self.scenario.transferred * length / size) if self.scenario.genera > 1 else 0
        donors = (genus + draws.within(1, max(self.scenario.genera - 1, 1), number)) % self.scenario.genera
        which = draws.below(self.scenario.species + self.scenario.novel, number)
        found = []
        for donor, one in zip(donors.tolist(), which.tolist(), strict=True):
            codes = self.species[donor, one].codes
            at = int(draws.below(max(len(codes) - size, 1), 1)[0])
            found.append(codes[at : at + size])
        return found

    def _alien(self, number: int) -> Evolving:
        draws = self._draws(_ALIEN, number)
        one = ancestor(self.scenario.length, _between(self.scenario.gc, draws), draws)
        plant_simple(one, self.scenario.simple, draws)
        return one


def _between(bounds: tuple[float, float], draws: RandomBits) -> float:
    """A number between two, of 65,536 equally likely ones."""
    low, high = bounds
    return low + (high - low) * int(draws.uint16(1)[0]) / 65535
