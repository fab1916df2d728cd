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
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.jobs import Job, path_of
from oclgenomics.app.pieces import AGAIN, PieceFile, Shard
from oclgenomics.app.run import EngineLike, Run
from oclgenomics.errors import InputError
from oclgenomics.io.atomic_file import WholeFile
from oclgenomics.io.raw_file import Progress
from oclgenomics.io.workers import Workers, work_ahead
from oclgenomics.kmers.database.codec import KeyOrder, decode_section, encode_sections
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import KmerBlock
from oclgenomics.kmers.database.layout import SECTION_KMERS
from oclgenomics.kmers.device.counting import Spill, kept_blocks
from oclgenomics.kmers.device.writer import DatabaseWriter
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.result import CountSummary
from oclgenomics.kmers.sources import Folder, Sample, counted_reads, is_set
from oclgenomics.sequence import Census
from oclgenomics.sequence.files import SequenceFiles, file_names
from oclgenomics.sequence.slices import cut_files


@dataclass(frozen=True)
class EncodedKmers:
    """Some k-mers of a piece, which follow those before, as a section of a database has them.

    Attributes
    ----------
    kmers, gap_bytes : int
        See `oclgenomics.kmers.database.codec.decode_section`.
    data : ndarray, uint8 (n,)
    """

    kmers: int
    gap_bytes: int
    data: NDArray[np.uint8]


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
    """What pieces add up to.

    Attributes
    ----------
    options : CountOptions
    summary : CountSummary
        `distinct` and `total` are those of the pieces.
    pieces : sequence of PieceKmers
    spill : Spill
        Merges them.
    """

    options: CountOptions
    summary: CountSummary
    pieces: Sequence[PieceKmers]
    spill: Spill

    def blocks(self, progress: Progress | None = None) -> Iterator[KmerBlock]:
        """K-mers that are kept, in ascending order; they can be taken once.

        Parameters
        ----------
        progress : callable, optional
            Called with (k-mers that were read, all of them) of the pieces that are merged at a time.
        """
        return kept_blocks(self.options, self.spill.sums(self.pieces, progress))

    def write(self, output: str | os.PathLike[str] | WholeFile, progress: Progress | None = None) -> CountSummary:
        """Write the database that one run writes, and return its summary; see `blocks`.

        Raises
        ------
        OutputError
            It cannot be written; nothing half written is left.
        """
        with DatabaseWriter(output, self.options) as writer:
            writer.append_blocks(self.blocks(progress))
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
        every = CountOptions(self.options.k, self.options.canonical)
        only = self.only if len(self.only) > 1 else next(iter(self.only), None)
        with (
            counted_reads(names, every, engine, run, self.min_quality, self.tmp_dir, only=only) as counted,
            Workers(run.threads) as workers,
        ):
            distinct = total = 0
            pieces = (piece for block in counted.blocks() for piece in block.pieces(SECTION_KMERS))
            for encoded, sum_ in workers.map(_encoded, pieces):
                distinct, total = distinct + encoded.kmers, total + sum_
                yield encoded
            places = {self.files.index(name): census for name, census in counted.censuses.items()}
            yield CountEnd(counted.summary(distinct, total), places)

    def combined(self, pieces: Iterable[PieceFile]) -> Generator[SummedCounts, None, None]:
        """Yield what the pieces add up to, once; its blocks have to be taken before the generator is closed."""
        found = [PieceKmers(piece, self.options) for piece in pieces]
        _check_letters(found)
        census = Census()
        for piece in found:
            census.add(piece.end.summary.census)
        numbers = {
            name: sum(getattr(piece.end.summary, name) for piece in found)
            for name in ("kmers", "distinct", "total", "temporary_runs", "temporary_bytes")
        }
        with Spill(None, self.options, self.tmp_dir) as spill:
            yield SummedCounts(self.options, CountSummary(**numbers, census=census), found, spill)


def _encoded(block: KmerBlock) -> tuple[EncodedKmers, int]:
    """The k-mers of a section, and the sum of their counts."""
    data, coded = encode_sections(block.keys, block.counts)
    section = EncodedKmers(len(block), int(coded.table["gap_bytes"][0]), np.frombuffer(data, np.uint8))
    return section, int(block.counts.sum(dtype=np.uint64))


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
        self.k, self.canonical = options.k, options.canonical
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
        parts = self._piece.parts(CountJob.KINDS)
        sections = (part for part in parts if isinstance(part, EncodedKmers))
        with closing(parts), closing(work_ahead(pool, self._decoded, sections, ahead)) as blocks:
            try:
                for block in blocks:
                    order.follow(block.keys[:, 0], block.keys[:, -1])
                    yield block
            except ValueError as error:
                raise self._error(str(error)) from error

    def _decoded(self, section: EncodedKmers) -> KmerBlock:
        return decode_section(section.data.data, key_words(self.k), section.kmers, section.gap_bytes)

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
