"""Writes counted k-mers to files in the formats of other programs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Literal, get_args

from oclgenomics.errors import OutputError, ParameterError, UsageError
from oclgenomics.io.packed_file import open_packed, refuse_packed
from oclgenomics.kmers.formats.kmc import write_kmc
from oclgenomics.kmers.formats.npz import write_npz
from oclgenomics.kmers.formats.parquet import require_pyarrow, write_parquet
from oclgenomics.kmers.formats.select import SelectedKmers
from oclgenomics.kmers.formats.text import write_fasta, write_tsv
from oclgenomics.kmers.options import MAX_COUNTER
from oclgenomics.kmers.source import KmerSource, opened

__all__ = ["FORMATS", "DumpFormat", "dump"]

DumpFormat = Literal["tsv", "fasta", "npz", "kmc", "parquet"]
TEXTS = ("tsv", "fasta")
FORMATS: tuple[DumpFormat, ...] = get_args(DumpFormat)
WRITERS: dict[DumpFormat, Callable[..., None]] = {
    "tsv": write_tsv,
    "fasta": write_fasta,
    "npz": write_npz,
    "kmc": write_kmc,
    "parquet": write_parquet,
}


def dump(
    source: KmerSource,
    output: str | os.PathLike[str],
    format: DumpFormat = "tsv",
    *,
    min_count: int = 1,
    max_count: int = MAX_COUNTER,
) -> None:
    """Write k-mers and their counts in ascending order; no device is needed, and no set is whole in memory.

    Parameters
    ----------
    source : path or KmerSet
    output : path
        The file to write, "-" for standard output; 'kmc' makes the files `output`.kmc_pre and `output`.kmc_suf. Text is
        packed if the name ends in .gz, .bz2, .xz or .zst.
    format : {'tsv', 'fasta', 'npz', 'kmc', 'parquet'}
        A line a k-mer; a record a k-mer; arrays for NumPy; a database of KMC; a table in Apache Parquet.
    min_count, max_count : int
        K-mers with lower or higher counts are left out.

    Raises
    ------
    UsageError
        Another format; a range of counts without a count in it; 'kmc' for standard output; a packed name for what is no
        text.
    MissingDependencyError
        'parquet' without pyarrow.
    InputError
        The database is missing or damaged.
    OutputError
        A file cannot be written; nothing half written is left.

    Examples
    --------
    >>> from oclgenomics.kmers import dump
    >>> dump("reads.db", "reads.parquet", "parquet", min_count=2)  # doctest: +SKIP
    """
    names = _names(os.fspath(output), format)
    if format not in TEXTS:
        refuse_packed(os.fspath(output), format)
    if format == "parquet":
        require_pyarrow()
    with contextlib.ExitStack() as files:
        kmers = SelectedKmers(files.enter_context(opened(source)), min_count, max_count)
        WRITERS[format](kmers, *[files.enter_context(open_packed(name, "wb", OutputError)) for name in names])


def _names(output: str, format: DumpFormat) -> list[str]:
    """The files that a dump writes."""
    if format not in FORMATS:
        raise ParameterError("format", f"choose one of {', '.join(FORMATS)}", format)
    if format != "kmc":
        return [output]
    if output == "-":
        raise UsageError("`format=kmc` writes two files, which standard output does not hold: name `output`")
    return [f"{output}.kmc_pre", f"{output}.kmc_suf"]
