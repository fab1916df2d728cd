"""Pairs of mates among records that are read some at a time, whatever else is known of the records."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, fields
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.sequence.aligned_reads import collate_hint
from oclgenomics.sequence.name_list import NameList, first_difference

NAMES_DIFFER = "the mates of a pair have different names, {} and {}; give `any_mates` if they are mates all the same"
Writer = Callable[[tuple[NameList, ...], NDArray[np.bool_]], object]
"""Takes the texts of reads, or of first and second mates, and which of them to write."""

NamedT = TypeVar("NamedT", bound="NamedRun")
RunT = TypeVar("RunT", bound="ReadRun")
RunT_co = TypeVar("RunT_co", bound="ReadRun", covariant=True)


class NamedRun(Protocol):
    """Records that follow each other in an input, of which mates need no more than this."""

    @property
    def names(self) -> NameList: ...

    def __len__(self) -> int: ...

    def part(self: NamedT, begin: int, end: int | None = None) -> NamedT: ...


@dataclass(frozen=True)
class ReadRun:
    """Records that follow each other in an input, and what else is known of each: a base for what adds fields.

    Attributes
    ----------
    names : NameList
        The first word of each header.
    texts : NameList
        Each record as it stands in the input. A line break at its end may be missing.
    """

    names: NameList
    texts: NameList

    def __len__(self) -> int:
        return len(self.texts)

    def part(self: RunT, begin: int, end: int | None = None) -> RunT:
        """Return the records from `begin` on, up to `end`."""
        some = slice(begin, len(self) if end is None else end)
        return type(self)(*(column[some] for column in self._columns()))

    def take(self: RunT, which: NDArray[np.int64]) -> RunT:
        """Return some records, in the order of their numbers."""
        return type(self)(*(column[which] for column in self._columns()))

    def copy(self: RunT) -> RunT:
        """Return the same records in memory of their own."""
        return type(self)(*(column.copy() for column in self._columns()))

    def joined(self: RunT, more: RunT) -> RunT:
        """Return these records and others behind them."""
        both = zip(self._columns(), more._columns(), strict=True)
        columns: list[Any] = [
            NameList.joined(pair) if isinstance(pair[0], NameList) else np.concatenate(pair) for pair in both
        ]
        return type(self)(*columns)

    def _columns(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]


class KeptReads:
    """Has the first writer write reads that are kept, and the second one, if there is one, all others.

    Parameters
    ----------
    writers : sequence of callable
    both : bool
        A pair passes if both mates do; if not, either is enough.
    drop : bool
        Keep what does not pass.

    Attributes
    ----------
    reads, kept : int
        Records so far, mates one by one, and those of them that were kept.
    pairs : int
        Pairs so far.
    """

    def __init__(self, writers: Sequence[Writer], *, both: bool, drop: bool) -> None:
        self._passes = np.logical_and if both else np.logical_or
        self._drop, self._writers = drop, writers
        self.reads = self.kept = self.pairs = 0

    def take(
        self,
        passing: Sequence[NDArray[np.bool_]],
        texts: tuple[NameList, ...],
        shown: tuple[NameList, ...] | None = None,
    ) -> NDArray[np.bool_]:
        """Write some reads, or first and second mates, of which some pass; return which are kept.

        Parameters
        ----------
        passing : sequence of ndarray of bool
        texts : tuple of NameList
            As they stand in the input.
        shown : tuple of NameList, optional
            As they are written if they are kept, if not as they stand.
        """
        kept: NDArray[np.bool_] = self._passes.reduce(passing) ^ self._drop
        chosen = ((texts if shown is None else shown, kept), (texts, ~kept))
        for writer, (each, which) in zip(self._writers, chosen, strict=False):
            writer(each, which)
        self.reads += len(texts) * len(kept)
        self.kept += len(texts) * int(kept.sum())
        self.pairs += len(kept) if len(texts) == 2 else 0
        return kept


class OpenReads(Protocol[RunT_co]):
    """Reads an input, some records at a time, which are valid until the next ones are asked for."""

    def __call__(self, path: str, *, second: bool) -> Generator[RunT_co, None, None]:
        """Read a file; `second` is true for one of second mates, which goes along with the first mates' file."""


