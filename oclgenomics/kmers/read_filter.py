"""Keeps reads by how many of their k-mers a set has."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing

import numpy as np

from oclgenomics.app.files import FileConflictError, NamedFile, check_files, file_key
from oclgenomics.errors import InputError, UsageError
from oclgenomics.io.source import Progress
from oclgenomics.kmers.filter_options import FilterOptions
from oclgenomics.kmers.lookups.bounds import CountBounds
from oclgenomics.kmers.lookups.counted_reads import (
    CountedReads,
    HowToRead,
    counted_reads,
    interleaved_pairs,
    paired_reads,
)
from oclgenomics.kmers.lookups.output_names import output_names
from oclgenomics.kmers.lookups.plan import look_up_block_bytes
from oclgenomics.kmers.lookups.read_writer import ReadWriter, read_writer
from oclgenomics.kmers.lookups.text_kmers import TextKmers
from oclgenomics.kmers.plan import DeviceLimits
from oclgenomics.kmers.result import FilterSummary
from oclgenomics.kmers.source import KmerSource, opened
from oclgenomics.runtime import Device, Engine, lent_engine
from oclgenomics.sequence.files import SequenceFiles, file_names
from oclgenomics.sequence.opening import largest_block

__all__ = ["check_filter_inputs", "filter_reads", "mate_files"]

STANDARD_INPUT = 0
MateFiles = Iterable[tuple[str | os.PathLike[str], str | os.PathLike[str]]]
Reads = tuple[CountedReads, ...]
CountedStream = Generator[CountedReads, None, None]


def filter_reads(
    source: KmerSource,
    reads: SequenceFiles,
    output: str | os.PathLike[str],
    options: FilterOptions = FilterOptions(),
    *,
    rest: str | os.PathLike[str] | None = None,
    paired: MateFiles | None = None,
    interleaved: bool = False,
    any_mates: bool = False,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> FilterSummary:
    """Write the reads that pass, in the order of the input and as they stand there.

    Parameters
    ----------
    source : path or KmerSet
        A database or a set in memory. In a canonical one, either strand of a k-mer counts.
    reads : path or iterable of path
        Files, all FASTA or all FASTQ, plain or packed; "-" is standard input, "@name" the files of a list.
    output : path
        Where the reads that are kept go; blocked gzip if the name ends in .gz, "-" for standard output. A # in the
        name becomes _1 and _2 for the mates of pairs, which else follow each other.
    options : FilterOptions
    rest : path, optional
        Where all other reads go, as `output`.
    paired : iterable of (path, path), optional
        Files, or lists of them, of first mates and of second mates, which come after `reads`.
    interleaved : bool
        In `reads`, mates of a pair follow each other.
    any_mates : bool
        Take mates that have different names as pairs.
    engine : Engine, optional
        A device in use already. It stays open.
    device : Device or str, optional
        Where to run, if no engine is given; as `oclgenomics.runtime.select_device` takes it.
    max_memory : int, optional
        Bytes of device memory to use at most, if no engine is given. Of a database that does not fit into half of it,
        as much as fits is looked up at a time, once for each block of the reads.
    threads : int, optional
        Host threads that unpack the input; at most 4 if not given.
    progress : callable, optional
        Called with (bytes read, bytes in all) of the file at work.

    Returns
    -------
    FilterSummary

    Raises
    ------
    UsageError
        There are no reads, standard input is to be read twice, or an output is an input or another output, or is
        named as if it were packed by something else than gzip.
    InputError
        Anything wrong with an input or with the database; mates that do not belong together.
    DeviceError
        There is no such device, its memory is too small, or it was lost on the way.
    OutputError
        An output cannot be written; nothing half written is left.

    Examples
    --------
    >>> from oclgenomics.kmers import FilterOptions, filter_reads
    >>> options = FilterOptions(min_fraction=0.5, drop=True)
    >>> filter_reads("host.db", "reads.fq.gz", "clean.fq.gz", options)  # doctest: +SKIP
    """
    singles = file_names(reads)
    pairs = mate_files(paired or ())
    outputs = [os.fspath(name) for name in (output, rest) if name is not None]
    check_filter_inputs(singles, pairs)
    _check_outputs(source, [*singles, *(name for pair in pairs for name in pair)], outputs)
    with lent_engine(engine, device, max_memory) as engine, opened(source) as kmers, ExitStack() as files:
        limits = DeviceLimits.of(engine)
        block_bytes = look_up_block_bytes(limits, largest_block(engine), 1 + bool(pairs))
        how = HowToRead(kmers.k - 1, block_bytes, threads, progress, any_mates)
        look_up = TextKmers(engine, kmers, CountBounds(options.min_count, options.max_count))
        writers = [files.enter_context(read_writer(name)) for name in outputs]
        tally = _Tally(options, writers)
        for parts in _inputs(engine, singles, pairs, look_up, how, interleaved=interleaved):
            tally.take(parts)
        return tally.summary()


def mate_files(paired: MateFiles) -> list[tuple[str, str]]:
    """Return pairs of files with the files of lists in their stead.

    Raises
    ------
    UsageError
        Lists that name different numbers of files.
    InputError
        A list that cannot be read.
    """
    pairs: list[tuple[str, str]] = []
    for first, second in paired:
        firsts, seconds = file_names(first), file_names(second)
        if len(firsts) != len(seconds):
            raise UsageError(
                f"{os.fspath(first)} names {len(firsts):,} files and {os.fspath(second)} {len(seconds):,}; files of "
                "mates have to be equally many"
            )
        pairs += zip(firsts, seconds, strict=True)
    return pairs


def check_filter_inputs(singles: Sequence[str], pairs: Sequence[tuple[str, str]]) -> None:
    """Refuse inputs that cannot be read together.

    Raises
    ------
    UsageError
        There are none, standard input is to be read twice, or a file holds both mates of pairs in two files.
    """
    names = [*singles, *(name for pair in pairs for name in pair)]
    if not names:
        raise UsageError("there are no reads to filter: name a file, or files of mates with `paired`")
    if names.count("-") > 1:
        raise UsageError("standard input (-) can be read once; name files for the others")
    for first, second in pairs:
        key = file_key(first, STANDARD_INPUT)
        if key is not None and key == file_key(second, STANDARD_INPUT):
            raise UsageError(f"{first} and {second} are one file; name the second mates' file behind the first's")


def _check_outputs(source: KmerSource, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Refuse outputs that are inputs or each other."""
    database = [os.fspath(source)] if isinstance(source, (str, os.PathLike)) else []
    files = [NamedFile("the input", name, "input") for name in [*database, *inputs]]
    for option, name in zip(("the output", "the rest"), outputs, strict=False):
        files += [NamedFile(option, one, "output") for one in output_names(name)]
    try:
        check_files(files)
    except FileConflictError as error:
        raise UsageError(str(error)) from None


