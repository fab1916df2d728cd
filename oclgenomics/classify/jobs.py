"""Queries and builds as jobs, of which other processes do pieces: reads and references by the bytes of their files."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.jobs import Job, kept_open
from oclgenomics.app.pieces import InputMark, PieceFile, Shard, check_same_input
from oclgenomics.app.run import EngineLike, Run, lent_engine
from oclgenomics.classify.database.database import Database
from oclgenomics.classify.database.features import (
    Features,
    GrowingFeatures,
    count_type,
    merged_features,
    moved_features,
)
from oclgenomics.classify.database.file import open_database, read_description
from oclgenomics.classify.database.references import NewTargets, TaxonSources, taxon_files
from oclgenomics.classify.device.building import check_windows, database_of, known_taxa, read_references
from oclgenomics.classify.formats.reports import LineForm, line_report
from oclgenomics.classify.formats.words import LineReport
from oclgenomics.classify.index import Index, called_again, check_evidence, options_for
from oclgenomics.classify.options import BuildOptions, Input, QueryOptions, Wanted
from oclgenomics.classify.result import ClassifiedReads, Hits, Reads, SharedFeatures, WrittenLines
from oclgenomics.classify.taxonomy.calls import Calls, Candidates
from oclgenomics.classify.taxonomy.coverage import known_features
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.io.read_ahead import read_ahead
from oclgenomics.io.workers import Workers, work_ahead
from oclgenomics.sequence.joined_lines import DeviceJoiner
from oclgenomics.sequence.name_list import NameList
from oclgenomics.sequence.slices import cut_files, cut_inputs

AHEAD = 2  # parts of a piece that are verified before their time, as well as those that are read
FEATURES, LOCATIONS = 1 << 16, 1 << 18  # of a part: of each piece one is in memory when they are merged


@dataclass(frozen=True)
class QueryJob(Job[ClassifiedReads]):
    """A query of files; its pieces are cut at reads and pairs, or, with a limit, at inputs, each of which has its own.

    Attributes
    ----------
    reads : tuple of Input
    file : str
        The database.
    options : QueryOptions
    wanted : Wanted
    lines : LineForm, optional
        Lines that pieces bring along, so that whoever combines need not make them; it may still make others, unless
        these are alone.
    memory_mapping : bool, optional
        See `Index`; the result does not depend on it.
    """

    NAME = "classify query"
    KINDS = (ClassifiedReads, Reads, Candidates, Calls, Hits, NameList, WrittenLines, SharedFeatures)

    reads: tuple[Input, ...]
    file: str
    options: QueryOptions
    wanted: Wanted = Wanted()
    lines: LineForm | None = None
    memory_mapping: bool | None = None

    def __post_init__(self) -> None:
        check_evidence(self.options, self.wanted)
        if self.options != self.options.for_taxa(0):  # else it makes no difference what the database has
            object.__setattr__(self, "options", options_for(self.database, self.options))

    @cached_property
    def database(self) -> Database:
        """The database, without its features."""
        return read_description(self.file)

    @cached_property
    def lineages(self) -> Lineages:
        """Those of the database."""
        return Lineages.of(self.database.taxonomy, self.database.targets)

    def inputs(self) -> tuple[str, ...]:
        return (*(name for one in self.reads for name in _files(one)), self.file)

    def parameters(self) -> Mapping[str, Any]:
        mates = [len(_files(one)) + one.interleaved for one in self.reads]
        return {**asdict(self.options), **asdict(self._wanted), "mates of inputs": mates}

    def parts(self, engine: EngineLike, run: Run, shard: Shard | None = None) -> Generator[ClassifiedReads, None, None]:
        options, inputs, wanted = self.options, list(self.reads), self._wanted
        if shard is not None:  # what is covered badly is known when all pieces are there
            options = options.alone()
            inputs = cut_reads(inputs, shard, whole=self.wanted.limit is not None)
        if not inputs:
            return

        def opened() -> Index:
            return Index(self.file, engine=lent, memory_mapping=self.memory_mapping)

        with (
            lent_engine(engine) as lent,
            kept_open(lent, (InputMark.of(self.file), self.memory_mapping), opened) as index,
            closing(index.iter_query(inputs, options, wanted, run=run)) as parts,
        ):
            report = None
            if shard is not None and self._brought is not None:
                sketch = index.database.options.sketch
                report = line_report(self._brought, index.lineages, options, sketch, DeviceJoiner(lent))
            for part in parts:
                yield self._for_piece(part, report)

    @property
    def _wanted(self) -> Wanted:
        """What is wanted of each read, also to call all again."""
        return replace(self.wanted, features=self.wanted.features or self.options.needs_support)

    @cached_property
    def _known(self) -> NDArray[np.int64]:
        if self.database.known is not None:
            return self.database.known
        with open_database(self.file) as (_, features), Workers() as threads:
            return known_features(features, self.lineages, threads)

    def known_features(self) -> NDArray[np.int64]:
        """Return how many features the database has of each taxon and target; see `taxonomy.coverage`."""
        return self._known

    @property
    def brings_lines(self) -> bool:
        """Whether all lines of the result come from pieces: none is made when they are combined."""
        return self._brought is not None and self._brought.alone

    @property
    def _brought(self) -> LineForm | None:
        """The lines of pieces, unless they depend on other pieces, which change calls when all are there."""
        known = self.lines
        return known if known is not None and known.name and not self.options.calls_again else None

    def _for_piece(self, part: ClassifiedReads, report: LineReport | None) -> ClassifiedReads:
        """What a piece holds of a part."""
        names, written = part.reads.names, None
        if report is not None:
            written = WrittenLines(report.form, np.frombuffer(report.lines(part), np.uint8))  # until the next part
            if self.brings_lines:
                part, names = replace(part, candidates=Candidates.none(0), located=None, shared=None), NameList.of(())
        return replace(part, reads=replace(part.reads, names=names.copy()), written=written)

    def combined(self, pieces: Iterable[PieceFile]) -> Iterator[ClassifiedReads]:
        sketch = self.database.options.sketch
        again = called_again(self._numbered(pieces), self.lineages, sketch, self.options, self.known_features)
        return iter(again)

    def _numbered(self, pieces: Iterable[PieceFile]) -> Iterator[ClassifiedReads]:
        """The parts of all pieces, their reads numbered through and their files named as this job names them."""
        before = 0
        with ThreadPoolExecutor(AHEAD, "verify") as pool:
            for piece in pieces:
                check_same_input(self.file, piece, -1)
                theirs = [mark.name for mark in piece.record.inputs]
                sources = dict(zip(self._sources(theirs), self._sources(self.inputs()), strict=True))
                with closing(read_ahead(piece.unmade_parts(self.KINDS), 1)) as unmade:
                    for part in work_ahead(pool, lambda part: part(), unmade, AHEAD):
                        reads = replace(part.reads, number=before, source=sources[part.reads.source])
                        yield replace(part, reads=reads)
                        before += len(part)

    def _sources(self, names: Sequence[str]) -> list[str]:
        """What the inputs are called whose files have these names."""
        left = iter(names)
        return [Input(next(left), None if one.mates is None else next(left)).name for one in self.reads]


def _files(one: Input) -> tuple[str, ...]:
    return (one.path,) if one.mates is None else (one.path, one.mates)


def cut_reads(inputs: Sequence[Input], shard: Shard, *, whole: bool) -> list[Input]:
    """Return one of several parts of inputs, which have all reads and pairs in their order.

    Parameters
    ----------
    inputs : sequence of Input
    shard : Shard
    whole : bool
        No input is cut; nor is any where mates follow each other in some files, and single reads in others.
    """
    interleaved = {one.interleaved for one in inputs if one.mates is None}
    if whole or len(interleaved) > 1:
        begin, end = shard.share(len(inputs))
        return list(inputs[begin:end])
    found = cut_inputs([_files(one) for one in inputs], shard.number, shard.of, interleaved=True in interleaved)
    return [
        Input(one, mates[0] if mates else None, interleaved=not mates and True in interleaved) for one, *mates in found
    ]


@dataclass(frozen=True)
class Gathered:
    """References that were read, as the first part of what a build gives; their features follow.

    Attributes
    ----------
    targets : NewTargets
    features, locations : int
        How many come at most.
    """

    targets: NewTargets
    features: int
    locations: int


@dataclass(frozen=True)
class BuildJob(Job[Gathered | Features]):
    """The build of a database; its pieces are cut at targets, and taxa are looked up when all are there.

    Attributes
    ----------
    references : tuple of str
        Files, as `references.reference_files` gives them.
    options : BuildOptions
    taxa : TaxonSources
    """

    NAME = "classify build"
    KINDS = (Gathered, NewTargets, Features)

    references: tuple[str, ...]
    options: BuildOptions
    taxa: TaxonSources

    def inputs(self) -> tuple[str, ...]:
        return (*self.references, *taxon_files(self.taxa, self.references))

    def parameters(self) -> Mapping[str, Any]:
        options = {**asdict(self.options), **asdict(self.options.sketch)}
        del options["sketch"]
        taxonomy, maps = self.taxa.folder is not None, len(self.taxa.maps)
        return {**options, "taxonomy": taxonomy, "taxpostmap": maps, "reset_taxa": self.taxa.reset,
                "references": len(self.references)}  # fmt: skip

    def parts(
        self, engine: EngineLike, run: Run, shard: Shard | None = None
    ) -> Generator[Gathered | Features, None, None]:
        if shard is not None and self.taxa.folder is None:
            known_taxa(self.options, self.taxa)  # refuses what needs a taxonomy
        files = self.references if shard is None else cut_files(self.references, shard.number, shard.of)
        with lent_engine(engine) as lent:
            targets, held = read_references(lent, files, self.options, run)
            features = held.whole()
        yield Gathered(targets, len(features), len(features.locations))
        yield from features.pieces(FEATURES, LOCATIONS)

    def combined(self, pieces: Iterable[PieceFile]) -> Iterator[Gathered | Features]:
        found: list[Gathered] = []
        sources: list[Iterator[Features]] = []
        windows = 0
        for piece in pieces:
            names = [mark.name for mark in piece.record.inputs]
            references = dict(zip(names, self.references, strict=False))
            for place in range(len(references), 0 if found else len(names)):
                check_same_input(names[place], piece, place)
            parts = self.read(piece)
            first = cast(Gathered, next(parts))
            targets = replace(first.targets, sources=[references[name] for name in first.targets.sources])
            found.append(replace(first, targets=targets))
            sources.append(moved_features(cast(Iterator[Features], parts), windows))
            windows += int(targets.windows.sum())
        every = NewTargets.joined([one.targets for one in found])
        check_windows(every)
        yield Gathered(every, sum(one.features for one in found), sum(one.locations for one in found))
        yield from merged_features(sources, self.options.max_locations)

    def database(self, parts: Generator[Gathered | Features, None, None]) -> Database:
        """Make the database of all parts; its provenance names no device.

        Raises
        ------
        UsageError, InputError
            See `oclgenomics.classify.build`.
        """
        known = known_taxa(self.options, self.taxa)
        with closing(parts):
            first = cast(Gathered, next(parts))
            features = GrowingFeatures(first.features, first.locations, count_type(self.options.max_locations))
            for part in parts:
                features.append(cast(Features, part))
        return database_of(first.targets, features.features(), self.options, self.taxa, known)
