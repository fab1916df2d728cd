"""The expected signal of the sequences of a file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from oclgenomics.errors import InputError, ParameterError, check_choice
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.sequence.defects import Census
from oclgenomics.sequence.records import read_records
from oclgenomics.signals.kmers import KmerModel, Molecule, kmer_tracks
from oclgenomics.signals.sequencing import molecule_of

MOLECULES = ("dna", "rna")
ENDINGS = (".gz", ".fasta", ".fa", ".fna", ".fastq", ".fq")


def build_squiggle(
    path: str | os.PathLike[str], model: KmerModel, *, molecule: Molecule | None = None, name: str | None = None
) -> Squiggle:
    """Return the signal that is expected of the sequences of a file.

    Parameters
    ----------
    path : str or path-like
        FASTA, or FASTQ whose qualities are left alone, uncompressed or compressed; "-" for standard input. U is T.
        K-mers with an ambiguous base are left out, and no alignment leads over them.
    model : KmerModel
    molecule : {'dna', 'rna'}, optional
        DNA has both strands, each read from its 5' end. RNA has one, which is read from its 3' end. If not given, what
        the model is for.
    name : str, optional
        Of the reference; if not given, the name of the file without its extension.

    Returns
    -------
    Squiggle

    Raises
    ------
    InputError
        The file cannot be read, is hardly of nucleotides (a protein), or has no k-mer at all.
    ParameterError
        There is no such molecule, the model's pore is for the other one, or the name cannot be printed.
    """
    name = _name(os.fspath(path)) if name is None else name
    if not (name.strip() and name.isprintable()):  # a tab or a newline in it would spoil tables
        raise ParameterError("name", "a name is one line of characters that can be printed", repr(name))
    if molecule is not None:
        check_choice("molecule", molecule, MOLECULES)
    molecule = molecule_of(model, molecule)
    source = os.fspath(path)
    records = list(read_records(source))
    Census.of(record.letters for record in records).check(source)
    found = kmer_tracks([record.letters for record in records], model.k, molecule)
    if not len(found):
        raise InputError(f"has no {model.k} bases A, C, G, T or U in a row: nothing to align with", source=source)
    return Squiggle(
        name=name, records=tuple(record.name for record in records),
        lengths=np.array([len(record.letters) for record in records], np.int64), k=model.k, model=model.name,
        molecule=molecule, levels=model.mean[found.kmers], tracks=found.tracks, track_record=found.record,
        track_strand=found.strand, track_first=found.first, model_checksum=model.checksum, pore=model.pore,
        rate=model.rate,
    )  # fmt: skip


def _name(source: str) -> str:
    """The name of a file without what says its format."""
    name = "reference" if source == "-" else Path(source).name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return name or "reference"
