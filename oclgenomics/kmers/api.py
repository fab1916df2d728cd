"""The verbs, in the order in which a user meets them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from oclgenomics.app.run import EngineLike, Run, lent_engine, verb
from oclgenomics.errors import OutputError, UsageError, check_choice
from oclgenomics.io.packed_file import open_packed
from oclgenomics.kmers import analysis, device, formats, sets
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import CountedKmers, KmerBlock, KmerSet, SelectedKmers, join
from oclgenomics.kmers.device.slots import counts_of_part
from oclgenomics.kmers.device.writer import DatabaseWriter
from oclgenomics.kmers.options import (
    BATCH_LETTERS,
    DUMP_FORMATS,
    MATRIX_FORMATS,
    MAX_COUNTER,
    CountOptions,
    DumpFormat,
    FilterOptions,
    MatrixFormat,
    MergeOptions,
    Operation,
    QualityOptions,
)
from oclgenomics.kmers.result import (
    CountMatrix,
    CountSummary,
    FilterSummary,
    Histogram,
    MatrixSummary,
    MergeSummary,
    QualityReport,
)
from oclgenomics.kmers.sources import (
    Folder,
    KmerSource,
    OnSpill,
    Sample,
    counted_reads,
    matrix_rows,
)
from oclgenomics.lazy_names import late
from oclgenomics.sequence.files import SequenceFiles, file_names

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import numpy as np
    from numpy.typing import NDArray

    from oclgenomics.app.jobs import ExecutorLike, Spread
    from oclgenomics.io.atomic_file import WholeFile
    from oclgenomics.io.raw_file import Progress
    from oclgenomics.kmers.jobs import SummedCounts
    from oclgenomics.sequence.records import Record

jobs = late("oclgenomics.kmers.jobs")
spreading = late("oclgenomics.app.jobs")


# Count


@verb
def count(
    source: SequenceFiles,
    options: CountOptions,
    *,
    engine: EngineLike = None,
    run: Run | None = None,
    min_quality: int | None = None,
    tmp_dir: Folder = None,
    only: Sample | None = None,
    executor: ExecutorLike = None,
) -> CountedKmers:
    """Count the k-mers of FASTA and FASTQ files into memory.

    Parameters
    ----------
    source : path or iterable of path
        Files, uncompressed or compressed, in any mix; "-" is standard input.
    options : CountOptions
    engine : Engine, Device or str, optional
        A device in use already, which stays open, or one to open. The engine's budget bounds what is counted at a time.
    run : Run, optional
        Host threads that decompress the input, and progress: bytes of the files that have been read, as stored.
    min_quality : int, optional
        Bases of FASTQ with a lower quality (Phred + 33, 0 to 93) count as N; see `packed_blocks`.
    tmp_dir : path, optional
        Folder for temporary runs; the system's if not given. Nothing is left there.
    only : path, KmerSet or paths, optional
        K-mers that are not in this set are left out: a database or a set of the same k and strands, or FASTA and FASTQ
        files, whose k-mers are the set.
    executor : Executor or Spread, optional
        Who counts pieces of the files, each in its own process; `only` is no set in memory then, and `tmp_dir` a folder
        that they have. See `oclgenomics.app.jobs.Spread`.

    Raises
    ------
    UsageError
        `min_quality` is out of range, or `only` holds other k-mers.
    InputError
        Anything is wrong with an input, or it is FASTA and `min_quality` is given.
    DeviceError
        There is no such device, its memory is too small, or it was lost on the way.
    OutputError
        The folder for temporary files is missing, not writable or full.

    Examples
    --------
    >>> from oclgenomics.kmers import CountOptions, count
    >>> counted = count("reads.fq.gz", CountOptions(k=31))  # doctest: +SKIP
    """
    if executor is not None:
        with _spread(source, options, engine, run, min_quality, tmp_dir, only, executor) as summed:
            block = join(key_words(options.k), summed.blocks())
    else:
        with counted_reads(source, options, engine, run, min_quality, tmp_dir, only=only) as counted:
            block = counted.block()
    return CountedKmers(options.k, options.canonical, block.keys, block.counts, options.compressed)


@verb
def count_to_database(
    source: SequenceFiles,
    options: CountOptions,
    output: str | os.PathLike[str] | WholeFile,
    *,
    engine: EngineLike = None,
    run: Run | None = None,
    min_quality: int | None = None,
    tmp_dir: Folder = None,
    on_spill: OnSpill = None,
    only: Sample | None = None,
    executor: ExecutorLike = None,
) -> CountSummary:
    """Count the k-mers of FASTA and FASTQ files into a database.

    The database is the same on every device and for every limit of memory. Other parameters and errors are those of
    `count`.

    Parameters
    ----------
    output : path or WholeFile
        The database to write; or a file that is open for it.
    on_spill : callable, optional
        Called with the number of temporary runs and the bytes that were written, after each run; not with `executor`.

    Raises
    ------
    OutputError
        The database cannot be written; nothing half written is left.
    """
    if executor is not None:
        with _spread(source, options, engine, run, min_quality, tmp_dir, only, executor) as summed:
            return summed.write(output)
    with counted_reads(source, options, engine, run, min_quality, tmp_dir, on_spill, only) as counted:
        return counted.write(output)


# Look at what was counted


def histogram(source: KmerSource) -> Histogram:
    """Return the number of k-mers that have each count; no device is needed.

    Parameters
    ----------
    source : path or KmerSet
        A database, which has its histogram ready, or any other set, which is read once.

    Raises
    ------
    InputError
        The database is missing or damaged.

    Examples
    --------
    >>> from oclgenomics.kmers import histogram
    >>> for record in histogram("reads.db").records():  # doctest: +SKIP
    ...     print(record["count"], record["kmers"])
    """
    with device.opened(source) as kmers:
        return device.histogram_of_set(kmers)


@verb
def histogram_of_reads(
    source: SequenceFiles,
    options: CountOptions,
    *,
    engine: EngineLike = None,
    run: Run | None = None,
    min_quality: int | None = None,
    tmp_dir: Folder = None,
    on_spill: OnSpill = None,
    executor: ExecutorLike = None,
) -> Histogram:
    """Count the k-mers of FASTA and FASTQ files and return how many there are of each count.

    The numbers are those of `count_to_database` and `histogram`, but no database is written. Parameters and errors are
    those of `count_to_database`.

    Examples
    --------
    >>> from oclgenomics.kmers import CountOptions, histogram_of_reads, read_spectrum
    >>> found = histogram_of_reads(["reads_1.fq.gz", "reads_2.fq.gz"], CountOptions(21))  # doctest: +SKIP
    >>> print(read_spectrum(found, 21))  # doctest: +SKIP
    """
    if executor is not None:
        with _spread(source, options, engine, run, min_quality, tmp_dir, None, executor) as summed:
            return Histogram.of_counts(block.counts for block in summed.blocks())
    with counted_reads(source, options, engine, run, min_quality, tmp_dir, on_spill) as counted:
        if counted.whole:
            parts = counted.counter.counted()
            return Histogram.of_counts(some for part in parts for some in counts_of_part(counted.engine, part))
        return Histogram.of_counts(block.counts for block in counted.blocks())


def query(
    source: KmerSource,
    sequences: str | Iterable[str | Record] = (),
    *,
    files: SequenceFiles = (),
    batch_letters: int = BATCH_LETTERS,
    both_strands: bool = False,
    engine: EngineLike = None,
    run: Run | None = None,
) -> analysis.QueryResult:
    """Look up every k-mer of sequences, on the host unless a device is given.

    A device looks up hundreds of thousands of sequences many times as fast, but reads the whole database first; the
    host reads the parts of it that hold the k-mers. The result is the same.

    Parameters
    ----------
    source : path or KmerSet
        A database or a set in memory. In a canonical one, either strand may be given.
    sequences : str or iterable of str or Record
        One sequence of at least k bases; several, which are named 1, 2, ...; or the records of a file, as
        `oclgenomics.sequence.records.read_records` gives them. K-mers with letters other than A, C, G and T are left
        out. Lower case counts as upper case.
    files : path or iterable of path
        FASTA and FASTQ files, whose records come behind the sequences; uncompressed or compressed, "-" is standard
        input. A device reads them faster than it takes their records from Python.
    batch_letters : int
        About so many bases of `sequences` are looked up at a time, and of files on the host.
    both_strands : bool
        In a set that is not canonical, look up the reverse complements as well, for `QueryResult.intervals`.
    engine : Engine, Device or str, optional
        A device in use already, which has to stay open while the result is read, or one that is opened each time that
        happens. Of a large database and few bases of files that can be read twice, only the k-mers of these files are
        kept. Of any other that does not fit into half of the device's memory, as much as fits is looked up at a time,
        once for each block of the sequences.
    run : Run, optional
        Host threads that decompress the files, and progress: bytes of them that have been read.

    Returns
    -------
    QueryResult

    Raises
    ------
    UsageError
        A sequence given as text is shorter than a k-mer. This, and all errors but those of opening the database, is
        raised when the result is read.
    InputError
        The database is missing or damaged, or anything is wrong with a file.
    DeviceError
        There is no such device, its memory is too small, or it was lost on the way.

    Examples
    --------
    >>> from oclgenomics.kmers import query
    >>> for record in query("reads.db", ["GATTACAGATTACAGATTACA"]).records():  # doctest: +SKIP
    ...     print(record["kmer"], record["count"])
    """
    with device.opened(source) as kmers:
        k = kmers.k
    given = analysis.NamedSequences([sequences] if isinstance(sequences, str) else sequences, k)
    names = tuple(file_names(files))
    return analysis.QueryResult(source, k, given, batch_letters, both_strands, names, engine, run or Run())


def counts_of(source: KmerSource, kmers: Sequence[str]) -> NDArray[np.uint32]:
    """Return the counts of k-mers given as text, uint32 (n,); 0 where a k-mer is not there.

    Parameters
    ----------
    source : path or KmerSet
    kmers : sequence of str
        In either case. In a canonical set, of either strand.

    Raises
    ------
    UsageError
        A k-mer does not have k bases, or has letters other than A, C, G and T.
    InputError
        The database is missing or damaged.
    """
    with device.opened(source) as found:
        return analysis.look_up_texts(found, kmers)


def dump(
    source: KmerSource,
    output: str | os.PathLike[str],
    format: DumpFormat = "tsv",
    *,
    min_count: int = 1,
    max_count: int = MAX_COUNTER,
    run: Run | None = None,
) -> None:
    """Write k-mers and their counts in ascending order; no device is needed, and no set is whole in memory.

    Parameters
    ----------
    source : path or KmerSet
    output : path
        The file to write, "-" for standard output; 'kmc' makes the files `output`.kmc_pre and `output`.kmc_suf, 'fastk'
        `output`.ktab and a hidden file next to it. Text is compressed if the name ends in .gz, .bz2, .xz or .zst.
    format : {'tsv', 'jellyfish', 'fasta', 'npz', 'kmc', 'fastk', 'parquet'}
        A line a k-mer, with a tab or a blank before the count; a record a k-mer; arrays for NumPy; a database of KMC; a
        table of FastK, whose counts end at 32,767; a table in Apache Parquet.
    min_count, max_count : int
        K-mers with lower or higher counts are left out.
    run : Run, optional
        Progress: k-mers that have been read; some formats read all of them more than once.

    Raises
    ------
    UsageError
        Another format; a range of counts without a count in it; 'kmc' or 'fastk' for standard output; a compressed name
        for what is no text; 'fastk' for k-mers that are not canonical.
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
    name = os.fspath(output)
    check_choice("format", format, DUMP_FORMATS)
    if format in ("kmc", "fastk") and name == "-":
        raise UsageError(f"`format={format}` writes two files, which standard output does not hold: name `output`")
    formats.check_export(name, format)
    with contextlib.ExitStack() as files:
        kmers = SelectedKmers(files.enter_context(device.opened(source)), min_count, max_count, _progress(run))
        streams = [files.enter_context(open_packed(one, "wb", OutputError)) for one in formats.dump_names(name, format)]
        formats.write_dump(kmers, streams, format)