def mates_of_inputs(
    opened: OpenReads[RunT],
    singles: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    *,
    interleaved: bool,
    any_mates: bool,
) -> Iterator[tuple[RunT, ...]]:
    """Yield all reads, or first and second mates of pairs, some at a time.

    Parameters
    ----------
    opened : OpenReads
    singles : sequence of str
        Files, which come first.
    pairs : sequence of (str, str)
        Files of first mates and of second mates.
    interleaved : bool
        In `singles`, mates follow each other.
    any_mates : bool
        Take mates that have different names as pairs.

    Raises
    ------
    InputError
        A defect of an input, FASTA and FASTQ together, or mates that do not belong together.
    """
    formats = _SameFormat()
    for path in singles:
        with closing(formats.checked(opened(path, second=False), path)) as runs:
            if interleaved:
                yield from interleaved_pairs(runs, path, any_mates=any_mates)
            else:
                yield from ((run,) for run in runs)
    for both in pairs:
        streams = [
            formats.checked(opened(path, second=second), path) for path, second in zip(both, (False, True), strict=True)
        ]
        yield from paired_reads(streams, both, any_mates=any_mates)


def interleaved_pairs(runs: Iterator[RunT], source: str, *, any_mates: bool) -> Iterator[tuple[RunT, RunT]]:
    """Take each two records for a pair; yield the first and the second mates of some pairs.

    Raises
    ------
    InputError
        An odd number of records, or mates with different names.
    """
    left: RunT | None = None
    before = 0
    for run in runs:
        run = run if left is None else left.joined(run)
        whole = len(run) // 2 * 2
        left = run.part(whole).copy() if whole < len(run) else None
        if whole:
            firsts = np.arange(0, whole, 2)
            mates = run.take(firsts), run.take(firsts + 1)
            if not any_mates:
                check_names(mates[0].names, mates[1].names, source=source, before=before, step=2)
            yield mates
            before += whole
    if left is not None:
        message = "has an odd number of records, so the last one has no mate" + collate_hint(source)
        raise InputError(message, source=source, record=before + 1)


def paired_reads(
    runs: Sequence[Generator[NamedT, None, None]], paths: tuple[str, str], *, any_mates: bool
) -> Iterator[tuple[NamedT, NamedT]]:
    """Take the n-th records of two inputs for a pair; yield the first and the second mates of some pairs.

    Raises
    ------
    InputError
        Mates that are not equally many, or that have different names.
    """
    before = 0
    with ExitStack() as stack:
        streams = [stack.enter_context(closing(run)) for run in runs]
        now = [next(stream, None) for stream in streams]
        while now[0] is not None and now[1] is not None:
            count = min(len(now[0]), len(now[1]))
            mates = now[0].part(0, count), now[1].part(0, count)
            if not any_mates:
                source = " + ".join(getattr(path, "shown", path) for path in paths)
                check_names(mates[0].names, mates[1].names, source=source, before=before)
            yield mates
            before += count
            left = [None if len(run) == count else run.part(count) for run in now if run is not None]
            now = [next(stream, None) if run is None else run for run, stream in zip(left, streams, strict=True)]
        for run, path, other in zip(now, paths, paths[::-1], strict=True):
            if run is None and any(one is not None for one in now):
                raise InputError(
                    f"ends after {before:,} records, but {other} goes on; mates have to be equally many",
                    source=path, record=before,
                )  # fmt: skip


def check_names(first: NameList, second: NameList, *, source: str, before: int, step: int = 1) -> None:
    """Refuse mates that have different names.

    Parameters
    ----------
    first, second : NameList
        Those of first and of second mates.
    source : str
        What messages call the input.
    before : int
        Records of the input before these.
    step : int
        Records from a first mate to the next one.

    Raises
    ------
    InputError
    """
    at = first_difference(first, second)
    if at is not None:
        message = NAMES_DIFFER.format(repr(first[at]), repr(second[at])) + (collate_hint(source) if step == 2 else "")
        raise InputError(message, source=source, record=before + step * at + 1)


class _SameFormat:
    """Sees to it that all inputs are FASTA, or all FASTQ, since they go into one file."""

    def __init__(self) -> None:
        self._mark = self._path = ""

    def checked(self, runs: Generator[RunT, None, None], path: str) -> Generator[RunT, None, None]:
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
