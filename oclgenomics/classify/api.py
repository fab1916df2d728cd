"""What a user does with databases and reads: build, add, query, run and merge, and an `Index` for many queries."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from oclgenomics.app.jobs import ExecutorLike, path_of, spread_over
from oclgenomics.app.run import EngineLike, Run, lent_engine, verb
from oclgenomics.classify.database.assemblies import Collections
from oclgenomics.classify.database.database import Database
from oclgenomics.classify.database.references import TaxonSources, reference_files
from oclgenomics.classify.device.building import build_database
from oclgenomics.classify.formats.results import merged_candidates, read_result
from oclgenomics.classify.index import Index, MateFiles, PathLike, ReadFiles, checked_inputs
from oclgenomics.classify.jobs import BuildJob, QueryJob
from oclgenomics.classify.options import METACACHE, BuildOptions, FetchOptions, QueryOptions, Wanted
from oclgenomics.classify.result import ClassifiedReads, QueryResult, Reads
from oclgenomics.classify.taxonomy.calls import Caller
from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
from oclgenomics.classify.taxonomy.tree import Taxonomy
from oclgenomics.errors import UsageError
from oclgenomics.io.downloads import Downloader
from oclgenomics.sequence.files import SequenceFiles, file_names


@dataclass(frozen=True)
class Fetched:
    """What was downloaded, as `build` takes it.

    Attributes
    ----------
    references : tuple of str
        Files of sequences, each of an assembly.
    taxonomy : str
        The folder of their taxonomy.
    """

    references: tuple[str, ...]
    taxonomy: str


def fetch(
    sources: str | Sequence[str], folder: PathLike, options: FetchOptions | None = None, *, run: Run | None = None
) -> Fetched:
    """Download collections of reference genomes, and their taxonomy.

    What is in the folder already is looked at and not downloaded again. Everything else is checked by the checksums
    that the servers publish. If this is cut short, calling it again goes on.

    Parameters
    ----------
    sources : str or sequence of str
        Collections such as "refseq-viral", "genbank-fungi" or "gtdb", and files of accessions of assemblies.
    folder : path
        It is made if it is not there.
    options : FetchOptions, optional
    run : Run, optional
        What is called with the bytes that have come.

    Returns
    -------
    Fetched

    Raises
    ------
    UsageError
        There is no such collection, or an option is out of range.
    MissingDependencyError
        The package requests is missing.
    InputError
        A server cannot be reached, or has not what it lists.
    OutputError
        A file cannot be written, or another process is downloading to the folder.

    Examples
    --------
    >>> from oclgenomics.classify import FetchOptions, build, fetch
    >>> found = fetch("refseq-viral", "downloads", FetchOptions(top=1))  # doctest: +SKIP
    >>> database = build(found.references, taxonomy=found.taxonomy)  # doctest: +SKIP
    """
    options = options or FetchOptions()
    net = Downloader(options.parallel, None if run is None else run.progress)
    collections = Collections(os.fspath(folder), options, net)
    with collections.alone():
        choice = collections.choose([sources] if isinstance(sources, str) else sources)
        taxonomy = collections.fetch_taxonomy(choice)
        return Fetched(tuple(collections.fetch(choice)), taxonomy)


@verb
def build(
    references: SequenceFiles,
    options: BuildOptions | None = None,
    *,
    taxonomy: PathLike | None = None,
    taxpostmap: Sequence[PathLike] = (),
    reset_taxa: bool = False,
    engine: EngineLike = None,
    run: Run | None = None,
    executor: ExecutorLike = None,
) -> Database:
    """Build a database of reference sequences.

    Each record of the references is a target. The database is the same on every device, for every limit of memory,
    and in whatever order the references are given: files are read in the order of their names.

    Parameters
    ----------
    references : path or iterable of path
        FASTA files, uncompressed or compressed, or folders, of which all files are taken whose names end as those of
        FASTA do.
    options : BuildOptions, optional
        What is kept of the references.
    taxonomy : path, optional
        Folder of a taxonomy; see `taxonomy.ncbi.read_taxonomy`. Without one, only sequences are known.
    taxpostmap : sequence of path
        Files that map accessions to taxa, for targets that have none yet.
    reset_taxa : bool
        Prefer these to what headers say.
    engine : Engine, Device or str, optional
        Where to run; see `EngineLike`. An engine stays open.
    run : Run, optional
        Host threads, and what is called with the bytes of the files that are read, as they are stored.
    executor : Executor or Spread, optional
        Who does pieces of the work, each in its own process. See `oclgenomics.app.jobs.Spread`.

    Raises
    ------
    UsageError
        An option is out of range.
    InputError
        A reference is missing, damaged, empty or given twice; or none has a k-mer; or there are too many windows.
    DeviceError
        There is no such device, its memory is too small, or it was lost on the way.

    Examples
    --------
    >>> from oclgenomics.classify import build
    >>> database = build("genomes", taxonomy="taxdump")  # doctest: +SKIP
    """
    taxa, options = TaxonSources(taxonomy, taxpostmap, reset_taxa), options or BuildOptions()
    if executor is not None:
        job = BuildJob(tuple(reference_files(file_names(references))), options, taxa)
        return job.database(spread_over(executor, engine).parts(job, run))
    with lent_engine(engine) as lent:
        made = build_database(lent, references, options, taxa, run or Run())
        return replace(made, features=made.features.whole())


@verb
def add(
    database: Database,
    references: SequenceFiles,
    *,
    taxonomy: PathLike | None = None,
    taxpostmap: Sequence[PathLike] = (),
    reset_taxa: bool = False,
    engine: EngineLike = None,
    run: Run | None = None,
) -> Database:
    """Add references behind the targets of a database.

    The result is what building it gives with these references behind those that it has. Parameters and errors are
    those of `build`.

    Parameters
    ----------
    database : Database
    references : path or iterable of path
    taxonomy : path, optional
        That of the database, or a newer one. If not given, taxa are those that the database knows.

    Raises
    ------
    InputError
        Also if a reference is in the database already, or the taxonomy lacks a taxon of it.
    """
    taxa = TaxonSources(taxonomy, taxpostmap, reset_taxa)
    with lent_engine(engine) as lent:
        made = build_database(lent, references, database.options, taxa, run or Run(), before=database)
        return replace(made, features=made.features.whole())


@verb
def query(
    reads: ReadFiles,
    database: Database | PathLike,
    options: QueryOptions | None = None,
    *,
    paired: MateFiles | None = None,
    interleaved: bool = False,
    wanted: Wanted | None = None,
    engine: EngineLike = None,
    run: Run | None = None,
    executor: ExecutorLike = None,
) -> QueryResult:
    """Classify reads.

    To classify many samples, keep the database on the device with `Index`.

    Parameters
    ----------
    reads : path or iterable of path
        FASTA and FASTQ files, uncompressed or compressed, in any mix; "-" is standard input.
    database : Database or path
    options : QueryOptions, optional
        How reads are classified.
    paired : iterable of (path, path), optional
        Files of first mates and of second mates, which come after `reads`.
    interleaved : bool
        In `reads`, mates of a pair follow each other.
    wanted : Wanted, optional
        What else the result is to hold, and of which reads.
    engine : Engine, Device or str, optional
        Where to run; see `EngineLike`. An engine stays open.
    run : Run, optional
        Host threads, and what is called with the bytes read of the file at work.
    executor : Executor or Spread, optional
        Who does pieces of the work, each in its own process; reads and the database are files then. See
        `oclgenomics.app.jobs.Spread`.

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
    if executor is not None:
        job = QueryJob(tuple(inputs), path_of("database", database), options or QueryOptions(), wanted or Wanted())
        with closing(spread_over(executor, engine).parts(job, run)) as parts:
            return QueryResult(job.lineages, tuple(parts), job.options)
    with Index(database, engine=engine, memory_mapping=None) as index:
        return index.query(inputs, options, wanted, run=run)


