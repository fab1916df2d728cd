"""Seeded genomes of a tree: strains of species of genera of families, and genomes of another world.

>>> from oclgenomics.simulate.metagenomes.genomes import MetagenomeScenario, simulate_genomes
>>> scenario = MetagenomeScenario(genera=2, species=1, length=2_000)
>>> [genome.plan.role for genome in simulate_genomes(scenario, seed=1)]
['reference', 'strain', 'novel', 'reference', 'strain', 'novel', 'alien', 'alien']

Genomes of a family descend from one random sequence; families of a domain share conserved genes; species have mobile
elements of their genus, stretches of species of other genera, and simple repeats.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.simulate.draws import RandomBits
from oclgenomics.simulate.limits import check_pair, check_range
from oclgenomics.simulate.metagenomes.evolution import CONSERVED, Evolving, ancestor, diverged, plant, plant_simple
from oclgenomics.simulate.sequences import BASES

GenomeRole = Literal["reference", "strain", "novel", "alien"]
REFERENCE: GenomeRole = "reference"
STRAIN: GenomeRole = "strain"
NOVEL: GenomeRole = "novel"
ALIEN: GenomeRole = "alien"
MAX_LETTERS = 4_000_000_000  # of all genomes together
MAX_GENOMES = 100_000
ROOT = 1
NO_TAXID = 0
# The ranks above genera, from the lowest one, and how many taxa of the rank below each has.
_ABOVE = (("family", 2), ("order", 2), ("class", 1), ("phylum", 2), ("superkingdom", 2))


_GENES, _GENE_COPIES, _GENE_LETTERS = 6, 2, 1_500  # conserved in a domain
_GENE_DIVERGENCE = 0.05  # of families
_ELEMENTS, _ELEMENT_LETTERS = 3, 1_200  # mobile ones, of a genus
_TRANSFER_LETTERS = 3_000
_MAX_PIECE = 20  # a piece is at most a genome's bases by this
_FAMILY_GENERA, _DOMAIN_GENERA = 2, 16
# What random numbers are for: each has its own, so that no option changes what does not depend on it.
_FAMILY, _DOMAIN, _GENUS, _ELEMENT, _SPECIES, _MIXING, _STRAIN, _ALIEN = range(8)


@dataclass(frozen=True)
class MetagenomeScenario:
    """What is simulated of genomes. Shares are of the bases of a genome, divergences of the bases substituted.

    Attributes
    ----------
    genera : int
    species : int
        Of a genus, with references.
    references : int
        Strains of a species that are references.
    strains : int
        Strains of a species that are not.
    novel : int
        Species of a genus that are not among the references.
    aliens : int
        Genomes that have nothing to do with all others.
    length : int
        Bases of a genome before insertions and deletions.
    gc : pair of float
        The least and the most share of G and C; families lie between.
    genus_divergence, species_divergence, strain_divergence : pair of float
        The least and the most divergence from the ancestor of the family, the genus and the species.
    indels : float
        Insertions and deletions for each substitution.
    transferred : float
        Share that a species has from species of other genera.
    repeats : float
        Share of mobile elements of a genus.
    simple : float
        Share of tandem repeats of units of 1 to 6 bases.

    Raises
    ------
    ParameterError
        A value is outside its range.
    """

    genera: int = 12
    species: int = 3
    references: int = 1
    strains: int = 1
    novel: int = 1
    aliens: int = 2
    length: int = 1_000_000
    gc: tuple[float, float] = (0.35, 0.65)
    genus_divergence: tuple[float, float] = (0.15, 0.25)
    species_divergence: tuple[float, float] = (0.03, 0.1)
    strain_divergence: tuple[float, float] = (0.002, 0.02)
    indels: float = 0.05
    transferred: float = 0.01
    repeats: float = 0.01
    simple: float = 0.005

    def __post_init__(self) -> None:
        for name in ("genera", "species", "references"):
            check_range(name, getattr(self, name), 1, MAX_GENOMES)
        for name in ("strains", "novel", "aliens"):
            check_range(name, getattr(self, name), 0, MAX_GENOMES)
        check_range("length", self.length, 1_000, MAX_LETTERS)
        for name in ("indels", "transferred", "repeats", "simple"):
            check_range(name, getattr(self, name), 0, 0.5)
        for name in ("gc", "genus_divergence", "species_divergence", "strain_divergence"):
            check_pair(name, getattr(self, name), 0, 1 if name == "gc" else 0.5)
        of_genus = self.species * (self.references + self.strains) + self.novel
        genomes = self.genera * of_genus + self.aliens
        check_range("genera", genomes, 1, MAX_GENOMES)  # the genomes of all
        check_range("length", genomes * self.length, 1, MAX_LETTERS)


class Taxon(NamedTuple):
    """A node of the taxonomy."""

    taxid: int
    parent: int
    rank: str
    name: str


@dataclass(frozen=True)
class GenomePlan:
    """A genome to simulate.

    Attributes
    ----------
    name : str
        An accession with a version; also the name of its file.
    role : {'reference', 'strain', 'novel', 'alien'}
    title : str
        What it is called.
    species_taxid, genus_taxid : int
        0 of an alien.
    genus, species, strain : int
        Numbers from 0 on: of the genus; of the species in the genus, novel ones behind the others; of the strain in
        the species, references before the others. An alien has its number as its strain.
    """

    name: str
    role: GenomeRole
    title: str
    species_taxid: int
    genus_taxid: int
    genus: int
    species: int
    strain: int


def plan_taxa(scenario: MetagenomeScenario) -> list[Taxon]:
    """List the taxa, each behind the one above it."""
    levels = [("species", scenario.genera * (scenario.species + scenario.novel), scenario.species + scenario.novel)]
    levels.append(("genus", scenario.genera, _ABOVE[0][1]))
    for number, (rank, below) in enumerate(_ABOVE):
        above = _ABOVE[number + 1][1] if number + 1 < len(_ABOVE) else 0
        levels.append((rank, -(-levels[-1][1] // below), above))
    taxa = [Taxon(ROOT, ROOT, "no rank", "root")]
    first_above = ROOT
    for rank, number, siblings in reversed(levels):
        first = len(taxa) + 1
        for i in range(number):
            parent = first_above + (i // siblings if siblings else 0)
            name = f"{rank.capitalize()}{i + 1:03}"
            taxa.append(Taxon(first + i, parent, rank, name))
        first_above = first
    return [_named(taxon, taxa) for taxon in taxa]


def _named(taxon: Taxon, taxa: list[Taxon]) -> Taxon:
    """A species has the name of its genus before its own."""
    if taxon.rank != "species":
        return taxon
    return taxon._replace(name=f"{taxa[taxon.parent - 1].name} species{taxon.name.removeprefix('Species')}")


def plan_genomes(scenario: MetagenomeScenario, taxa: list[Taxon]) -> Iterator[GenomePlan]:
    """List the genomes: genus by genus, in each the references' species first, then the aliens."""
    genera = [taxon for taxon in taxa if taxon.rank == "genus"]
    species = [taxon for taxon in taxa if taxon.rank == "species"]
    of_genus = scenario.species + scenario.novel
    number = 0
    for at, taxon in enumerate(species):
        genus, one = divmod(at, of_genus)
        known = one < scenario.species
        for strain in range(scenario.references + scenario.strains if known else 1):
            role = NOVEL if not known else REFERENCE if strain < scenario.references else STRAIN
            number += 1
            title = f"{taxon.name} strain {strain + 1}"
            yield GenomePlan(_name(number), role, title, taxon.taxid, genera[genus].taxid, genus, one, strain)
    for alien in range(scenario.aliens):
        yield GenomePlan(_name(number + alien + 1), ALIEN, f"alien {alien + 1}", NO_TAXID, NO_TAXID, 0, 0, alien)


def _name(number: int) -> str:
    return f"SIM_{number:06}.1"


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
                yield SimulatedGenome(plan, BASES[self._alien(plan.strain).codes])
                continue
            key = (plan.genus, plan.species)
            if mixed is None or mixed[0] != key:
                mixed = (key, self._mixed(*key))
            draws = self._draws(_STRAIN, *key, plan.strain)
            strain = self._diverged(mixed[1], self.scenario.strain_divergence, draws)
            yield SimulatedGenome(plan, BASES[strain.codes])

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
