"""A database that stays on a device and answers queries."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify import plan
from oclgenomics.classify.database.database import Database
from oclgenomics.classify.database.features import FeatureSource, feature_parts
from oclgenomics.classify.database.file import open_database
from oclgenomics.classify.database.listings import database_facts
from oclgenomics.classify.device.finder import Finder, FoundReads, Groups, PartFinder, Sought, WholeFinder
from oclgenomics.classify.device.reads import HowToRead, SketchedReads, sketched_reads
from oclgenomics.classify.options import Input, QueryOptions, SketchOptions, Wanted
from oclgenomics.classify.plan import by_length, needed_hits, needed_lead, range_width
from oclgenomics.classify.result import ClassifiedReads, QueryResult, Reads
from oclgenomics.classify.taxonomy.calls import Caller, Candidates, well_covered, without_targets
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.io.source import Progress
from oclgenomics.io.work_behind import work_behind
from oclgenomics.runtime import Device, Engine, lent_engine
from oclgenomics.sequence.opening import largest_block

__all__ = ["Index"]

MAX_RESERVE = 4 << 30  # bytes of the device's memory for reads and what is found for them, half of it at most
RESERVE_SHARE = 16  # blocks of text that this holds
BLOCKS = {"cpu": 16 << 20, "gpu": 128 << 20}  # bytes of text at most; more is not faster


class Index:
    """A database on a device; a context manager that gives the memory back.

    A database that does not fit is kept in the host's memory, and goes through the device in parts.

    Parameters
    ----------
    database : Database or path
    engine : Engine, optional
        A device in use already. It stays open.
    device : Device or str, optional
        Where to run, if no engine is given; as `oclgenomics.runtime.select_device` takes it.
    max_memory : int, optional
        Bytes of device memory to use at most, if no engine is given.

    Attributes
    ----------
    database : Database
        Without its features if it was read from a file.
    facts : dict
        See `database.info.database_facts`.
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
    ...     for sample in samples:
    ...         print(index.query([sample]))
    """

    def __init__(
        self,
        database: Database | str | os.PathLike[str],
        *,
        engine: Engine | None = None,
        device: Device | str | None = None,
        max_memory: int | None = None,
    ) -> None:
        with ExitStack() as stack:
            self.engine = stack.enter_context(lent_engine(engine, device, max_memory))
            self._reserve = min(self.engine.budget // 2, MAX_RESERVE)
            with _opened(database) as (self.database, features):
                self.lineages = Lineages.of(self.database.taxonomy, self.database.targets)
                self.facts = database_facts(self.database, features)
                self._finder = self._new_finder(features, self._groups(QueryOptions()))
            stack.callback(self._finder.release)
            self._stack = stack.pop_all()

    def _new_finder(self, features: FeatureSource, groups: Groups) -> Finder:
        engine, targets = self.engine, self.database.targets
        room = engine.budget - self._reserve - engine.memory.used
        windows = int(targets.windows.sum())
        limits = plan.IndexLimits(len(features), windows, len(targets), room, engine.max_allocation)
        if limits.fits(features.numbers.located):
            return WholeFinder(engine, features, targets, groups)
        return PartFinder(engine, targets, partial(feature_parts, features.whole(), targets, limits))

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the device's memory back; twice does no harm."""
        self._stack.close()

    def query(
        self,
        inputs: Sequence[Input],
        options: QueryOptions = QueryOptions(),
        wanted: Wanted = Wanted(),
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> QueryResult:
        """Classify reads; parameters and errors are those of `parts`."""
        parts = tuple(self.parts(inputs, options, wanted, threads=threads, progress=progress))
        return QueryResult(self.lineages, parts, options)

    def parts(
        self,
        inputs: Sequence[Input],
        options: QueryOptions = QueryOptions(),
        wanted: Wanted = Wanted(),
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Generator[ClassifiedReads, None, None]:
        """Classify reads, block by block of the input.

        Parameters
        ----------
        inputs : sequence of Input
            See `reading.inputs.inputs_of`.
        options : QueryOptions
        wanted : Wanted
        threads : int, optional
            Host threads that unpack the input; at most 4 if not given.
        progress : callable, optional
            Called with (bytes read, bytes in all) of the file at work.

        Yields
        ------
        ClassifiedReads
            In the order of the input. Memory does not grow with the input, unless `cov_percentile` is asked for.
        """
        caller = Caller(self.lineages, options)
        pairs = any(one.mates is not None for one in inputs)
        most = min(largest_block(self.engine), BLOCKS[self.engine.tuning.shape], self._reserve // RESERVE_SHARE)
        block_bytes = max(most // (1 + pairs), 1)
        how = HowToRead(self._read_windows(options), wanted.texts, block_bytes, threads, progress)
        batches = sketched_reads(self.engine, inputs, how, any_mates=wanted.any_mates, limit=wanted.limit)
        with closing(batches):
            sought = self._sought(batches, options, all_hits=wanted.all_hits)
            found = self._finder.find(sought, self._groups(options))
            call = partial(self._called, caller=caller, options=options)
            # texts last until the next batch, and what comes through a pipe is told when it has come
            behind = not wanted.texts and all(one.stored for one in inputs)
            with closing(work_behind(call, found)) if behind else nullcontext(map(call, found)) as parts:
                yield from parts if not options.cov_percentile else self._well_covered(parts, caller, options)

    def _groups(self, options: QueryOptions) -> Groups:
        return Groups(options.lowest, options.maxcand, self.lineages.groups(options.lowest))

    def _read_windows(self, options: QueryOptions) -> SketchOptions:
        known = self.database.options.sketch
        length = options.sketchlen or known.sketchlen
        return SketchOptions(known.kmerlen, length, known.winlen, options.winstride, known.min_triplets)

    def _sought(self, batches: Iterator[SketchedReads], options: QueryOptions, *, all_hits: bool) -> Iterator[Sought]:
        def widths(letters: NDArray[np.int64]) -> NDArray[np.uint32]:
            stride = self.database.options.sketch.winstride
            return range_width(letters, spanned, stride).astype(np.uint32)

        for batch in batches:
            spanned = options.spanned(pairs=batch.reads.mate_letters is not None)
            yield Sought(batch, by_length(widths, _letters(batch.reads)), all_hits, options.repeats)

    def _called(self, found: FoundReads, caller: Caller, options: QueryOptions) -> ClassifiedReads:
        sought = found.sought
        reads = sought.batch.reads
        letters = _letters(reads)
        candidates = found.candidates.without(_left_out(letters, options))
        windows, sketch = int(self.database.targets.first_window[-1]), self.database.options.sketch
        needed = needed_hits(reads.kmers(sketch.kmerlen), windows, sketch, options)
        calls = caller.call(candidates, needed, self._lead(reads, options))
        return ClassifiedReads(reads, candidates, calls, found.hits, sought.batch.texts)

    def _lead(self, reads: Reads, options: QueryOptions) -> NDArray[np.uint32] | None:
        sketch = self.database.options.sketch
        return needed_lead(reads.kmers(sketch.kmerlen), sketch, options)

    def _well_covered(
        self, parts: Iterable[ClassifiedReads], caller: Caller, options: QueryOptions
    ) -> Iterator[ClassifiedReads]:
        """Call all reads again without the targets that are covered badly by all of them."""
        held = [replace(part, texts=tuple(text.copy() for text in part.texts)) for part in parts]
        if not held:
            return
        candidates = Candidates.joined([part.candidates for part in held])
        needed = np.concatenate([part.calls.hitmin for part in held])
        kept = well_covered(candidates, needed, self.database.targets, options.cov_percentile)
        for part in held:
            fewer = without_targets(part.candidates, kept)
            calls = caller.call(fewer, part.calls.hitmin, self._lead(part.reads, options))
            yield replace(part, candidates=fewer, calls=calls)


def _opened(
    database: Database | str | os.PathLike[str],
) -> AbstractContextManager[tuple[Database, FeatureSource]]:
    return nullcontext((database, database.features)) if isinstance(database, Database) else open_database(database)


def _letters(reads: Reads) -> NDArray[np.integer[Any]]:
    """Letters of reads, those of mates together."""
    return reads.letters if reads.mate_letters is None else reads.letters.astype(np.int64) + reads.mate_letters


def _left_out(letters: NDArray[np.integer[Any]], options: QueryOptions) -> NDArray[np.bool_]:
    """Say which reads are too short or too long to be classified."""
    longest = options.max_readlen or np.iinfo(np.int64).max
    return (letters < options.min_readlen) | (letters > longest)