@verb
def iter_query(
    reads: ReadFiles,
    database: Database | PathLike,
    options: QueryOptions | None = None,
    *,
    paired: MateFiles | None = None,
    interleaved: bool = False,
    wanted: Wanted | None = None,
    engine: EngineLike = None,
    run: Run | None = None,
    executor: ExecutorLike = None,
) -> Generator[ClassifiedReads, None, None]:
    """Classify reads, block by block of the input; parameters and errors are those of `query`.

    Yields
    ------
    ClassifiedReads
        In the order of the input; see `Index.iter_query`.
    """
    inputs = checked_inputs(reads, paired, interleaved=interleaved)
    if executor is not None:
        job = QueryJob(tuple(inputs), path_of("database", database), options or QueryOptions(), wanted or Wanted())
        yield from spread_over(executor, engine).parts(job, run)
        return
    with Index(database, engine=engine, memory_mapping=None) as index:
        yield from index.iter_query(inputs, options, wanted, run=run)


@verb
def run(
    reads: SequenceFiles,
    references: SequenceFiles,
    options: QueryOptions | None = None,
    *,
    build_options: BuildOptions | None = None,
    taxonomy: PathLike | None = None,
    taxpostmap: Sequence[PathLike] = (),
    paired: MateFiles | None = None,
    interleaved: bool = False,
    wanted: Wanted | None = None,
    engine: EngineLike = None,
    run: Run | None = None,
) -> QueryResult:
    """Classify reads by references, of which no database is written.

    Parameters
    ----------
    reads, options, paired, interleaved, wanted, engine, run
        See `query`.
    references, build_options, taxonomy, taxpostmap
        See `build`.

    Returns
    -------
    QueryResult

    Raises
    ------
    UsageError, InputError, DeviceError
        Those of `build` and `query`.

    Examples
    --------
    >>> from oclgenomics.classify import run
    >>> found = run("reads.fastq.gz", "genomes", taxonomy="taxdump")  # doctest: +SKIP
    """
    inputs = checked_inputs(reads, paired, interleaved=interleaved)
    with lent_engine(engine) as lent:
        made = build(references, build_options, taxonomy=taxonomy, taxpostmap=taxpostmap, engine=lent, run=run)
        return query(inputs, made, options, wanted=wanted, engine=lent, run=run)


