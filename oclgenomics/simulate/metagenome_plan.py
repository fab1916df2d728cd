"""Which genomes a simulated metagenome has, and the taxonomy above them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from oclgenomics.errors import ParameterError
from oclgenomics.simulate.limits import check_range

__all__ = [
    "ALIEN",
    "NOVEL",
    "REFERENCE",
    "STRAIN",
    "GenomePlan",
    "GenomeRole",
    "MetagenomeScenario",
    "Taxon",
    "plan_genomes",
    "plan_taxa",
]

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


@dataclass(frozen=True)
class MetagenomeScenario:
    """What is simulated of genomes. Shares are of the letters of a genome, divergences of the letters substituted.

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
        Letters of a genome before insertions and deletions.
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
        Share of tandem repeats of units of 1 to 6 letters.

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
            low, high = getattr(self, name)
            check_range(name, low, 0, 1 if name == "gc" else 0.5)
            check_range(name, high, 0, 1 if name == "gc" else 0.5)
            if low > high:
                raise ParameterError(name, "give the least before the most", (low, high))
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
