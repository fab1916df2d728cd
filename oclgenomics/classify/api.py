"""References to a database, and more references into one."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.files import file_key
from oclgenomics.app.provenance import make_provenance
from oclgenomics.classify.database.database import MAX_WINDOWS, Database
from oclgenomics.classify.database.features import Features, filtered
from oclgenomics.classify.database.references import (
    NewTargets,
    TargetTable,
    TaxonSources,
    join_targets,
    open_taxonomy,
    rank_targets,
    reference_files,
    refuse_known,
    stored_letters,
)
from oclgenomics.classify.device.indexer import Indexer
from oclgenomics.classify.device.sketches import Sketcher, cut_windows
from oclgenomics.classify.formats.results import ResultText, read_result
from oclgenomics.classify.index import Index
from oclgenomics.classify.options import METACACHE, BuildOptions, Input, QueryOptions, SketchOptions, Wanted, inputs_of
from oclgenomics.classify.plan import BuildLimits, plan_build
from oclgenomics.classify.result import ClassifiedReads, QueryResult, Reads
from oclgenomics.classify.taxonomy.calls import NO_TARGET, Candidates, call_reads
from oclgenomics.classify.taxonomy.lineages import Lineages, Targets
from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy, pruned
from oclgenomics.errors import InputError, UsageError
from oclgenomics.io.source import Progress
from oclgenomics.runtime import Device, Engine, lent_engine
from oclgenomics.sequence.files import SequenceFiles, file_names
from oclgenomics.sequence.input_progress import InputProgress
from oclgenomics.sequence.letters import letter_blocks

__all__ = [
    "add",
    "build",
    "checked_inputs",
    "merge",
    "query",
    "query_parts",
    "run",
]

DEFAULTS = BuildOptions()


def build(
    references: SequenceFiles,
    options: BuildOptions = DEFAULTS,
    *,
    taxonomy: str | os.PathLike[str] | None = None,
    taxpostmap: Sequence[str | os.PathLike[str]] = (),
    reset_taxa: bool = False,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Database:
    """Build a database of reference sequences.

    Each record of the references is a target. The database is the same on every device, for every limit of memory,
    and in whatever order the references are given: files are read in the order of their names.

    Parameters
    ----------
    references : path or iterable of path
        FASTA files, plain or packed, or folders, of which all files are taken whose names end as those of FASTA do.
    options : BuildOptions
        What is kept of the references.
    taxonomy : path, optional
        Folder of a taxonomy; see `taxonomy.ncbi.read_taxonomy`. Without one, only sequences are known.
    taxpostmap : sequence of path
        Files that map accessions to taxa, for targets that have none yet.
    reset_taxa : bool
        Prefer these to what headers say.
    engine : Engine, optional
        A device in use already. It stays open.
    device : Device or str, optional
        Where to run, if no engine is given; as `oclgenomics.runtime.select_device` takes it.
    max_memory : int, optional
        Bytes of device memory to use at most, if no engine is given.
    threads : int, optional
        Host threads that unpack the input; at most 4 if not given.
    progress : callable, optional
        Called with (bytes read, bytes in all) of the files as they are stored.

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
    >>> from oclgenomics.classify.api import build
    >>> database = build("genomes", taxonomy="taxdump")  # doctest: +SKIP
    """
    taxa = TaxonSources(taxonomy, taxpostmap, reset_taxa)
    with lent_engine(engine, device, max_memory) as engine:
        return _Building(engine, options, taxa, threads, progress).run(references, None)


def add(
    database: Database,
    references: SequenceFiles,
    *,
    taxonomy: str | os.PathLike[str] | None = None,
    taxpostmap: Sequence[str | os.PathLike[str]] = (),
    reset_taxa: bool = False,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
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
    with lent_engine(engine, device, max_memory) as engine:
        return _Building(engine, database.options, taxa, threads, progress).run(references, database)


@dataclass(frozen=True)
class _Building:
    """References on their way to a database."""

    engine: Engine
    options: BuildOptions
    taxa: TaxonSources
    threads: int | None
    progress: Progress | None

    def run(self, references: SequenceFiles, before: Database | None) -> Database:
        """Build a database, or add to one."""
        files = reference_files(file_names(references))
        known = open_taxonomy(self.taxa, before)  # what is wrong with it is told before the work
        if self.options.remove_ambiguous not in (None, "sequence") and not len(known):
            raise UsageError("`remove_ambiguous` counts taxa, so it needs a `taxonomy`")
        table, features = self._read(files, before)
        new = NewTargets.of(table, self.options)
        if before is not None:
            refuse_known(before.targets, new)
        targets = join_targets(None if before is None else before.targets, new, self.options)
        taxonomy, taxon = rank_targets(new, before, known, self.taxa, self.options.sequence_id_format)
        targets = replace(targets, taxon=taxon)
        features = filtered(features, self.options, Lineages.of(taxonomy, targets))
        provenance = make_provenance(asdict(self.options), device=self.engine.device)
        return Database(self.options, targets, taxonomy, features, provenance)

    def _read(self, files: list[str], before: Database | None) -> tuple[TargetTable, Features]:
        """Sketch all records."""
        engine, options = self.engine, self.options
        plan = plan_build(BuildLimits.of(engine), options.sketch, stored_letters(files), options.max_locations)
        windows = 0 if before is None else int(before.targets.windows.sum())
        indexer = Indexer(engine, options, plan.pairs, None if before is None else before.features, windows)
        sketcher, table = Sketcher(engine, options.sketch), TargetTable()
        progress = None if self.progress is None else InputProgress(files, self.progress)
        reading = letter_blocks(
            engine, files, overlap=options.sketch.winlen - 1, join=True, block_bytes=plan.block_bytes,
            threads=self.threads, progress=progress,
        )  # fmt: skip
        with closing(reading) as blocks:
            for block in blocks:
                if block.pieces.qualities is not None:
                    raise InputError("is FASTQ, which reads are in; references are FASTA", source=block.source)
                table.add(block)
                cut = cut_windows(block.pieces, options.sketch)
                if indexer.windows + cut.size > MAX_WINDOWS:
                    raise _too_many(block.source)
                indexer.add(sketcher.sketch(block.text, cut))
        found = indexer.windows - windows
        assert found == int(table.windows(options.sketch).sum()), "each window is sketched once"
        features = indexer.finish()
        if not found or not len(features):
            raise _nothing(files, len(table), options.sketch)
        return table, features


def _too_many(source: str) -> InputError:
    return InputError(
        f"with it there are more than {MAX_WINDOWS:,} windows; build several databases, or take a larger `winstride`",
        source=source,
    )


def _nothing(files: list[str], records: int, sketch: SketchOptions) -> InputError:
    source = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more"
    masked = " that are not masked (`min_triplets`, `soft_masked`)" if sketch.masks else ""
    return InputError(
        f"none of {records:,} records has {sketch.kmerlen} letters A, C, G or T in a row{masked}", source=source
    )


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


def run(
    reads: SequenceFiles,
    references: SequenceFiles,
    options: QueryOptions = QueryOptions(),
    *,
    build_options: BuildOptions = BuildOptions(),
    taxonomy: str | os.PathLike[str] | None = None,
    taxpostmap: Sequence[str | os.PathLike[str]] = (),
    paired: MateFiles | None = None,
    interleaved: bool = False,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    wanted: Wanted = Wanted(),
) -> QueryResult:
    """Classify reads by references, of which no database is written.

    Parameters
    ----------
    reads, options, paired, interleaved, engine, device, max_memory, threads, progress, wanted
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
    with lent_engine(engine, device, max_memory) as lent:
        database = build(
            references, build_options, taxonomy=taxonomy, taxpostmap=taxpostmap, engine=lent, threads=threads,
            progress=progress,
        )  # fmt: skip
        with Index(database, engine=lent) as index:
            return index.query(inputs, options, wanted, threads=threads, progress=progress)


