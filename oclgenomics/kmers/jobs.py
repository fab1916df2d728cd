"""Counting as a job, of which other processes do pieces: reads by the bytes of their files.

A piece holds all of its k-mers with all of their counts: which are kept, and where counters stop, is decided when the
pieces have been added up.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.jobs import Job, path_of
from oclgenomics.app.pieces import AGAIN, PieceFile, Shard
from oclgenomics.app.run import EngineLike, Run
from oclgenomics.errors import InputError
from oclgenomics.io.atomic_file import WholeFile
from oclgenomics.io.raw_file import Progress
from oclgenomics.io.workers import work_ahead
from oclgenomics.kmers.database.codec import KeyOrder
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import KmerBlock
from oclgenomics.kmers.database.layout import SECTION_KMERS, section_bytes, section_table
from oclgenomics.kmers.database.section_file import Sections
from oclgenomics.kmers.device.counting import Spill, kept_blocks
from oclgenomics.kmers.device.merging import SectionSet, plan_of, summed_runs
from oclgenomics.kmers.device.parts import Kept, kept_runs
from oclgenomics.kmers.device.writer import DatabaseWriter
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plan.memory import MergePlan, runs_at_a_time
from oclgenomics.kmers.result import CountSummary
from oclgenomics.kmers.sources import Folder, Sample, counted_reads, is_set
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Engine
from oclgenomics.sequence import Census
from oclgenomics.sequence.files import SequenceFiles, file_names
from oclgenomics.sequence.slices import cut_files


@dataclass(frozen=True, eq=False)
class EncodedKmers:
    """Some k-mers of a piece, which follow those before, as sections of a database.

    Attributes
    ----------
    table : ndarray, uint8 (n,)
        The bytes of the sections' entries in a table of sections (`oclgenomics.kmers.database.layout.section_table`).
    data : ndarray, uint8 (m,)
        The sections.
    """

    table: NDArray[np.uint8]
    data: NDArray[np.uint8]

    @classmethod
    def of(cls, sections: Sections) -> EncodedKmers:
        """Return sections as a piece has them."""
        return cls(np.frombuffer(sections.table.tobytes(), np.uint8), sections.data)

    def sections(self, k: int) -> Sections:
        """Return the sections themselves.

        Raises
        ------
        ValueError
            These are none.
        """
        layout = section_table(key_words(k))
        if self.table.dtype != np.uint8 or self.table.ndim != 1 or self.table.size % layout.itemsize:
            raise ValueError("the table of sections has another size")
        table = self.table.view(layout)
        sizes = table["kmers"]
        if not len(table) or sizes.min() < 1 or sizes.max() > SECTION_KMERS:
            raise ValueError("a section has another size than sections have")
        if self.data.dtype != np.uint8 or self.data.shape != (int(section_bytes(table).sum()),):
            raise ValueError("the sections take other room than their table says")
        return Sections(table, self.data)


@dataclass(frozen=True)
class CountEnd:
    """The last part of a piece: what was found in it.

    Attributes
    ----------
    summary : CountSummary
    censuses : mapping of int to Census
        Records and letters that it has of files, by their places among those of the job.
    """

    summary: CountSummary
    censuses: Mapping[int, Census]


@dataclass(frozen=True)
class SummedCounts:
    """What pieces add up to; they have to be there as long as it is read.

    Attributes
    ----------
    options : CountOptions
    summary : CountSummary
        `distinct` and `total` are those of the pieces.
    pieces : sequence of PieceKmers
    tmp_dir : path, optional
        Where sums go of pieces that are more than are merged at a time.
    """

    options: CountOptions
    summary: CountSummary
    pieces: Sequence[PieceKmers]
    tmp_dir: Folder = None

    def blocks(self, progress: Progress | None = None) -> Iterator[KmerBlock]:
        """K-mers that are kept, in ascending order, added up by NumPy.

        Parameters
        ----------
        progress : callable, optional
            Called with (k-mers that were read, all of them) of the pieces that are merged at a time.
        """
        with Spill(None, self.options, self.tmp_dir) as spill:
            yield from kept_blocks(self.options, spill.sums(self.pieces, progress))

    def runs(self, engine: Engine, plan: MergePlan, progress: Progress | None = None) -> Iterator[Runs]:
        """K-mers that are kept, in ascending order, added up on a device; parameters as of `summed_runs`."""
        for runs in self._summed(engine, plan, self.pieces, progress):
            yield kept_runs(engine, Kept.by(self.options), runs)
            del runs

    def _summed(
        self, engine: Engine, plan: MergePlan, sources: Sequence[SectionSet], progress: Progress | None
    ) -> Iterator[Runs]:
        """All k-mers of sets; where these are more than are merged at a time, of what they are made into."""
        with Spill(engine, self.options, self.tmp_dir) as spill:
            if len(sources) <= spill.most:
                yield from summed_runs(engine, plan, sources, progress)
                return
            for begin in range(0, len(sources), spill.most):
                some = summed_runs(engine, plan, sources[begin : begin + spill.most], progress)
                spill.add(partial(DatabaseWriter.append_all, some=some))
            yield from self._summed(engine, plan, spill.databases, progress)

    def _plan(self, engine: Engine | None) -> MergePlan | None:
        """How a device adds up; None if none does."""
        most = runs_at_a_time(None, self.options.k, None)
        return None if engine is None or not self.pieces else plan_of(engine, self.pieces[:most])

    def write(
        self,
        output: str | os.PathLike[str] | WholeFile,
        progress: Progress | None = None,
        engine: Engine | None = None,
    ) -> CountSummary:
        """Write the database that one run writes, and return its summary; see `blocks`.

        Parameters
        ----------
        engine : Engine, optional
            Adds up and encodes, if it has enough memory for that; NumPy does else.

        Raises
        ------
        OutputError
            It cannot be written; nothing half written is left.
        """
        with DatabaseWriter(output, self.options, engine=engine) as writer:
            plan = self._plan(engine)
            if engine is None or plan is None:
                writer.append_blocks(self.blocks(progress))
            else:
                writer.append_all(self.runs(engine, plan, progress))
        return replace(self.summary, distinct=writer.distinct, total=writer.total)


@dataclass(frozen=True)
class CountJob(Job[Any]):
    """A count of files; its pieces are cut at records. A piece has `EncodedKmers` and a `CountEnd`.

    Attributes
    ----------
    files : tuple of str
    options : CountOptions
    min_quality : int, optional
    only : tuple of str
        A database, or files of sequences, whose k-mers are the set that is counted; all k-mers are if there is none.
    tmp_dir : path, optional
        See `oclgenomics.kmers.count_to_database`.
    """

    NAME = "kmers count"
    KINDS = (EncodedKmers, CountEnd, CountSummary, Census)

    files: tuple[str, ...]
    options: CountOptions
    min_quality: int | None = None
    only: tuple[str, ...] = ()
    tmp_dir: Folder = None

    @classmethod
    def of(
        cls, source: SequenceFiles, options: CountOptions, min_quality: int | None, tmp_dir: Folder, only: Sample | None
    ) -> CountJob:
        """Make one of what `oclgenomics.kmers.count_to_database` takes.

        Raises
        ------
        UsageError
            `min_quality` is out of range, or `only` is in memory, where no other process reads it.
        OutputError
            The folder for temporary files is missing or not writable.
        """
        options.check_reading(min_quality, tmp_dir)
        chosen: list[str] = []
        if only is not None:
            chosen = [path_of("only", only)] if is_set(only) else file_names(cast(SequenceFiles, only))
        return cls(tuple(file_names(source)), options, min_quality, tuple(chosen), tmp_dir)

    def inputs(self) -> tuple[str, ...]:
        return *self.files, *self.only

    def parameters(self) -> Mapping[str, Any]:
        return {**asdict(self.options), "min_quality": self.min_quality, "files of only": len(self.only)}

    def parts(
        self, engine: EngineLike, run: Run, shard: Shard | None = None
    ) -> Generator[EncodedKmers | CountEnd, None, None]:
        names = self.files if shard is None else cut_files(self.files, shard.number, shard.of)
        every = self.options.plain
        only = self.only if len(self.only) > 1 else next(iter(self.only), None)
        with (
            counted_reads(names, every, engine, run, self.min_quality, self.tmp_dir, only=only) as counted,
            Spill(counted.engine, every, self.tmp_dir) as held,
        ):
            held.add(counted.fill)
            (database,) = held.databases
            yield from map(EncodedKmers.of, database.stretches())
            places = {self.files.index(name): census for name, census in counted.censuses.items()}
            yield CountEnd(counted.summary(database.distinct, database.total), places)

    def combined(self, pieces: Iterable[PieceFile]) -> Generator[SummedCounts, None, None]:
        """Yield what the pieces add up to, once; it has to be read before the generator is closed."""
        found = [PieceKmers(piece, self.options) for piece in pieces]
        _check_letters(found)
        census = Census()
        for piece in found:
            census.add(piece.end.summary.census)
        numbers = {
            name: sum(getattr(piece.end.summary, name) for piece in found)
            for name in ("kmers", "distinct", "total", "temporary_runs", "temporary_bytes")
        }
        yield SummedCounts(self.options, CountSummary(**numbers, census=census), found, self.tmp_dir)


class PieceKmers:
    """The k-mers of a piece: a set, which is read as a stream.

    Parameters
    ----------
    piece : PieceFile
    options : CountOptions

    Attributes
    ----------
    name : str
    record : PieceRecord
    end : CountEnd

    Raises
    ------
    InputError
        It is cut off or damaged.
    """

    def __init__(self, piece: PieceFile, options: CountOptions) -> None:
        self.name, self.record = piece.name, piece.record
        self.k, self.canonical, self.compressed = options.k, options.canonical, options.compressed
        self._piece = piece
        end = piece.last(CountJob.KINDS)
        if not isinstance(end, CountEnd):
            raise self._error("it does not end with what was found")
        self.end = end

    @property
    def distinct(self) -> int:
        return self.end.summary.distinct

    @property
    def total(self) -> int:
        return self.end.summary.total

    def blocks(self) -> Iterator[KmerBlock]:
        """All k-mers; each call starts anew."""
        with ThreadPoolExecutor(1, "decode-kmers") as pool:
            yield from self.blocks_ahead(pool, 1)

    def blocks_ahead(self, pool: Executor, ahead: int) -> Iterator[KmerBlock]:
        """All k-mers, some of which are decoded ahead by a pool that others use, too.

        Raises
        ------
        InputError
            The piece is damaged.
        """
        order = KeyOrder(self.k)
        numbered = ((some, number) for some in self.stretches() for number in range(len(some.table)))
        with closing(work_ahead(pool, lambda one: one[0].block(one[1]), numbered, ahead)) as blocks:
            try:
                for block in blocks:
                    order.follow(block.keys[:, 0], block.keys[:, -1])
                    yield block
            except ValueError as error:
                raise self._error(str(error)) from error

    def stretches(self) -> Iterator[Sections]:
        """All sections, encoded, a few at a time; see `oclgenomics.kmers.device.merging`.

        Raises
        ------
        InputError
            The piece is damaged.
        """
        with closing(self._piece.parts(CountJob.KINDS)) as parts:
            for part in parts:
                if isinstance(part, EncodedKmers):
                    try:
                        yield part.sections(self.k)
                    except ValueError as error:
                        raise self._error(str(error)) from error

    def _error(self, trouble: str) -> InputError:
        return InputError(f"its k-mers are malformed: {trouble}; {AGAIN}", source=self.name)


def _check_letters(pieces: Sequence[PieceKmers]) -> None:
    """Refuse files whose letters are hardly nucleotides; pieces of a file do not tell."""
    censuses: dict[int, Census] = {}
    for piece in pieces:
        for place, census in piece.end.censuses.items():
            censuses.setdefault(place, Census()).add(census)
    for place, census in sorted(censuses.items()):
        census.check(pieces[0].record.inputs[place].name)