def _inputs(
    engine: Engine,
    singles: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    look_up: TextKmers,
    how: HowToRead,
    *,
    interleaved: bool,
) -> Iterator[Reads]:
    """All reads, or first and second mates of pairs, some at a time."""
    formats = _Formats()
    for path in singles:
        with closing(formats.checked(counted_reads(engine, path, look_up, how), path)) as runs:
            if interleaved:
                yield from interleaved_pairs(runs, path, any_mates=how.any_mates)
            else:
                yield from ((run,) for run in runs)
    for both in pairs:
        streams = [formats.checked(counted_reads(engine, path, look_up, how), path) for path in both]
        yield from paired_reads(streams, both, any_mates=how.any_mates)


class _Formats:
    """Sees to it that all inputs are FASTA, or all FASTQ, since they go into one file."""

    def __init__(self) -> None:
        self._mark = self._path = ""

    def checked(self, runs: CountedStream, path: str) -> CountedStream:
        """Pass on the records of an input, and close it in the end."""
        with closing(runs):
            for run in runs:
                self._check(run.texts[0].lstrip()[:1], path)
                yield run

    def _check(self, mark: str, path: str) -> None:
        if not self._mark:
            self._mark, self._path = mark, path
        elif mark != self._mark:
            kinds = ("FASTA", "FASTQ") if mark == ">" else ("FASTQ", "FASTA")
            raise InputError(f"is {kinds[0]}, but {self._path} is {kinds[1]}; filter them apart", source=path)


class _Tally:
    """Writes reads, and counts them."""

    def __init__(self, options: FilterOptions, writers: Sequence[ReadWriter]) -> None:
        self._options, self._writers = options, writers
        self._reads = self._kept = self._kmers = self._found = self._pairs = 0

    def take(self, parts: Reads) -> None:
        """Take some reads, or first and second mates."""
        passing = [self._options.passing(part.counts.kmers, part.counts.found) for part in parts]
        either = self._options.pairs == "either"
        kept = (np.logical_or if either else np.logical_and).reduce(passing) ^ self._options.drop
        texts = tuple(part.texts for part in parts)
        for writer, chosen in zip(self._writers, (kept, ~kept), strict=False):
            writer.write(texts, chosen)
        self._reads += len(parts) * len(kept)
        self._kept += len(parts) * int(kept.sum())
        self._pairs += len(kept) if len(parts) == 2 else 0
        self._kmers += sum(int(part.counts.kmers.sum()) for part in parts)
        self._found += sum(int(part.counts.found.sum()) for part in parts)

    def summary(self) -> FilterSummary:
        """Return the numbers of all reads so far."""
        return FilterSummary(self._reads, self._kept, self._pairs, self._kmers, self._found)