@verb
def qv(
    assemblies: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    source: KmerSource,
    options: QualityOptions | None = None,
    *,
    bed: str | os.PathLike[str] | None = None,
    wig: str | os.PathLike[str] | None = None,
    engine: EngineLike = None,
    run: Run | None = None,
    tmp_dir: Folder = None,
    on_stage: Callable[[str], object] | None = None,
) -> QualityReport:
    """Assess assemblies by the k-mers of reads: QV, completeness, and copy numbers, as Merqury defines them.

    Parameters
    ----------
    assemblies : path or sequence of path
        A FASTA file, or two: the haplotypes, or the primary contigs and the alternate ones. Uncompressed or
        compressed; "-" is standard input.
    source : path or KmerSet
        All k-mers of the reads, canonical.
    options : QualityOptions, optional
    bed, wig : path, optional
        Tracks to write of the k-mers that no read has: the bases of each of them, and how many of them cover a base. A
        # in the name becomes _1 and _2 for two assemblies, of which the tracks else follow each other.
    engine : Engine, Device or str, optional
        A device in use already, which stays open, or one to open.
    run : Run, optional
        Host threads that decompress the input, and progress: bytes of a file that have been read, or k-mers.
    tmp_dir : path, optional
        Folder for temporary files; the system's if not given. Nothing is left there.
    on_stage : callable, optional
        Called with what is done next: 'count', 'merge' or 'look up'.

    Returns
    -------
    QualityReport

    Raises
    ------
    UsageError
        There are not one or two assemblies, two are standard input, or the database is not canonical, or lacks k-mers
        by their counts.
    InputError
        An input is missing or damaged.
    DeviceError
        There is no such device, its memory is too small, or it was lost on the way.
    OutputError
        A track or a temporary file cannot be written; nothing half written is left.

    Examples
    --------
    >>> from oclgenomics.kmers import qv
    >>> report = qv("assembly.fa.gz", "reads.db")  # doctest: +SKIP
    >>> print(report.whole.qv, report.whole.completeness)  # doctest: +SKIP
    """
    given = [assemblies] if isinstance(assemblies, (str, os.PathLike)) else list(assemblies)
    paths = [os.fspath(path) for path in given]
    bed, wig = (None if name is None else os.fspath(name) for name in (bed, wig))
    analysis.check_assemblies(paths)
    if isinstance(source, (str, os.PathLike)):
        formats.check_outputs([os.fspath(source), *paths], [name for name in (bed, wig) if name is not None])
    with lent_engine(engine) as engine, device.opened(source) as reads:
        means = analysis.Means(engine, run or Run(), tmp_dir, on_stage or (lambda _: None))
        return analysis.assess(paths, reads, options or QualityOptions(), bed, wig, means)


