"""Alignments and classifications as jobs, of which other processes do pieces: reads by the bytes of their files."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, astuple, dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeVar

from oclgenomics.app.jobs import Job, kept_open
from oclgenomics.app.pieces import PieceFile, Shard, check_same_input
from oclgenomics.app.run import EngineLike, Run
from oclgenomics.errors import UsageError
from oclgenomics.runtime import Engine
from oclgenomics.sdtw.decisions.basis import KindCheck, ReadKind, Trim, kinds_of, trim_for, trim_text
from oclgenomics.sdtw.decisions.thresholds import Thresholds, checked_trim
from oclgenomics.sdtw.device.reads import References, aligned_reads, classified_reads
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.plan import cut_files
from oclgenomics.sdtw.result import Alignments, Classified
from oclgenomics.sdtw.squiggles.opened import open_references, open_targets, options_for
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals import FilePart, Signals, TrimOptions, signal_files

PartT = TypeVar("PartT", Alignments, Classified)


@dataclass(frozen=True, eq=False)
class ReadRows:
    """Reads of a part as pieces have them: without what all parts of a job share.

    Attributes
    ----------
    arrays : mapping of str to ndarray
        Those of `Alignments` or `Classified`, with a row for each read.
    kinds : tuple of (ReadKind, str)
        What the reads are of, and the first of each kind.
    """

    arrays: Mapping[str, Any]
    kinds: tuple[tuple[ReadKind, str], ...]

    @classmethod
    def of(cls, part: Alignments | Classified, signals: Signals) -> ReadRows:
        """Return the rows of a part and the kinds of its reads."""
        return cls({name: getattr(part, name) for name in part.ROWS}, tuple(kinds_of(signals).items()))


@dataclass(frozen=True)
class _ReadsJob(Job[PartT]):
    """What jobs on the reads of files have in common."""

    KINDS = (ReadRows, ReadKind)

    signals: tuple[str, ...]

    def inputs(self) -> tuple[str, ...]:
        return (*self.files, *self.read_again())

    @cached_property
    def files(self) -> list[str]:
        """All files of signals, those in folders among them."""
        return signal_files(self.signals)

    def open(self) -> None:
        """Read the references, so that what is wrong with them comes before a device is opened."""
        self.check()

    def of(self, signals: Sequence[str]) -> Self:
        """Return the job for other signals, with what this one has read of all other files."""
        other = replace(self, signals=tuple(signals))
        vars(other).update({name: value for name, value in vars(self).items() if name in ("opened", "settled_trim")})
        return other

    @property
    @abstractmethod
    def opened(self) -> tuple[Any, ...]:
        """What reads are aligned with, as it is in memory."""

    @abstractmethod
    def read_again(self) -> tuple[str, ...]:
        """Inputs that reports need: all but the signals."""

    @abstractmethod
    def check(self) -> KindCheck:
        """Return what looks at the reads of all pieces, one after the other."""

    @abstractmethod
    def whole_part(self, rows: ReadRows, kind: ReadKind) -> PartT:
        """Return a part of what pieces have of it, and what the reads so far are of."""

    def source(self, shard: Shard | None) -> list[str] | list[FilePart]:
        """The files of the whole job or of a piece."""
        return self.files if shard is None else cut_files([FilePart.whole(name) for name in self.files], shard)

    def lend(self, engine: Engine, opened: Callable[[], References]) -> contextlib.AbstractContextManager[References]:
        """Lend the references on an engine, and keep them open for the next piece."""
        key = self.NAME, self.opened, repr(self.parameters())  # a squiggle equals none but itself
        return kept_open(engine, key, opened)

    def combined(self, pieces: Iterable[PieceFile]) -> Iterator[PartT]:
        check, first = self.check(), True
        for piece in pieces:
            if first:
                self._check_first(piece)
                first = False
            for rows in piece.parts(self.KINDS):
                check.see_kinds(dict(rows.kinds))
                yield self.whole_part(rows, check.kind)

    def _check_first(self, piece: PieceFile) -> None:
        """Refuse other references and thresholds than those of the pieces, and starts where they have none."""
        for place, name in enumerate(reversed(self.read_again()), 1):
            check_same_input(name, piece, -place)
        if piece.record.parameters["starts"] != self.parameters()["starts"]:
            raise UsageError(f"{piece.name}: has no starts; make the pieces with --starts, or with --format paf")


@dataclass(frozen=True)
class AlignJob(_ReadsJob[Alignments]):
    """An alignment of reads; its pieces are cut at reads.

    Attributes
    ----------
    signals, references : tuple of str
        Files, and folders of signals.
    options : AlignOptions
    prefixes : tuple of int
    starts : bool
    trim : TrimOptions, optional
        As of `oclgenomics.sdtw.align`.
    """

    NAME = "sdtw align"

    references: tuple[str, ...]
    options: AlignOptions
    prefixes: tuple[int, ...]
    starts: bool
    trim: TrimOptions | None

    @cached_property
    def opened(self) -> tuple[Squiggle, ...]:
        """The references themselves."""
        return open_references(self.references)

    @cached_property
    def settled_options(self) -> AlignOptions:
        """The options, with what the pore of the references decides."""
        return options_for(self.options, self.opened)

    @cached_property
    def settled_trim(self) -> TrimOptions | None:
        """What is left out of reads, the usual trimming being that of the pore of the references."""
        return trim_for(self.trim, self.opened)

    def read_again(self) -> tuple[str, ...]:
        return self.references

    def parameters(self) -> Mapping[str, Any]:
        own = {"prefixes": self.prefixes, "starts": self.starts, "trim": trim_text(self.settled_trim)}
        return asdict(self.settled_options.resolved()) | own

    def parts(self, engine: EngineLike, run: Run, shard: Shard | None = None) -> Generator[Any, None, None]:
        parts = aligned_reads(
            self.source(shard), self.opened, self.settled_options, self.prefixes, starts=self.starts,
            trim=self.settled_trim, engine=engine, run=run, lend=self.lend,
        )  # fmt: skip
        return _rows_of(parts, shard)

    def check(self) -> KindCheck:
        return KindCheck(self.opened, warn=False)

    def whole_part(self, rows: ReadRows, kind: ReadKind) -> Alignments:
        options, trim = self.settled_options, self.settled_trim
        return Alignments(self.opened, self.prefixes, options=options, trim=trim, reads=kind, **rows.arrays)


@dataclass(frozen=True)
class ClassifyJob(_ReadsJob[Classified]):
    """A classification of reads; its pieces are cut at reads.

    Attributes
    ----------
    signals, targets, decoys : tuple of str
        Files, and folders of signals.
    thresholds : Thresholds
    thresholds_file : str, optional
        Where they are from.
    starts : bool
    trim : TrimOptions, None or 'thresholds'
        As of `oclgenomics.sdtw.classify`.
    """

    NAME = "sdtw classify"

    targets: tuple[str, ...]
    decoys: tuple[str, ...]
    thresholds: Thresholds
    thresholds_file: str | None
    starts: bool
    trim: Trim

    @cached_property
    def opened(self) -> tuple[tuple[Squiggle, ...], tuple[Squiggle, ...]]:
        """The targets and the decoys themselves."""
        return open_targets(self.targets, self.decoys)

    @cached_property
    def settled_trim(self) -> TrimOptions | None:
        """What is left out of reads.

        Raises
        ------
        UsageError
            The thresholds are for something else; see `oclgenomics.sdtw.decisions.thresholds.checked_trim`.
        """
        return checked_trim(self.thresholds, *self.opened, self.trim)

    @cached_property
    def settled_thresholds(self) -> Thresholds:
        """The thresholds, with what the pore of the references decides."""
        return self.thresholds.for_references(sum(self.opened, ()))

    def read_again(self) -> tuple[str, ...]:
        return (*self.targets, *self.decoys, *([] if self.thresholds_file is None else [self.thresholds_file]))

    def parameters(self) -> Mapping[str, Any]:
        return asdict(self.settled_thresholds.options.resolved()) | {
            "stages": tuple(map(astuple, self.thresholds.stages)), "score": self.thresholds.score,
            "targets": len(self.targets), "starts": self.starts, "trim": trim_text(self.settled_trim),
        }  # fmt: skip

    def parts(self, engine: EngineLike, run: Run, shard: Shard | None = None) -> Generator[Any, None, None]:
        parts = classified_reads(
            self.source(shard), *self.opened, self.settled_thresholds, starts=self.starts, trim=self.settled_trim,
            engine=engine, run=run, lend=self.lend,
        )  # fmt: skip
        return _rows_of(parts, shard)

    def check(self) -> KindCheck:
        return KindCheck(sum(self.opened, ()), self.thresholds.reads, warn=False)

    def whole_part(self, rows: ReadRows, kind: ReadKind) -> Classified:
        targets, decoys = self.opened
        return Classified(targets + decoys, len(targets), self.settled_thresholds, **rows.arrays)


def _rows_of(
    parts: Generator[tuple[Alignments | Classified, Signals], None, None], shard: Shard | None
) -> Generator[Any, None, None]:
    """The parts of a whole job, or their rows for a piece."""
    with closing(parts):
        for part, signals in parts:
            yield part if shard is None else ReadRows.of(part, signals)
