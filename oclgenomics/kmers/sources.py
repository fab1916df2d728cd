"""Where k-mers come from: sets, databases, and reads, which are counted on the way."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any, TypeGuard, cast

from oclgenomics.app.run import EngineLike, Run, lent_engine
from oclgenomics.errors import OutputError
from oclgenomics.io.atomic_file import WholeFile, open_unnamed, temporary_folder
from oclgenomics.kmers import device, sets
from oclgenomics.kmers.database.kmer_set import KmerSet
from oclgenomics.kmers.database.section_file import SectionFile, is_database
from oclgenomics.kmers.device.counting import CountedFiles, counted_files
from oclgenomics.kmers.options import CountOptions
from oclgenomics.sequence.files import SequenceFiles

KmerSource = KmerSet | str | os.PathLike[str]
"""A set of k-mers, or a database by its path."""
Sample = KmerSource | SequenceFiles
"""The same, or FASTA and FASTQ files, whose k-mers are counted on the way."""
Folder = str | os.PathLike[str] | None
OnSpill = Callable[[int, int], None] | None


def is_set(sample: Sample) -> TypeGuard[KmerSource]:
    """Whether k-mers are there already, in a database or in memory."""
    if isinstance(sample, (str, os.PathLike)):
        return is_database(sample)
    return hasattr(sample, "blocks")


@contextlib.contextmanager
def counted_reads(
    source: SequenceFiles,
    options: CountOptions,
    engine: EngineLike,
    run: Run | None,
    min_quality: int | None = None,
    tmp_dir: Folder = None,
    on_spill: OnSpill = None,
    only: Sample | None = None,
) -> Iterator[CountedFiles]:
    """Count the k-mers of files, or those of them that are in a set; see `oclgenomics.kmers.count_to_database`."""
    options.check_reading(min_quality, tmp_dir)
    with (
        chosen_kmers(options, only, engine, run, tmp_dir) as (chosen, engine),
        counted_files(source, options, engine, run, min_quality, tmp_dir, on_spill, chosen) as found,
    ):
        yield found


@contextlib.contextmanager
def chosen_kmers(
    options: CountOptions, only: Sample | None, engine: EngineLike, run: Run | None, tmp_dir: Folder
) -> Iterator[tuple[KmerSet | None, EngineLike]]:
    """Lend the set that k-mers have to be in, if any, and the engine, which is open if reads of it were counted."""
    if only is None:
        yield None, engine
    elif is_set(only):
        with device.opened(only) as chosen:
            sets.check_alike(options.k, options.canonical, chosen)
            yield chosen, engine
    else:
        plain = CountOptions(options.k, options.canonical)
        threads = None if run is None else Run(run.threads)
        with (
            lent_engine(engine) as engine,
            counted_for_a_while(only, plain, engine=engine, run=threads, tmp_dir=tmp_dir) as chosen,
        ):
            yield chosen, engine


@contextlib.contextmanager
def counted_for_a_while(
    source: Sample,
    options: CountOptions,
    *,
    engine: EngineLike = None,
    run: Run | None = None,
    tmp_dir: Folder = None,
    **how: Any,
) -> Iterator[device.KmerDatabase]:
    """Count the k-mers of FASTA and FASTQ files into a database without a name, and lend it.

    Nothing of it is left afterwards. Parameters and errors are those of `oclgenomics.kmers.count_to_database`.
    """
    folder = temporary_folder(tmp_dir)
    with open_unnamed(folder) as handle:
        name = f"a temporary database in {folder}"
        with counted_reads(cast(SequenceFiles, source), options, engine, run, tmp_dir=tmp_dir, **how) as found:
            found.write(WholeFile(name, handle, OutputError))
        with device.KmerDatabase(SectionFile(name, os.dup(handle))) as database:
            yield database