def merge(
    results: Iterable[PathLike], taxonomy: Taxonomy | PathLike, options: QueryOptions | None = None
) -> QueryResult:
    """Merge results of the same reads, each with another database or a part of one.

    Of each read the best candidates of all results are kept, of each taxon the best one, and called anew. Of equal hits
    the one counts first that is in the file whose name comes first.

    Parameters
    ----------
    results : iterable of path
        Text of `--format native --queryids --tophits --lowest species`, or of MetaCache with these options.
    taxonomy : Taxonomy or path
        That of the databases.
    options : QueryOptions, optional
        `lowest` is species if they are not given; `hitmin` is 5 if it is None, since the texts do not tell what chance
        may give.

    Returns
    -------
    QueryResult
        Its targets are in the place of the candidates' taxa.

    Raises
    ------
    InputError
        A file is no such text or is of other reads, or the taxonomy lacks a taxon.

    Examples
    --------
    >>> from oclgenomics.classify import merge
    >>> merge(["part1.txt", "part2.txt"], "taxdump").to_frame()  # doctest: +SKIP
    """
    options = options or QueryOptions(lowest="species")
    texts = [read_result(path) for path in sorted(os.fspath(path) for path in results)]
    if not texts:
        raise UsageError("there are no results to merge")
    known = taxonomy if isinstance(taxonomy, Taxonomy) else read_taxonomy(taxonomy)
    lineages, candidates = merged_candidates(texts, known, options)
    needed = np.full(len(candidates), METACACHE.hitmin if options.hitmin is None else options.hitmin, np.uint32)
    none = np.zeros(len(candidates), np.uint32)
    reads = Reads(0, texts[0].names, none, None, " + ".join([text.name for text in texts]))
    calls = Caller(lineages, options).call(candidates, needed)
    return QueryResult(lineages, (ClassifiedReads(reads, candidates, calls),), options)
