"""Samples: databases, or reads whose k-mers are counted on the way."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator

from oclgenomics.errors import OutputError
from oclgenomics.io.atomic_file import WholeFile
from oclgenomics.io.unnamed_file import open_unnamed, temporary_folder
from oclgenomics.kmers.api import count_to_database
from oclgenomics.kmers.database.layout import MAGIC
from oclgenomics.kmers.database.reader import KmerDatabase
from oclgenomics.kmers.database.section_file import SectionFile
from oclgenomics.kmers.options import CountOptions
from oclgenomics.runtime import Engine
from oclgenomics.sequence.files import SequenceFiles

__all__ = ["counted_for_a_while", "is_database"]


def is_database(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a k-mer database does. Pipes, standard input and what cannot be read are none."""
    try:
        with open(path, "rb", buffering=0) as file:
            return stat.S_ISREG(os.fstat(file.fileno()).st_mode) and file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


@contextlib.contextmanager
def counted_for_a_while(
    source: SequenceFiles,
    options: CountOptions,
    *,
    engine: Engine,
    threads: int | None = None,
    min_quality: int | None = None,
    tmp_dir: str | os.PathLike[str] | None = None,
    on_spill: Callable[[int, int], None] | None = None,
) -> Iterator[KmerDatabase]:
    """Count the k-mers of FASTA and FASTQ files into a database without a name, and lend it.

    Nothing of it is left afterwards. Parameters and errors are those of `oclgenomics.kmers.count_to_database`.

    Raises
    ------
    OutputError
        The folder for temporary files is missing, not writable or full.
    """
    folder = temporary_folder(tmp_dir)
    with open_unnamed(folder) as handle:
        name = f"a temporary database in {folder}"
        count_to_database(
            source, options, WholeFile(name, handle, OutputError), engine=engine, threads=threads,
            min_quality=min_quality, tmp_dir=tmp_dir, on_spill=on_spill,
        )  # fmt: skip
        with KmerDatabase(SectionFile(name, os.dup(handle))) as database:
            yield database
