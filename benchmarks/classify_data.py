"""Large sets for throughput: families of random genomes with a taxonomy, and reads of them.

A species has some strains, copies of one random genome with substitutions. What the letters are decides how many
locations a feature has, and so the speed; families stand for the strains that collections of genomes have of a species.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "COMPLEMENT", "LETTERS", "LINE", "Genomes", "Shape", "fastq", "make_genomes", "make_reads", "write_taxonomy",
]  # fmt: skip

LINE = 80
LETTERS = np.frombuffer(b"ACGT", np.uint8)
COMPLEMENT = np.zeros(256, np.uint8)
COMPLEMENT[LETTERS] = LETTERS[::-1]
FAMILY_TAXID, SPECIES_TAXID = 1000, 1_000_000
GENERA_EACH = 4  # species of a genus


@dataclass(frozen=True)
class Shape:
    """How large a set is.

    Attributes
    ----------
    species, strains : int
        Strains are of each species.
    letters : int
        Of a genome.
    substitutions : float
        Share of letters that a strain has changed.
    """

    species: int
    strains: int = 4
    letters: int = 2_000_000
    substitutions: float = 0.01


@dataclass(frozen=True)
class Genomes:
    """References on disk.

    Attributes
    ----------
    references : list of Path
        A file of each species.
    taxonomy : Path
    shape : Shape
    bytes : int
        Of all files.
    """

    references: list[Path]
    taxonomy: Path
    shape: Shape
    bytes: int


def make_genomes(folder: Path, shape: Shape, seed: int) -> Genomes:
    """Write the genomes and their taxonomy into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(os.cpu_count()) as processes:
        jobs = [processes.submit(_write_species, folder, shape, seed, number) for number in range(shape.species)]
        references = [job.result() for job in jobs]
    taxonomy = folder / "taxonomy"
    taxonomy.mkdir(exist_ok=True)
    _write_taxonomy(taxonomy, shape.species)
    return Genomes(references, taxonomy, shape, sum(path.stat().st_size for path in references))


def _species(shape: Shape, seed: int, number: int) -> Iterable[NDArray[np.uint8]]:
    draws = np.random.default_rng([seed, number])
    base = LETTERS[draws.integers(0, 4, shape.letters, np.uint8)]
    for _ in range(shape.strains):
        strain = base.copy()
        changed = draws.integers(0, shape.letters, int(shape.letters * shape.substitutions))
        strain[changed] = LETTERS[draws.integers(0, 4, len(changed), np.uint8)]
        yield strain


def _write_species(folder: Path, shape: Shape, seed: int, number: int) -> Path:
    path = folder / f"species_{number:05}.fna"
    rows = -(-shape.letters // LINE)
    with path.open("wb") as file:
        for strain, letters in enumerate(_species(shape, seed, number)):
            # the form that all programs take a taxid from
            accession = f"SYN_{number * shape.strains + strain:06}.1"
            file.write(f">kraken:taxid|{SPECIES_TAXID + number}|{accession}\n".encode())
            lines = np.full((rows, LINE + 1), ord("\n"), np.uint8)
            padded = np.zeros(rows * LINE, np.uint8)
            padded[: shape.letters] = letters
            lines[:, :LINE] = padded.reshape(rows, LINE)
            file.write(lines.tobytes()[: shape.letters + shape.letters // LINE] + b"\n")
    return path


def _write_taxonomy(folder: Path, species: int) -> None:
    nodes = [(1, 1, "no rank", "root"), (2, 1, "superkingdom", "Synthetica")]
    genera = range(-(-species // GENERA_EACH))
    nodes += [(FAMILY_TAXID + genus, 2, "genus", f"Genus{genus}") for genus in genera]
    for number in range(species):
        genus = number // GENERA_EACH
        nodes.append((SPECIES_TAXID + number, FAMILY_TAXID + genus, "species", f"Genus{genus} species{number}"))
    write_taxonomy(folder, nodes)


def write_taxonomy(folder: Path, nodes: Iterable[tuple[int, int, str, str]]) -> None:
    """Write taxa, each with the taxids of itself and its parent, rank and name, in the format of NCBI."""
    lines = (f"{taxid}\t|\t{parent}\t|\t{rank}\t|\t\t|\n" for taxid, parent, rank, _ in nodes)
    (folder / "nodes.dmp").write_text("".join(lines))
    named = (f"{taxid}\t|\t{name}\t|\t\t|\tscientific name\t|\n" for taxid, _, _, name in nodes)
    (folder / "names.dmp").write_text("".join(named))


def make_reads(
    folder: Path, genomes: Genomes, seed: int, reads: int, length: int, *, insert: int = 0, errors: float = 0.01
) -> list[Path]:
    """Write FASTQ of reads, or of pairs of mates that span `insert` letters: one file, or two."""
    shape = genomes.shape
    chosen = min(shape.species, 64)  # species in the sample
    counts = np.full(chosen, reads // chosen)
    counts[: reads % chosen] += 1
    first = np.cumsum(counts) - counts
    numbers = np.linspace(0, shape.species - 1, chosen).astype(int)
    with ProcessPoolExecutor(os.cpu_count()) as processes:
        jobs = [
            processes.submit(_sample, shape, seed, int(number), int(begin), int(count), length, insert, errors)
            for number, begin, count in zip(numbers, first, counts, strict=True)
        ]
        paths = [folder / f"reads_{length}{mate}.fq" for mate in (("_1", "_2") if insert else ("",))]
        with paths[0].open("wb") as one, paths[-1].open("wb" if insert else "ab") as two:
            for job in jobs:
                for file, records in zip((one, two), job.result(), strict=False):
                    file.write(records)
    return paths


def _sample(
    shape: Shape, seed: int, number: int, first: int, count: int, length: int, insert: int, errors: float
) -> list[bytes]:
    strains = np.stack(list(_species(shape, seed, number)))
    draws = np.random.default_rng([seed, number, length])
    span = insert or length
    strain = draws.integers(0, len(strains), count)
    begin = draws.integers(0, shape.letters - span, count)
    ends = begin + span - length
    places = (begin, ends) if insert else (begin,)
    turned = draws.random(count) < 0.5
    found = []
    for mate, starts in enumerate(places):
        letters = strains[strain[:, None], starts[:, None] + np.arange(length)]
        backwards = turned != bool(mate)
        letters[backwards] = COMPLEMENT[letters[backwards]][:, ::-1]
        wrong = draws.random(letters.shape, np.float32) < errors
        letters[wrong] = LETTERS[draws.integers(0, 4, int(wrong.sum()), np.uint8)]
        found.append(fastq(letters, first))
    return found


def fastq(letters: NDArray[np.uint8], first: int) -> bytes:
    """Make records of one length at once."""
    count, length = letters.shape
    head, middle = np.frombuffer(b"@r000000000\n", np.uint8), np.frombuffer(b"\n+\n", np.uint8)
    rows = np.empty((count, len(head) + 2 * length + len(middle) + 1), np.uint8)
    rows[:, : len(head)] = head
    numbers = np.arange(first, first + count)
    for place in range(9):
        rows[:, 10 - place] = ord("0") + numbers // 10**place % 10
    rows[:, len(head) : len(head) + length] = letters
    rows[:, len(head) + length : len(head) + length + 3] = middle
    rows[:, -length - 1 : -1] = ord("I")
    rows[:, -1] = ord("\n")
    return rows.tobytes()
