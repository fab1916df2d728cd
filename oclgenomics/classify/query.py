"""The whole way from files of reads to the taxa that they are called."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable

from oclgenomics.classify.database.database import Database
from oclgenomics.classify.index import Index
from oclgenomics.classify.options import QueryOptions, Wanted
from oclgenomics.classify.reading.inputs import Input, inputs_of
from oclgenomics.classify.result import ClassifiedReads, QueryResult
from oclgenomics.commandkit.files import file_key
from oclgenomics.errors import UsageError
from oclgenomics.io.source import Progress
from oclgenomics.runtime import Device, Engine
from oclgenomics.sequence.files import SequenceFiles, file_names

__all__ = ["checked_inputs", "query", "query_parts"]

STANDARD_INPUT = 0
MateFiles = Iterable[tuple[str | os.PathLike[str], str | os.PathLike[str]]]


def query(
    reads: SequenceFiles,
    database: Database | str | os.PathLike[str],
    options: QueryOptions = QueryOptions(),
    *,
    paired: MateFiles | None = None,
    interleaved: bool = False,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    wanted: Wanted = Wanted(),
) -> QueryResult:
    """Classify reads.

    To classify many samples, keep the database on the device with `Index`.

    Parameters
    ----------
    reads : path or iterable of path
        FASTA and FASTQ files, plain or packed, in any mix; "-" is standard input.
    database : Database or path
    options : QueryOptions
        How reads are classified.
    paired : iterable of (path, path), optional
        Files of first mates and of second mates, which come after `reads`.
    interleaved : bool
        In `reads`, mates of a pair follow each other.
    engine : Engine, optional
        A device in use already. It stays open.
    device : Device or str, optional
        Where to run, if no engine is given; as `oclgenomics.runtime.select_device` takes it.
    max_memory : int, optional
        Bytes of device memory to use at most, if no engine is given.
    threads : int, optional
        Host threads that unpack the input; at most 4 if not given.
    progress : callable, optional
        Called with (bytes read, bytes in all) of the file at work.
    wanted : Wanted
        What else the result is to hold, and of which reads.

    Returns
    -------
    QueryResult

    Raises
    ------
    InputError
        Anything wrong with an input or with the database.
    DeviceError
        There is no such device, its memory is too small, or it was lost on the way.

    Examples
    --------
    >>> from oclgenomics.classify import query
    >>> found = query("reads.fastq.gz", "viruses.db")  # doctest: +SKIP
    >>> for read in found.records():  # doctest: +SKIP
    ...     print(read["read"], read["taxon"])
    """
    inputs = checked_inputs(reads, paired, interleaved=interleaved)
    with Index(database, engine=engine, device=device, max_memory=max_memory) as index:
        return index.query(inputs, options, wanted, threads=threads, progress=progress)


def query_parts(
    reads: SequenceFiles,
    database: Database | str | os.PathLike[str],
    options: QueryOptions = QueryOptions(),
    *,
    paired: MateFiles | None = None,
    interleaved: bool = False,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    wanted: Wanted = Wanted(),
) -> Generator[ClassifiedReads, None, None]:
    """Classify reads, block by block of the input; parameters and errors are those of `query`.

    Yields
    ------
    ClassifiedReads
        In the order of the input; see `Index.parts`.
    """
    inputs = checked_inputs(reads, paired, interleaved=interleaved)
    with Index(database, engine=engine, device=device, max_memory=max_memory) as index:
        yield from index.parts(inputs, options, wanted, threads=threads, progress=progress)


def checked_inputs(reads: SequenceFiles, paired: MateFiles | None, *, interleaved: bool) -> list[Input]:
    """List the inputs of a query.

    Raises
    ------
    UsageError
        There are none, standard input is to be read twice, or a file holds both mates of pairs in two files.
    """
    mates = [pair for first, second in paired or () for pair in _mate_files(first, second)]
    inputs = inputs_of(file_names(reads), mates, interleaved=interleaved)
    if not inputs:
        raise UsageError("there are no reads to classify: name a file, or files of mates with `paired`")
    if [name for one in inputs for name in (one.path, one.mates)].count("-") > 1:
        raise UsageError("standard input (-) can be read once; name files for the others")
    for one in inputs:
        if one.mates is not None and _same_file(one.path, one.mates):
            raise UsageError(f"{one.path} and {one.mates} are one file; name the second mates' file behind the first's")
    return inputs


def _mate_files(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """The pairs of files that two files are, or two lists with as many."""
    firsts, seconds = file_names(first), file_names(second)
    if len(firsts) != len(seconds):
        raise UsageError(
            f"{first} and {second} stand for {len(firsts):,} and {len(seconds):,} files; mates' files come two and two"
        )
    return list(zip(firsts, seconds, strict=True))


def _same_file(one: str, other: str) -> bool:
    """Say whether two names are of one file, which for pipes nobody knows."""
    key = file_key(one, STANDARD_INPUT)
    return key is not None and key == file_key(other, STANDARD_INPUT)
