"""Where k-mers come from: sets, databases, and reads, which are counted on the way."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard, cast

from oclgenomics.app.run import EngineLike, Run, lent_engine
from oclgenomics.errors import OutputError, UsageError
from oclgenomics.io.atomic_file import WholeFile, open_unnamed, temporary_folder
from oclgenomics.io.file_slice import stored_size
from oclgenomics.io.raw_file import StoredBytes
from oclgenomics.kmers import device, sets
from oclgenomics.kmers.database.kmer_set import KmerSet
from oclgenomics.kmers.database.section_file import SectionFile, is_database
from oclgenomics.kmers.device.counting import CountedFiles, counted_files
from oclgenomics.kmers.options import CountOptions
from oclgenomics.sequence.files import SequenceFiles, file_names

KmerSource = KmerSet | str | os.PathLike[str]
"""A set of k-mers, or a database by its path."""
Sample = KmerSource | SequenceFiles
"""The same, or FASTA and FASTQ files, whose k-mers are counted on the way."""
Folder = str | os.PathLike[str] | None
OnSpill = Callable[[int, int], None] | None
COPIED = 1 << 22  # bytes of an input that are copied at a time


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
            sets.check_alike(options, chosen)
            yield chosen, engine
    else:
        threads = None if run is None else Run(run.threads)
        with (
            lent_engine(engine) as engine,
            counted_for_a_while(only, options.plain, engine=engine, run=threads, tmp_dir=tmp_dir) as chosen,
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
    with database_for_a_while(tmp_dir) as kept:
        with counted_reads(cast(SequenceFiles, source), options, engine, run, tmp_dir=tmp_dir, **how) as found:
            found.write(kept.file)
        with kept.opened() as database:
            yield database


@contextlib.contextmanager
def matrix_rows(
    samples: Mapping[str, Sample],
    options: CountOptions | None,
    *,
    min_count: int = 1,
    min_samples: int = 1,
    only: Sample | None = None,
    keep_zeros: bool = False,
    engine: EngineLike = None,
    run: Run | None = None,
    tmp_dir: Folder = None,
    on_merge: Callable[[], object] | None = None,
    on_block: Callable[[sets.RowBlock], object] | None = None,
    **how: Any,
) -> Iterator[sets.MatrixRows]:
    """Lend the rows of a matrix, what it reads being open as long; see `oclgenomics.kmers.write_matrix`."""
    choice = sets.RowChoice(min_count, min_samples, keep_zeros)
    sets.check_names(list(samples))
    choice.check(len(samples), only is not None)
    given = [*samples.values(), *([] if only is None else [only])]
    with contextlib.ExitStack() as files, contextlib.ExitStack() as devices:
        there: dict[int, KmerSet] = {
            place: files.enter_context(device.opened(one)) for place, one in enumerate(given) if is_set(one)
        }
        reads = [place for place in range(len(given)) if place not in there]
        sets.check_one_kind([*there.values(), *([options] if options and reads else [])])  # before hours of counting
        if reads and options is None:
            name = file_names(cast(SequenceFiles, given[reads[0]]))[0]
            raise UsageError(f"{name} is no database of `kmers count`; if it holds reads, `options` has to say k")
        if reads and options is not None:
            engine = devices.enter_context(lent_engine(engine))
            for place in reads:
                counted = counted_for_a_while(given[place], options, engine=engine, run=run, tmp_dir=tmp_dir, **how)
                there[place] = files.enter_context(counted)
        devices.close()  # the merge needs none
        if on_merge is not None:
            on_merge()
        columns = [there[place] for place in range(len(samples))]
        progress = None if run is None else run.progress
        yield sets.MatrixRows(list(samples), columns, choice, there.get(len(samples)), progress, on_block)


@dataclass(frozen=True)
class TemporaryDatabase:
    """A database without a name: what it is written to, and what is read when it is complete."""

    name: str
    file: WholeFile
    handle: int

    def opened(self) -> device.KmerDatabase:
        """The complete database, which the caller closes."""
        return device.KmerDatabase(SectionFile(self.name, os.dup(self.handle)))


@contextlib.contextmanager
def database_for_a_while(tmp_dir: Folder = None) -> Iterator[TemporaryDatabase]:
    """Lend a file in a folder to write a database to; nothing of it is left afterwards.

    Raises
    ------
    OutputError
        No file can be made in the folder.
    """
    folder = temporary_folder(tmp_dir)
    with open_unnamed(folder) as handle:
        name = f"a temporary database in {folder}"
        yield TemporaryDatabase(name, WholeFile(name, handle, OutputError), handle)


class _Copied(str):
    """The name of a copy, which messages call by the name of what was copied."""

    shown: str

    def __new__(cls, copy: str, shown: str) -> _Copied:
        made = super().__new__(cls, copy)
        made.shown = shown
        return made


@contextlib.contextmanager
def read_twice(name: str, tmp_dir: Folder = None) -> Iterator[str]:
    """Lend a name by which an input can be read more than once: a copy's for standard input and pipes.

    Raises
    ------
    InputError
        The input cannot be read.
    OutputError
        The folder for temporary files does not take the copy.
    """
    if name != "-" and (stored_size(name) is not None or not os.path.exists(name) or os.path.isdir(name)):
        yield name
        return
    folder = temporary_folder(tmp_dir)
    with open_unnamed(folder) as handle:
        copy = WholeFile(f"a copy of the input in {folder}", handle, OutputError)
        with contextlib.closing(StoredBytes(name)) as stored:
            while data := stored.read(COPIED):
                copy.write(data)
        yield _Copied(f"/dev/fd/{handle}", "standard input" if name == "-" else name)
