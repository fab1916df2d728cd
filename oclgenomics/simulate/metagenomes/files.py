"""A folder of simulated genomes: a file for each, the taxonomy, and the table of all, which is written last."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError, OutputError
from oclgenomics.io.atomic_file import whole_file
from oclgenomics.sequence.records import read_records
from oclgenomics.simulate.metagenomes.genomes import GenomePlan, GenomeRole, SimulatedGenome, Taxon
from oclgenomics.simulate.sequences import fasta_record

FOLDERS: dict[GenomeRole, str] = {"reference": "references", "strain": "strains", "novel": "novel", "alien": "aliens"}
TABLE = "genomes.tsv"
TABLE_COLUMNS = ("file", "role", "name", "species_taxid", "genus_taxid", "letters")
_MAX_DIGITS = 15


@dataclass(frozen=True)
class ListedGenome:
    """A row of the table: where a genome is, and what it is of."""

    path: Path
    role: GenomeRole
    name: str
    species_taxid: int
    genus_taxid: int
    letters: int


@contextlib.contextmanager
def whole_folder(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a folder to write to, which gets its name when the body of the `with` statement has ended.

    Until then it has another one, with a dot before it, so what a killed process leaves does not look like a folder of
    genomes. On an error it is removed.

    Raises
    ------
    OutputError
        The folder holds something already, or cannot be made.
    """
    root = Path(folder)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise OutputError(f"{root}: is there already, and not empty; name another folder")
    begun = root.parent / f".{root.name}.{os.getpid()}.unfinished"
    _make_folder(begun)
    try:
        yield begun
        try:
            begun.replace(root)
        except OSError as error:
            raise OutputError(f"{root}: cannot be made ({error.strerror or error})") from error
    finally:
        shutil.rmtree(begun, ignore_errors=True)


def write_genomes(folder: str | os.PathLike[str], genomes: Iterable[SimulatedGenome]) -> list[ListedGenome]:
    """Write a FASTA file for each genome, the accessions of references, and the table.

    Raises
    ------
    OutputError
        A file cannot be written, or the folder holds genomes already.
    """
    root = Path(folder)
    if (root / TABLE).exists():
        raise OutputError(f"{root}: holds simulated genomes already; name another folder")
    for name in (*FOLDERS.values(), "taxonomy"):
        _make_folder(root / name)
    listed = []
    for genome in genomes:
        plan = genome.plan
        file = f"{FOLDERS[plan.role]}/{plan.name.removesuffix('.1')}.fna"
        with whole_file(root / file) as sink:
            sink.write(_fasta(plan, genome.letters))
        listed.append(
            ListedGenome(root / file, plan.role, plan.name, plan.species_taxid, plan.genus_taxid, len(genome.letters))
        )
    accessions = [f"{one.name.removesuffix('.1')}\t{one.name}\t{one.species_taxid}\t0\n" for one in listed
                  if one.role == "reference"]  # fmt: skip
    _write(root / "taxonomy" / "simulated.accession2taxid", ["accession\taccession.version\ttaxid\tgi\n", *accessions])
    rows = [
        f"{one.path.relative_to(root)}\t{one.role}\t{one.name}\t{one.species_taxid}\t{one.genus_taxid}\t{one.letters}\n"
        for one in listed
    ]
    _write(root / TABLE, ["\t".join(TABLE_COLUMNS) + "\n", *rows])
    return listed


def write_taxonomy(folder: str | os.PathLike[str], taxa: Sequence[Taxon]) -> None:
    """Write nodes.dmp, names.dmp and an empty merged.dmp.

    Raises
    ------
    OutputError
        A file cannot be written.
    """
    root = Path(folder)
    _make_folder(root)
    _write(root / "nodes.dmp", (f"{one.taxid}\t|\t{one.parent}\t|\t{one.rank}\t|\t\t|\n" for one in taxa))
    _write(root / "names.dmp", (f"{one.taxid}\t|\t{one.name}\t|\t\t|\tscientific name\t|\n" for one in taxa))
    _write(root / "merged.dmp", ())


def read_table(folder: str | os.PathLike[str]) -> list[ListedGenome]:
    """Read the table of a folder that `write_genomes` made.

    Raises
    ------
    InputError
        There is no such table, or it is damaged.
    """
    table = Path(folder) / TABLE
    try:
        lines = table.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = "no folder that `oclgenomics simulate genomes` wrote"
        raise InputError(f"cannot be read: {why}", source=str(table)) from error
    if not lines or tuple(lines[0].split("\t")) != TABLE_COLUMNS:
        raise InputError(f"has not the columns {', '.join(TABLE_COLUMNS)}", source=str(table), line=1)
    return list(_listed(table, lines[1:]))


def _listed(table: Path, lines: Sequence[str]) -> Iterator[ListedGenome]:
    for number, line in enumerate(lines, 2):
        fields = line.split("\t")
        known = len(fields) == len(TABLE_COLUMNS) and all(_is_number(text) for text in fields[3:])
        role = next((one for one in get_args(GenomeRole) if known and one == fields[1]), None)
        if role is None:
            raise InputError("is not a row of simulated genomes", source=str(table), line=number)
        yield ListedGenome(table.parent / fields[0], role, fields[2], *map(int, fields[3:]))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS


def read_text(genome: ListedGenome) -> NDArray[np.uint8]:
    """Read the bases of a genome.

    Raises
    ------
    InputError
        The file cannot be read, or is not the one that was written.
    """
    records = list(read_records(genome.path))
    if len(records) != 1 or len(records[0].letters) != genome.letters:
        raise InputError(f"is not one sequence of {genome.letters:,} bases, as {TABLE} says", source=str(genome.path))
    return np.frombuffer(records[0].letters, np.uint8)


def _fasta(plan: GenomePlan, letters: NDArray[np.uint8]) -> bytes:
    """A record; headers of all but aliens tell the taxon of the species."""
    taxid = f"|kraken:taxid|{plan.species_taxid}" if plan.species_taxid else ""
    return fasta_record(f"{plan.name}{taxid} {plan.title}", letters)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({error.strerror or error})") from error


def _write(path: Path, lines: Iterable[str]) -> None:
    with whole_file(path) as sink:
        sink.write("".join(lines).encode())
