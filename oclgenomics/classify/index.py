"""A database on a device, for many queries, and what inputs they take."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics import notices
from oclgenomics.app.files import file_key
from oclgenomics.app.run import EngineLike, Run, lent_engine, verb
from oclgenomics.classify import plan
from oclgenomics.classify.database.database import Database
from oclgenomics.classify.database.features import feature_parts
from oclgenomics.classify.database.file import KIND, open_database
from oclgenomics.classify.database.listings import database_facts
from oclgenomics.classify.database.packed_file import FeatureSource
from oclgenomics.classify.device.clade_counter import count_clades
from oclgenomics.classify.device.finder import (
    Finder,
    FoundReads,
    Groups,
    PartFinder,
    Sought,
    SoughtFinder,
    WholeFinder,
)
from oclgenomics.classify.device.reads import HowToRead, SketchedReads, sketched_reads
from oclgenomics.classify.options import Input, QueryOptions, SketchOptions, Wanted, inputs_of
from oclgenomics.classify.result import ClassifiedReads, QueryResult
from oclgenomics.classify.taxonomy.calls import Caller, Calls, Candidates, well_covered, without_targets
from oclgenomics.classify.taxonomy.coverage import CoverageCounter, lifted, supported
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.io.closing import Closing
from oclgenomics.io.workers import work_behind
from oclgenomics.runtime import Device, Engine
from oclgenomics.sequence.files import file_names, largest_block

MAX_RESERVE = 4 << 30  # bytes of the device's memory for reads and what is found for them, half of it at most
RESERVE_SHARE = 16  # blocks of text that this holds
BLOCKS = {"cpu": 4 << 20, "gpu": 128 << 20}  # bytes of text at most; more is not faster, and takes memory
STANDARD_INPUT = 0
PathLike = str | os.PathLike[str]
MateFiles = Iterable[tuple[PathLike, PathLike]]
ReadFiles = PathLike | Iterable[PathLike | Input]


class Index(Closing):
    """A database on a device; a context manager that gives the memory back.

    A database that does not fit stays in its file, which goes through the device for many reads at a time; what is kept
    of it there are the features that these have. One in memory, or in a file of an older version, goes through the
    device in parts.

    Parameters
    ----------
    database : Database or path
    engine : Engine, Device or str, optional
        Where to run; see `EngineLike`. An engine stays open.
    memory_mapping : bool, optional
        Leave the features in the file, and read those that reads have: the first answers come at once, however large
        the database is, and many reads take longer. None: until there were so many reads that this would have been
        slower than bringing the database to the device, which is then done.

    Attributes
    ----------
    database : Database
        Without its features if it was read from a file.
    facts : dict
        See `database.listings.database_facts`.
    lineages : Lineages
    engine : Engine

    Raises
    ------
    InputError
        The file is no database, or a damaged one.
    DeviceError
        There is no such device, or its memory is too small.

    Examples
    --------
    >>> from oclgenomics.classify import Index
    >>> with Index("viruses.db") as index:  # doctest: +SKIP
    ...     for sample in ("a.fastq.gz", "b.fastq.gz"):
    ...         print(index.query(sample))
    """

    _known: NDArray[np.int64] | None
    _source: Database | PathLike

    def __init__(
        self,
        database: Database | PathLike,
        *,
        engine: EngineLike = None,
        memory_mapping: bool | None = False,
        device: Device | str | None = None,
        max_memory: int | None = None,
    ) -> None:
        with ExitStack() as stack:
            if device is not None or max_memory is not None:
                what = "Index: device, max_memory: give engine=Engine(device, max_memory=...)"
                warnings.warn(what, DeprecationWarning, stacklevel=2)
                engine = engine or stack.enter_context(Engine(device, max_memory=max_memory))
            self.engine = stack.enter_context(lent_engine(engine))
            self._reserve = min(self.engine.budget // 2, MAX_RESERVE)
            with ExitStack() as opened:
                self.database, features = opened.enter_context(_opened(database))
                self.lineages = Lineages.of(self.database.taxonomy, self.database.targets)
                self.facts = database_facts(self.database, features)
                self._finder = self._new_finder(features, mapped=memory_mapping)
                if self._finder.reads_file:
                    stack.push(opened.pop_all())  # it stays open as long as reads come
            stack.callback(self._finder.release)
            self._source, self._known = database, self.database.known
            self._stack = stack.pop_all()

    def _new_finder(self, features: FeatureSource, *, mapped: bool | None) -> Finder:
        engine, targets = self.engine, self.database.targets
        if mapped and features.packed is None:
            what = "features can only be read from a file of the current version of the format"
            raise UsageError(f"`memory_mapping`: {what}; {KIND.remedy}")
        limits = engine.limits(self._reserve + engine.memory.used)
        windows = int(targets.windows.sum())
        sizes = plan.IndexSizes(len(features), windows, len(targets))
        fits = sizes.fit(features.numbers.located, limits)
        store = features.packed
        if store is not None and mapped:
            return SoughtFinder(engine, store, targets)
        if store is not None and not fits:
            numbers, bits = store.numbers, store.widths.bucket
            most = plan.streamed_features(numbers.alive, numbers.in_lists, bits, windows, len(targets), limits)
            return SoughtFinder(engine, store, targets, streamed=most)
        if not fits:
            return PartFinder(engine, targets, partial(feature_parts, features.whole(), targets, limits))
        whole = partial(WholeFinder, engine, features, targets)
        if store is not None and mapped is None:
            return SoughtFinder(engine, store, targets, whole)
        return whole(self._groups(QueryOptions()))

    def close(self) -> None:
        """Give the device's memory back; twice does no harm."""
        self._stack.close()

    @verb
    def query(
        self,
        reads: ReadFiles,
        options: QueryOptions | None = None,
        wanted: Wanted | None = None,
        *,
        paired: MateFiles | None = None,
        interleaved: bool = False,
        run: Run | None = None,
    ) -> QueryResult:
        """Classify reads; parameters and errors are those of the function `query`.

        `reads` may also be inputs as `inputs_of` makes them.
        """
        options = options_for(self.database, options)
        found = self.iter_query(reads, options, wanted, paired=paired, interleaved=interleaved, run=run)
        return QueryResult(self.lineages, tuple(found), options)

    @verb
    def iter_query(
        self,
        reads: ReadFiles,
        options: QueryOptions | None = None,
        wanted: Wanted | None = None,
        *,
        paired: MateFiles | None = None,
        interleaved: bool = False,
        run: Run | None = None,
    ) -> Generator[ClassifiedReads, None, None]:
        """Classify reads, block by block of the input; parameters and errors are those of `query`.

        Yields
        ------
        ClassifiedReads
            In the order of the input. Memory does not grow with the input, unless `QueryOptions.calls_again`.
        """
        inputs = checked_inputs(reads, paired, interleaved=interleaved)
        options, wanted = options_for(self.database, options), wanted or Wanted()
        check_evidence(options, wanted)
        caller, sketch = Caller(self.lineages, options), self.database.options.sketch
        batches = sketched_reads(self.engine, inputs, self._how(inputs, options, wanted, run or Run()))
        with closing(batches):
            behind = all(one.stored for one in inputs)  # what comes through a pipe is answered as it comes
            sought = self._sought(batches, options, wanted, may_wait=behind)
            found = self._finder.find(sought, self._groups(options))
            call = partial(self._called, caller=caller, options=options)
            with closing(work_behind(call, found, behind=behind)) as parts:
                yield from called_again(parts, self.lineages, sketch, options, self.known_features)

    def parts(self, *args: Any, **kwargs: Any) -> Generator[ClassifiedReads, None, None]:
        """Do what `iter_query` does, which is the name of it now."""
        warnings.warn("Index.parts is now called Index.iter_query", DeprecationWarning, stacklevel=2)
        return self.iter_query(*args, **kwargs)

    def _how(self, inputs: Sequence[Input], options: QueryOptions, wanted: Wanted, run: Run) -> HowToRead:
        known, pairs = self.database.options.sketch, any(one.mates is not None for one in inputs)
        length = options.sketchlen or known.sketchlen
        sketch = SketchOptions(known.kmerlen, length, known.winlen, options.winstride, known.min_triplets)
        most = min(largest_block(self.engine), BLOCKS[self.engine.tuning.shape], self._reserve // RESERVE_SHARE)
        return HowToRead(sketch, wanted, max(most // (1 + pairs), 1), run.threads, run.progress)

    def _groups(self, options: QueryOptions) -> Groups:
        return Groups(options.lowest, options.maxcand, self.lineages.groups(options.lowest))

    def _sought(
        self, batches: Iterator[SketchedReads], options: QueryOptions, wanted: Wanted, *, may_wait: bool
    ) -> Iterator[Sought]:
        stride = self.database.options.sketch.winstride
        features = wanted.features or options.needs_support
        for batch in batches:
            spanned = options.spanned(pairs=batch.reads.mate_letters is not None)
            widths = plan.range_widths(batch.reads.all_letters, spanned, stride)
            yield Sought(batch, widths, wanted.all_hits, options.repeats, features, may_wait)

    def _called(self, found: FoundReads, caller: Caller, options: QueryOptions) -> ClassifiedReads:
        batch = found.sought.batch
        candidates = found.candidates.without(plan.left_out(batch.reads.all_letters, options))
        windows, sketch = int(self.database.targets.first_window[-1]), self.database.options.sketch
        kmers = batch.reads.kmers(sketch.kmerlen)
        needed = plan.needed_hits(kmers, windows, sketch, options)
        calls = caller.call(candidates, needed, plan.needed_lead(kmers, sketch, options))
        shared = None if found.shared is None else found.shared.only(calls.taxon != NO_TAXON)
        return ClassifiedReads(batch.reads, candidates, calls, found.hits, batch.texts, shared=shared)

    def known_features(self) -> NDArray[np.int64]:
        """Return how many features the database has of each taxon and target; see `taxonomy.coverage`."""
        if self._known is None:  # as in files of older versions
            with _opened(self._source) as (_, features):
                self._known = count_clades(self.engine, features, self.lineages)
        return self._known


def options_for(database: Database, options: QueryOptions | None) -> QueryOptions:
    """Return the options of a query of a database; sequences are the default where it has no taxa to call."""
    given = options or QueryOptions()
    taken = given.for_taxa(len(database.taxonomy))
    if taken.lowest != given.lowest:
        notices.tell_once("the database has no taxonomy, so reads are assigned to its sequences, not to species")
    return taken


def check_evidence(options: QueryOptions, wanted: Wanted) -> None:
    """Refuse evidence of candidates that may be dropped afterwards.

    Raises
    ------
    ParameterError
        Both are asked for.
    """
    if options.cov_percentile and wanted.features:
        what = "drops candidates, so no evidence can be listed with it; give either"
        raise ParameterError("cov_percentile", what, options.cov_percentile)


def called_again(
    parts: Iterable[ClassifiedReads],
    lineages: Lineages,
    sketch: SketchOptions,
    options: QueryOptions,
    known: Callable[[], NDArray[np.int64]],
) -> Iterable[ClassifiedReads]:
    """Call all reads again by what is known of all of them, if the options ask for it.

    Parameters
    ----------
    parts : iterable of ClassifiedReads
        All of a query; they are held in memory if they are called again.
    lineages : Lineages
    sketch : SketchOptions
        Those of the database.
    options : QueryOptions
    known : callable
        Returns the features that the database has of each taxon; see `taxonomy.coverage.known_features`.
    """
    if options.cov_percentile:
        return covered_well(parts, lineages, sketch, options)
    return well_supported(parts, lineages, options, known) if options.needs_support else parts


def well_supported(
    parts: Iterable[ClassifiedReads],
    lineages: Lineages,
    options: QueryOptions,
    known: Callable[[], NDArray[np.int64]],
) -> Iterator[ClassifiedReads]:
    """Call reads of taxa that too few distinct features speak for the next taxon above; as `called_again`."""
    held, counter = list(parts), CoverageCounter(lineages)
    for part in held:
        assert part.shared is not None
        counter.add(part.calls.taxon, part.shared.counts, part.shared.features)
    needs_known = options.min_coverage or options.min_evenness
    kept = supported(counter.coverage(known() if needs_known else None), lineages, options)
    for part in held:
        taxon = lifted(part.calls.taxon, kept, lineages, options.highest)
        assert part.shared is not None
        yield replace(part, calls=Calls(taxon, part.calls.hitmin), shared=part.shared.only(taxon != NO_TAXON))


def covered_well(
    parts: Iterable[ClassifiedReads], lineages: Lineages, sketch: SketchOptions, options: QueryOptions
) -> Iterator[ClassifiedReads]:
    """Call all reads again without the targets that are covered badly by all of them.

    Parameters
    ----------
    parts : iterable of ClassifiedReads
        All of a query; they are held in memory.
    lineages : Lineages
    sketch : SketchOptions
        Those of the database.
    options : QueryOptions
    """
    held = list(parts)
    if not held:
        return
    caller = Caller(lineages, options)
    candidates = Candidates.joined([part.candidates for part in held])
    needed = np.concatenate([part.calls.hitmin for part in held])
    kept = well_covered(candidates, needed, lineages.targets, options.cov_percentile)
    for part in held:
        fewer = without_targets(part.candidates, kept)
        calls = caller.call(
            fewer, part.calls.hitmin, plan.needed_lead(part.reads.kmers(sketch.kmerlen), sketch, options)
        )
        yield replace(part, candidates=fewer, calls=calls)


def _opened(database: Database | PathLike) -> AbstractContextManager[tuple[Database, FeatureSource]]:
    return nullcontext((database, database.features)) if isinstance(database, Database) else open_database(database)


def checked_inputs(reads: ReadFiles, paired: MateFiles | None = None, *, interleaved: bool = False) -> list[Input]:
    """List the inputs of a query, whose parameters these are.

    Raises
    ------
    UsageError
        There are none, standard input is to be read twice, or a file holds both mates of pairs in two files.
    """
    mates = [pair for first, second in paired or () for pair in _mate_files(first, second)]
    given = [reads] if isinstance(reads, (str, os.PathLike)) else list(reads)
    files = file_names([one for one in given if not isinstance(one, Input)])
    inputs = [one for one in given if isinstance(one, Input)] + inputs_of(files, mates, interleaved=interleaved)
    if not inputs:
        raise UsageError("there are no reads to classify: name a file, or files of mates with `paired`")
    if [name for one in inputs for name in (one.path, one.mates)].count("-") > 1:
        raise UsageError("standard input (-) can be read once; name files for the others")
    for one in inputs:
        if one.mates is not None and _same_file(one.path, one.mates):
            raise UsageError(f"{one.path} and {one.mates} are one file; name the second mates' file behind the first's")
    return inputs


def _mate_files(first: PathLike, second: PathLike) -> list[tuple[str, str]]:
    """The pairs of files that two files are, or two lists with as many."""
    firsts, seconds = file_names(first), file_names(second)
    if len(firsts) != len(seconds):
        raise UsageError(
            f"{first} and {second} name {len(firsts):,} and {len(seconds):,} files; mates' files come two and two"
        )
    return list(zip(firsts, seconds, strict=True))


def _same_file(one: str, other: str) -> bool:
    """Say whether two names are of one file, which for pipes nobody knows."""
    key = file_key(one, STANDARD_INPUT)
    return key is not None and key == file_key(other, STANDARD_INPUT)