# Work with reads and with several samples


@verb
def filter_reads(
    source: KmerSource,
    reads: SequenceFiles,
    output: str | os.PathLike[str],
    options: FilterOptions | None = None,
    *,
    rest: str | os.PathLike[str] | None = None,
    paired: formats.MateFiles | None = None,
    interleaved: bool = False,
    any_mates: bool = False,
    engine: EngineLike = None,
    run: Run | None = None,
) -> FilterSummary:
    """Write the reads that pass, in the order of the input and as they stand there.

    Parameters
    ----------
    source : path or KmerSet
        A database or a set in memory. In a canonical one, either strand of a k-mer counts.
    reads : path or iterable of path
        Files, all FASTA or all FASTQ, uncompressed or compressed; "-" is standard input, "@name" the files of a list.
    output : path
        Where the reads that are kept go; blocked gzip if the name ends in .gz, "-" for standard output. A # in the
        name becomes _1 and _2 for the mates of pairs, which else follow each other.
    options : FilterOptions, optional
        Without them, a read has to have one k-mer of the set.
    rest : path, optional
        Where all other reads go, as `output`.
    paired : iterable of (path, path), optional
        Files, or lists of them, of first mates and of second mates, which come after `reads`.
    interleaved : bool
        In `reads`, mates of a pair follow each other.
    any_mates : bool
        Take mates that have different names as pairs.
    engine : Engine, Device or str, optional
        A device in use already, which stays open, or one to open. Of a database that does not fit into half of its
        memory, as much as fits is looked up at a time, once for each block of the reads.
    run : Run, optional
        Host threads that decompress the input, and progress: bytes of the files that have been read, those of second
        mates left out.

    Returns
    -------
    FilterSummary

    Raises
    ------
    UsageError
        There are no reads, standard input is to be read twice, or an output is an input or another output, or is
        named as if it were compressed by something else than gzip.
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
    singles, pairs = file_names(reads), formats.mate_files(paired or ())
    outputs = [os.fspath(name) for name in (output, rest) if name is not None]
    formats.check_filter_inputs(singles, pairs)
    database = [os.fspath(source)] if isinstance(source, (str, os.PathLike)) else []
    formats.check_outputs([*database, *singles, *(name for pair in pairs for name in pair)], outputs)
    with lent_engine(engine) as engine, device.opened(source) as kmers, contextlib.ExitStack() as files:
        if kmers.compressed:
            raise UsageError("the database holds k-mers of compressed sequences, which reads as they stand have not: "
                             "filter by a database that was counted without compression")  # fmt: skip
        writers = [files.enter_context(formats.read_writer(name)).write for name in outputs]
        return device.filter_files(
            engine, kmers, singles, pairs, options or FilterOptions(), writers, run or Run(), interleaved=interleaved,
            any_mates=any_mates,
        )  # fmt: skip


def merge(
    sources: Sequence[KmerSource], options: MergeOptions | Operation = "union", *, run: Run | None = None
) -> CountedKmers:
    """Merge sets of k-mers into memory; no device is needed.

    Parameters
    ----------
    sources : sequence of path or KmerSet
        Databases or sets in memory, two or more, of the same k; all of them canonical or none.
    options : MergeOptions or str
        Or only its operation: 'union' adds counts, 'intersect' takes the least of them, and so on.
    run : Run, optional
        Progress: k-mers of all sets that have been read.

    Raises
    ------
    UsageError
        Fewer than two sets, another operation, or sets that do not suit each other.
    InputError
        A database is missing or damaged.

    Examples
    --------
    >>> from oclgenomics.kmers import merge
    >>> both = merge(["tumour.db", "normal.db"], "intersect")  # doctest: +SKIP
    """
    with _merged(sources, _merge_options(options), run) as (first, blocks):
        block = join(key_words(first.k), blocks)
        return CountedKmers(first.k, first.canonical, block.keys, block.counts, first.compressed)


def merge_databases(
    sources: Sequence[KmerSource],
    output: str | os.PathLike[str],
    options: MergeOptions | Operation = "union",
    *,
    run: Run | None = None,
) -> MergeSummary:
    """Merge sets of k-mers into a database; no device is needed, and no set is whole in memory.

    Parameters and other errors are those of `merge`.

    Parameters
    ----------
    output : path
        The database to write.

    Raises
    ------
    OutputError
        The database cannot be written; nothing half written is left.
    """
    options = _merge_options(options)
    with _merged(sources, options, run) as (first, blocks):
        made = CountOptions(first.k, first.canonical, options.min_count, options.max_count, compressed=first.compressed)
        with DatabaseWriter(output, made) as writer:
            writer.append_blocks(blocks)
        return MergeSummary(first.k, first.canonical, writer.distinct, writer.total)


@verb
def matrix(samples: Mapping[str, Sample], options: CountOptions | None = None, **how: Any) -> CountMatrix:
    """Lay the counts of several samples side by side, in memory.

    Parameters are those of `write_matrix` but for `output` and `format`; so are the errors.

    Examples
    --------
    >>> from oclgenomics.kmers import matrix
    >>> found = matrix({"tumour": "tumour.db", "normal": "normal.db"}, min_samples=2)  # doctest: +SKIP
    >>> found.to_frame()  # doctest: +SKIP
    """
    with matrix_rows(samples, options, **how) as rows:
        keys, counts = rows.arrays()
        return CountMatrix(rows.k, rows.canonical, tuple(rows.names), keys, counts)


@verb
def write_matrix(
    samples: Mapping[str, Sample],
    output: str | os.PathLike[str],
    format: MatrixFormat = "tsv",
    options: CountOptions | None = None,
    *,
    tmp_dir: Folder = None,
    **how: Any,
) -> MatrixSummary:
    """Write the counts of several samples side by side; neither a sample nor the matrix is whole in memory.

    Parameters
    ----------
    samples : mapping of str to path, KmerSet or paths
        The samples by their names, which become those of the columns: a database or a set, or FASTA and FASTQ files,
        which are counted on the way. A database is detected from its content.
    output : path
        The file to write, "-" for standard output. Text is compressed if the name ends in .gz, .bz2, .xz or .zst.
    format : {'tsv', 'npz', 'parquet'}
        Lines of text; arrays for NumPy; a table in Apache Parquet.
    options : CountOptions, optional
        What of reads is counted; needed for them. Databases have to be of the same k and strands.
    tmp_dir : path, optional
        Folder for temporary files; the system's if not given. Nothing is left there.
    min_count : int, optional
        A lower count of a sample is taken for 0.
    min_samples : int, optional
        K-mers with counts in fewer samples are left out.
    only : path, KmerSet or paths, optional
        K-mers that are not in this set are left out; it is given as a sample is.
    keep_zeros : bool, optional
        All k-mers of `only` have a row.
    engine, run, min_quality, on_spill
        As for `count_to_database`; no device is needed for databases. While sets are merged, progress is the number of
        their k-mers that have been read.
    on_merge : callable, optional
        Called when that begins.
    on_block : callable, optional
        Called with each block of rows, which has `keys` and `counts`.

    Raises
    ------
    UsageError
        No sample, names that columns cannot have, another format, sets that do not suit each other, or options that
        contradict each other.
    MissingDependencyError
        'parquet' without pyarrow.
    InputError
        An input is missing or damaged.
    DeviceError
        There is no such device, or its memory is too small.
    OutputError
        A file cannot be written; nothing half written is left.

    Examples
    --------
    >>> from oclgenomics.kmers import CountOptions, write_matrix
    >>> samples = {"a": "a.db", "b": ["b_1.fq.gz", "b_2.fq.gz"]}  # doctest: +SKIP
    >>> write_matrix(samples, "counts.tsv", options=CountOptions(31))  # doctest: +SKIP
    """
    check_choice("format", format, MATRIX_FORMATS)
    formats.check_export(os.fspath(output), format)
    with (
        matrix_rows(samples, options, tmp_dir=tmp_dir, **how) as rows,
        open_packed(output, "wb", OutputError) as stream,
    ):
        kmers = formats.write_matrix(rows, stream, format, tmp_dir)
    return MatrixSummary(rows.k, rows.canonical, tuple(rows.names), kmers)


# What they share


@contextlib.contextmanager
def _spread(
    source: SequenceFiles,
    options: CountOptions,
    engine: EngineLike,
    run: Run | None,
    min_quality: int | None,
    tmp_dir: Folder,
    only: Sample | None,
    executor: Executor | Spread,
) -> Iterator[SummedCounts]:
    """Have pieces counted by others, and lend what they add up to."""
    job = jobs.CountJob.of(source, options, min_quality, tmp_dir, only)
    with contextlib.closing(spreading.spread_over(executor, engine).parts(job, run)) as parts:
        yield next(parts)


def _merge_options(options: MergeOptions | Operation) -> MergeOptions:
    return options if isinstance(options, MergeOptions) else MergeOptions(options)


@contextlib.contextmanager
def _merged(
    sources: Sequence[KmerSource], options: MergeOptions, run: Run | None
) -> Iterator[tuple[KmerSet, Iterator[KmerBlock]]]:
    """The first of the sets, and the blocks of the merge."""
    if isinstance(sources, (str, os.PathLike)) or len(sources) < 2:
        raise UsageError("there is nothing to merge: name two databases or more")
    with contextlib.ExitStack() as files:
        opened = [files.enter_context(device.opened(source)) for source in sources]
        yield opened[0], sets.merge_sets(opened, options, progress=_progress(run))


def _progress(run: Run | None) -> Progress | None:
    return None if run is None else run.progress
