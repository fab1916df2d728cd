"""What dumps and matrices can be written as: the files of each format, what it needs, and who writes it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import IO

from oclgenomics.io.packed_file import refuse_packed
from oclgenomics.kmers.database.kmer_set import SelectedKmers
from oclgenomics.kmers.formats.fastk import fastk_names, write_fastk
from oclgenomics.kmers.formats.kmc import write_kmc
from oclgenomics.kmers.formats.npz import write_matrix_npz, write_npz
from oclgenomics.kmers.formats.parquet import require_pyarrow, write_matrix_parquet, write_parquet
from oclgenomics.kmers.formats.text import write_fasta, write_jellyfish, write_matrix_tsv, write_tsv
from oclgenomics.kmers.options import DumpFormat, MatrixFormat
from oclgenomics.kmers.sets.rows import MatrixRows

TEXTS = ("tsv", "jellyfish", "fasta")
WRITERS: dict[DumpFormat, Callable[..., None]] = {
    "tsv": write_tsv, "jellyfish": write_jellyfish, "fasta": write_fasta, "npz": write_npz, "kmc": write_kmc,
    "fastk": write_fastk, "parquet": write_parquet,
}  # fmt: skip


def check_export(output: str, format: DumpFormat | MatrixFormat) -> None:
    """Refuse a compressed name for what is no text, and a format whose package is missing.

    Raises
    ------
    UsageError
    MissingDependencyError
    """
    if format not in TEXTS:
        refuse_packed(output, format)
    if format == "parquet":
        require_pyarrow()


def dump_names(output: str, format: str) -> list[str]:
    """Return the files that a dump writes, of which a database of KMC and a table of FastK have two."""
    if format == "fastk":
        return fastk_names(output)
    return [f"{output}.kmc_pre", f"{output}.kmc_suf"] if format == "kmc" else [output]


def write_dump(kmers: SelectedKmers, streams: Sequence[IO[bytes]], format: DumpFormat) -> None:
    """Write k-mers and their counts to the files of `dump_names`."""
    WRITERS[format](kmers, *streams)


def write_matrix(
    rows: MatrixRows, stream: IO[bytes], format: MatrixFormat, tmp_dir: str | os.PathLike[str] | None
) -> int:
    """Write the rows of a matrix; return how many there are."""
    if format == "npz":
        return write_matrix_npz(rows, stream, tmp_dir)
    return (write_matrix_tsv if format == "tsv" else write_matrix_parquet)(rows, stream)
