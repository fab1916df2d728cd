"""A third world of genomes, unlike those of `oclgenomics simulate genomes` and classify_genes.py, and reads of its own.

The species of a genus are the tips of a random (Yule) tree, so some are near and others far, where the other two worlds
have stars; strains are those of a smaller tree. Along every branch there are substitutions, three times as many
transitions as transversions, at rates that differ between blocks of about 1,000 bases; insertions and deletions whose
lengths follow a power law; inversions and translocations of 1 to 50 thousand bases; losses of stretches; stretches from
a genome of any other genus, which came before and may have been of a tip, so from a recent relative of a reference; and
sequence that no other genome has. All genomes of the world have copies of an operon of ribosomal RNA, whose conserved
parts hardly change, and insertion sequences that jump between genera.

Reads of 150 bp and less have the errors of a sequencer whose quality falls along the read: 0.1 % at the start to 2.5 %
at the end, times a factor of each read, most of them substitutions, some indels, and one N in a thousand bases; a third
of the reads are trimmed. Long reads have lengths from a lognormal distribution and 4 % of errors, half of them indels
in runs of one base.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from oclgenomics.simulate.metagenomes.files import ListedGenome, read_text, write_genomes, write_taxonomy
from oclgenomics.simulate.metagenomes.genomes import ALIEN, MetagenomeScenario, SimulatedGenome, plan_genomes, plan_taxa

__all__ = ["ReadKind", "TreeWorld", "write_tree_reads", "write_tree_world"]

LETTERS = np.frombuffer(b"ACGT", np.uint8)
COMPLEMENT = np.zeros(256, np.uint8)
COMPLEMENT[LETTERS] = LETTERS[::-1]
BLOCK = 1_000  # bases of one rate
CONSERVED, FAST = 0.01, 2.0  # rates of the conserved and of the variable parts of ribosomal RNA
OPERON, COPIES = 5_000, 4
ELEMENTS, ELEMENT = 8, 1_300
DEEP = 0.2  # of the ancestors of genera, from that of all
LONGEST = 60  # insertion or deletion


@dataclass(frozen=True)
class TreeWorld:
    """What is simulated.

    Attributes
    ----------
    plan : MetagenomeScenario
        Genera, species, strains, novel species, aliens, length; of its divergences the largest is the depth of trees.
    indels, moves, losses, gains : float
        Events for each substitution: short indels; inversions and translocations, losses, and gains for each thousand.
    """

    plan: MetagenomeScenario
    indels: float = 0.08
    moves: float = 0.15
    losses: float = 0.4
    gains: float = 0.4


@dataclass
class Genome:
    """Bases as 0 to 3, and the rate of each."""

    codes: NDArray[np.uint8]
    rates: NDArray[np.float32]


def write_tree_world(folder: Path, world: TreeWorld, seed: int) -> list[ListedGenome]:
    """Write a folder of the form that `oclgenomics simulate genomes` writes."""
    listed = write_genomes(folder, _genomes(world, seed))
    write_taxonomy(folder / "taxonomy", plan_taxa(world.plan))
    return listed


def _genomes(world: TreeWorld, seed: int) -> Iterator[SimulatedGenome]:
    plan, draws = world.plan, np.random.default_rng([seed, 3])
    plans = list(plan_genomes(plan, plan_taxa(plan)))
    operon = Genome(_codes(draws, OPERON), np.repeat(np.tile(np.float32([CONSERVED, FAST]), OPERON // 500), 250))
    elements = [_codes(draws, ELEMENT) for _ in range(ELEMENTS)]
    root, pool = _random(draws, plan.length), list[Genome]()
    tips: dict[tuple[int, int], Genome] = {}
    for genus in range(plan.genera):
        ancestor = _evolved(root, DEEP * draws.uniform(0.7, 1.3), world, pool, draws)
        for _ in range(COPIES):
            own = _evolved(operon, DEEP, world, [], draws)
            ancestor = _inserted(ancestor, int(draws.integers(len(ancestor.codes))), own)
        species = sorted({one.species for one in plans if one.genus == genus and one.role != ALIEN})
        grown = _tree(ancestor, len(species), max(plan.species_divergence), world, pool, draws)
        for number, tip in zip(species, grown, strict=True):
            for _ in range(int(draws.poisson(3))):
                element = elements[int(draws.integers(ELEMENTS))]
                whole = Genome(element, np.ones(ELEMENT, np.float32))
                tip = _inserted(tip, int(draws.integers(len(tip.codes))), whole)
            tips[genus, number] = tip
            pool.append(tip)
    strains: dict[tuple[int, int], list[Genome]] = {}
    for key, tip in tips.items():
        count = sum((one.genus, one.species) == key and one.role != ALIEN for one in plans)
        strains[key] = _tree(tip, count, max(plan.strain_divergence), world, pool, draws)
    for one in plans:
        genome = _random(draws, plan.length) if one.role == ALIEN else strains[one.genus, one.species].pop()
        yield SimulatedGenome(one, LETTERS[genome.codes])


def _codes(draws: np.random.Generator, size: int) -> NDArray[np.uint8]:
    """Random bases with a share of G and C that changes along the way, as it does in genomes."""
    strong = np.repeat(draws.uniform(0.3, 0.7, -(-size // BLOCK)), BLOCK)[:size]
    return np.where(draws.random(size) < strong, 1 + draws.integers(0, 2, size), 3 * draws.integers(0, 2, size)).astype(
        np.uint8
    )


def _random(draws: np.random.Generator, size: int) -> Genome:
    blocks = draws.gamma(0.9, 1 / 0.9, -(-size // BLOCK)).astype(np.float32)
    return Genome(_codes(draws, size), np.repeat(blocks, BLOCK)[:size])


def _tree(
    root: Genome, tips: int, depth: float, world: TreeWorld, pool: list[Genome], draws: np.random.Generator
) -> list[Genome]:
    """The tips of a tree that splits at random times, each as far from its root."""
    lineages, at = [root], 0.0
    waits = draws.exponential(1 / np.arange(1, tips + 1))
    waits *= depth / waits.sum()
    for wait in waits.tolist():
        lineages = [_evolved(one, wait, world, pool, draws) for one in lineages]
        at += wait
        if len(lineages) < tips:
            lineages.append(lineages[int(draws.integers(len(lineages)))])
    order = draws.permutation(tips).tolist()
    return [lineages[place] for place in order]


def _evolved(genome: Genome, branch: float, world: TreeWorld, pool: list[Genome], draws: np.random.Generator) -> Genome:
    """A descendant at the end of a branch of so many substitutions for each base."""
    found = _short_indels(_substituted(genome, branch, draws), branch, world, draws)
    events = branch * len(genome.codes) / 1_000
    for _ in range(int(draws.poisson(events * world.moves))):
        found = _moved(found, draws)
    for _ in range(int(draws.poisson(events * world.losses))):
        begin, size = _stretch(found, 300, draws)
        found = _cut(found, begin, begin + size)[0]
    for _ in range(int(draws.poisson(events * world.gains))):
        place = int(draws.integers(len(found.codes)))
        if pool and draws.random() < 0.6:
            donor = pool[int(draws.integers(len(pool)))]
            begin, size = _stretch(donor, 800, draws)
            piece = _cut(donor, begin, begin + size)[1]
        else:
            piece = _random(draws, min(int(draws.lognormal(6, 0.8)) + 30, 20_000))
        found = _inserted(found, place, piece)
    return found


def _substituted(genome: Genome, branch: float, draws: np.random.Generator) -> Genome:
    changed = np.flatnonzero(draws.random(len(genome.codes), np.float32) < 1 - np.exp(-branch * genome.rates))
    codes = genome.codes.copy()
    steps = draws.choice((2, 1, 3), len(changed), p=(0.6, 0.2, 0.2)).astype(np.uint8)  # 2: a transition
    codes[changed] = (codes[changed] + steps) & 3
    return Genome(codes, genome.rates)


def _short_indels(genome: Genome, branch: float, world: TreeWorld, draws: np.random.Generator) -> Genome:
    size = len(genome.codes)
    count = int(draws.poisson(branch * world.indels * size))
    places = np.sort(draws.choice(size, min(count, size // 100), replace=False))
    weights = genome.rates[places]
    places = places[draws.random(len(places)) < np.minimum(weights, 1)]  # fewer where little changes
    lengths = np.minimum(draws.zipf(1.7, len(places)), LONGEST)
    cut = draws.random(len(places)) < 0.55
    keep = np.ones(size, bool)
    for place, length in zip(places[cut].tolist(), lengths[cut].tolist(), strict=True):
        keep[place : place + length] = False
    at = np.repeat(places[~cut], lengths[~cut])
    moved = (np.cumsum(keep) - keep)[at]
    new = draws.integers(0, 4, len(at), np.uint8)
    return Genome(np.insert(genome.codes[keep], moved, new), np.insert(genome.rates[keep], moved, genome.rates[at]))


def _stretch(genome: Genome, usual: int, draws: np.random.Generator) -> tuple[int, int]:
    size = min(int(usual * draws.lognormal(0.5, 0.8)), len(genome.codes) // 4)
    return int(draws.integers(len(genome.codes) - size)), size


def _cut(genome: Genome, begin: int, end: int) -> tuple[Genome, Genome]:
    """A genome without a stretch, and the stretch."""
    left = [np.concatenate([part[:begin], part[end:]]) for part in (genome.codes, genome.rates)]
    return Genome(left[0], left[1]), Genome(genome.codes[begin:end], genome.rates[begin:end])


def _inserted(genome: Genome, place: int, piece: Genome) -> Genome:
    parts = ((genome.codes, piece.codes), (genome.rates, piece.rates))
    codes, rates = (np.concatenate([whole[:place], new, whole[place:]]) for whole, new in parts)
    return Genome(codes, rates)


def _moved(genome: Genome, draws: np.random.Generator) -> Genome:
    """An inversion, or a stretch that goes elsewhere."""
    begin = int(draws.integers(len(genome.codes) // 2))
    end = begin + int(draws.integers(1_000, 50_000)) % (len(genome.codes) // 2) + 1
    left, piece = _cut(genome, begin, end)
    turned = Genome(3 - piece.codes[::-1], piece.rates[::-1])
    if draws.random() < 0.5:
        return _inserted(left, begin, turned)
    return _inserted(left, int(draws.integers(len(left.codes))), piece)


@dataclass(frozen=True)
class ReadKind:
    """Reads of a set: bases, of mates if they are pairs that span `insert`, and whether they are long."""

    length: int
    insert: int = 0
    long: bool = False


def write_tree_reads(
    folder: Path, name: str, genomes: list[ListedGenome], weights: list[float], kind: ReadKind, reads: int, seed: int
) -> tuple[list[Path], Path]:
    """Write FASTQ of reads or pairs, and the table of what they are of; return the files and the table."""
    draws = np.random.default_rng([seed, 9])
    texts = [read_text(one) for one in genomes]
    which = draws.choice(len(genomes), reads, p=np.array(weights) / sum(weights))
    files = [folder / f"{name}_{mate + 1}.fq" for mate in range(1 + (kind.insert > 0))]
    lines: list[list[bytes]] = [[] for _ in files]
    told = []
    for number, place in enumerate(which.tolist()):
        text, genome = texts[place], genomes[place]
        length = kind.length
        if kind.long:
            length = int(np.clip(length * draws.lognormal(-0.18, 0.6), 300, 40_000))
        span = max(int(draws.normal(kind.insert, 40)), length) if kind.insert else length
        span = min(span, len(text))
        begin = int(draws.integers(len(text) - span + 1))
        piece = text[begin : begin + span]
        if draws.random() < 0.5:
            piece = COMPLEMENT[piece][::-1]
        ends = [piece[:length], COMPLEMENT[piece][::-1][:length]]
        for out, end in zip(lines, ends, strict=False):
            read = _long_errors(end, draws) if kind.long else _short_errors(end, draws)
            out.append(b"@r%d\n%b\n+\n%b\n" % (number, read.tobytes(), b"I" * len(read)))
        taxids = (0, 0) if genome.role == ALIEN else (genome.species_taxid, genome.genus_taxid)
        told.append(f"r{number}\t{taxids[0]}\t{taxids[1]}\t{genome.role}\n")
    for path, records in zip(files, lines, strict=True):
        path.write_bytes(b"".join(records))
    truth = folder / f"{name}.tsv"
    truth.write_text("".join(told))
    return files, truth


def _short_errors(read: NDArray[np.uint8], draws: np.random.Generator) -> NDArray[np.uint8]:
    size = len(read)
    if draws.random() < 0.33:
        size = int(draws.integers(size * 2 // 3, size + 1))
    found = read[:size].copy()
    rate = (0.001 + 0.024 * (np.arange(size) / max(len(read), 1)) ** 2) * draws.lognormal(-0.3, 0.8)
    wrong = np.flatnonzero(draws.random(size) < rate)
    found[wrong] = LETTERS[draws.integers(0, 4, len(wrong))]
    found[draws.random(size) < 0.001] = ord("N")
    for place in wrong[draws.random(len(wrong)) < 0.06].tolist():
        if draws.random() < 0.5:
            found = np.delete(found, min(place, len(found) - 1))
        else:
            found = np.insert(found, min(place, len(found)), LETTERS[int(draws.integers(4))])
    return found


def _long_errors(read: NDArray[np.uint8], draws: np.random.Generator) -> NDArray[np.uint8]:
    found = read.copy()
    wrong = draws.random(len(found)) < 0.02
    found[wrong] = LETTERS[draws.integers(0, 4, int(wrong.sum()))]
    runs = np.append(found[1:] == found[:-1], False)  # a base whose next one is the same is lost or doubled more often
    rate = np.where(runs, 0.04, 0.014)
    lost, doubled = draws.random(len(found)) < 0.6 * rate, draws.random(len(found)) < 0.4 * rate
    return np.repeat(found, np.where(lost, 0, 1 + doubled))