def merge(
    results: Iterable[str | os.PathLike[str]],
    taxonomy: Taxonomy | str | os.PathLike[str],
    options: QueryOptions = QueryOptions(lowest="species"),
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
    options : QueryOptions
        `hitmin` is 5 if not given, since the texts do not tell what chance may give.

    Returns
    -------
    QueryResult
        Its targets stand for the taxa of the candidates.

    Raises
    ------
    InputError
        A file is no such text or is of other reads, or the taxonomy lacks a taxon.

    Examples
    --------
    >>> from oclgenomics.classify import merge
    >>> merge(["part1.txt", "part2.txt"], "taxdump").to_frame()  # doctest: +SKIP
    """
    texts = [read_result(path) for path in sorted(os.fspath(path) for path in results)]
    if not texts:
        raise UsageError("there are no results to merge")
    _refuse_other_reads(texts)
    lineages = _lineages(texts, taxonomy if isinstance(taxonomy, Taxonomy) else read_taxonomy(taxonomy))
    candidates = _merged(texts, lineages, options)
    needed = np.full(len(candidates), METACACHE.hitmin if options.hitmin is None else options.hitmin, np.uint32)
    none = np.zeros(len(candidates), np.uint32)
    reads = Reads(0, texts[0].names, none, None, " + ".join([text.name for text in texts]))
    calls = call_reads(candidates, lineages, options, needed)
    return QueryResult(lineages, (ClassifiedReads(reads, candidates, calls),), options)


def _refuse_other_reads(texts: Sequence[ResultText]) -> None:
    first = texts[0]
    for text in texts[1:]:
        if not np.array_equal(text.numbers, first.numbers):
            other = np.setxor1d(text.numbers, first.numbers)[0]
            lacks = text if other in first.numbers else first
            raise InputError(
                f"lacks read {other}, which another result has; results of the same reads can be merged, with a line "
                "for each read", source=lacks.name,
            )  # fmt: skip
        same = np.array_equal(text.names.sizes, first.names.sizes)
        if not same or not np.array_equal(text.names.letters, first.names.letters):
            at = next(i for i in range(len(first.names)) if text.names[i] != first.names[i])
            raise InputError(
                f"read {text.numbers[at]} is {text.names[at]!r}, and {first.names[at]!r} in {first.name}; only results "
                "of the same reads can be merged", source=text.name,
            )  # fmt: skip


def _lineages(texts: Sequence[ResultText], taxonomy: Taxonomy) -> Lineages:
    """Taxa, each of which has a target that stands for it."""
    taxids = np.unique(np.concatenate([text.taxids for text in texts]))
    taxa = taxonomy.find(taxids)
    unknown = taxids[taxa == NO_TAXON]
    if len(unknown):
        one = next(text for text in texts if unknown[0] in text.taxids)
        raise InputError(f"the taxonomy lacks taxid {unknown[0]}; give that of the databases", source=one.name)
    tree, taxon = pruned(taxonomy, taxa)
    zeros = np.zeros(len(taxids), np.int64)
    names = tuple(map(str, taxids.tolist()))
    targets = Targets(names, ("",), zeros.astype(np.int32), zeros, taxon, zeros, zeros + 1)
    return Lineages.of(tree, targets)


def _merged(texts: Sequence[ResultText], lineages: Lineages, options: QueryOptions) -> Candidates:
    taxids = np.array(list(map(int, lineages.targets.names)), np.int64)
    columns = [_columns(text, taxids) for text in texts]
    targets, hits = (np.concatenate(arrays, axis=1) for arrays in zip(*columns, strict=True))
    order = np.argsort(-hits.astype(np.int64), axis=1, kind="stable")
    targets, hits = (np.take_along_axis(array, order, axis=1) for array in (targets, hits))
    groups = np.append(lineages.groups(options.lowest), np.int32(NO_TAXON))[np.minimum(targets, len(taxids))]
    kept = groups != NO_TAXON
    for place in range(1, groups.shape[1]):
        kept[:, place] &= (groups[:, :place] != groups[:, place : place + 1]).all(axis=1)
    order = np.argsort(~kept, axis=1, kind="stable")[:, : options.maxcand]
    kept, targets, hits = (np.take_along_axis(array, order, axis=1) for array in (kept, targets, hits))
    hits = np.where(kept, hits, np.uint32(0))
    none = np.zeros_like(hits)
    located = hits.sum(axis=1, dtype=np.uint32)
    return Candidates(np.where(kept, targets, np.uint32(NO_TARGET)), hits, none, none, located)


def _columns(text: ResultText, taxids: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Targets and hits of all candidates, a row a read."""
    counts = np.diff(text.starts)
    width = max(int(counts.max(initial=0)), 2)
    targets = np.full((len(counts), width), NO_TARGET, np.uint32)
    hits = np.zeros((len(counts), width), np.uint32)
    rows = np.repeat(np.arange(len(counts)), counts)
    places = np.arange(len(rows)) - np.repeat(text.starts[:-1], counts)
    targets[rows, places] = np.searchsorted(taxids, text.taxids)
    hits[rows, places] = np.minimum(text.hits, NO_TARGET)
    return targets, hits
