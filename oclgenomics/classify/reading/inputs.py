"""Reads and pairs of mates, with their sketches, from files."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.device.sketch_rows import paired_rows
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.classify.reading.read_runs import HowToRead, ReadRun, read_runs
from oclgenomics.classify.result import Reads
from oclgenomics.errors import InputError
from oclgenomics.runtime import Engine
from oclgenomics.sequence.mate_names import first_difference
from oclgenomics.sequence.name_list import NameList

__all__ = ["Input", "SketchedReads", "inputs_of", "sketched_reads"]

PathLike = str | os.PathLike[str]
NAMES_DIFFER = "the mates of a pair have different names, {} and {}; give `any_mates` if they are mates all the same"


class Input(NamedTuple):
    """A file of reads, one of mates that follow each other, or two of mates.

    Attributes
    ----------
    path : str
    mates : str or None
        The file of the second mates.
    interleaved : bool
        Each two records are a pair.
    """

    path: str
    mates: str | None = None
    interleaved: bool = False

    @property
    def name(self) -> str:
        """The file, or both."""
        return self.path if self.mates is None else f"{self.path} + {self.mates}"

    @property
    def stored(self) -> bool:
        """Whether it comes from files alone, not through a pipe."""
        return all(name != "-" and os.path.isfile(name) for name in (self.path, self.mates) if name is not None)


@dataclass(frozen=True)
class SketchedReads:
    """Reads, or pairs of mates, with their sketches on the device.

    Attributes
    ----------
    reads : Reads
    sketches : Sketches
    first : ndarray, uint32 (reads + 1,)
        The row in `sketches` of the first window of each read, and the row behind the last one. Windows of a second
        mate follow those of the first.
    texts : tuple of NameList
        The records of the reads, or of the first and of the second mates, as they stand in the input; empty unless
        asked for. They are valid as long as the sketches are.
    """

    reads: Reads
    sketches: Sketches
    first: NDArray[np.uint32]
    texts: tuple[NameList, ...]

    def __len__(self) -> int:
        return len(self.reads)


def inputs_of(
    reads: Sequence[PathLike], paired: Sequence[tuple[PathLike, PathLike]] = (), *, interleaved: bool = False
) -> list[Input]:
    """List the inputs of a query: files of reads, then pairs of files.

    Parameters
    ----------
    reads : sequence of path
    paired : sequence of (path, path)
        First mates and second mates.
    interleaved : bool
        Mates follow each other in `reads`.
    """
    found = [Input(os.fspath(path), None, interleaved) for path in reads]
    return found + [Input(os.fspath(first), os.fspath(second)) for first, second in paired]


def sketched_reads(
    engine: Engine,
    inputs: Sequence[Input],
    how: HowToRead,
    *,
    any_mates: bool = False,
    limit: int | None = None,
) -> Generator[SketchedReads, None, None]:
    """Read inputs, one after the other, and sketch their reads.

    Parameters
    ----------
    engine : Engine
    inputs : sequence of Input
    how : HowToRead
    any_mates : bool
        Take mates that have different names.
    limit : int, optional
        Reads, or pairs, of each input that are taken.

    Yields
    ------
    SketchedReads
        In the order of the inputs; valid until the next ones are asked for.

    Raises
    ------
    InputError
        A defect of an input; mates that have different names or are not equally many, with the record.
    """
    number = 0
    for one in inputs:
        taken = 0
        with closing(_batches(engine, one, how, number, any_mates=any_mates)) as batches:
            for batch in batches:
                part = batch if limit is None else _first_of(batch, limit - taken)
                taken += len(part)
                if len(part):
                    yield part
                if taken == limit:
                    break
        number += taken


def _batches(
    engine: Engine, one: Input, how: HowToRead, number: int, *, any_mates: bool
) -> Generator[SketchedReads, None, None]:
    if one.mates is not None:
        yield from _from_two_files(engine, one, how, number, any_mates=any_mates)
    elif one.interleaved:
        yield from _interleaved(engine, one, how, number, any_mates=any_mates)
    else:
        yield from _single(engine, one, how, number)


def _first_of(batch: SketchedReads, count: int) -> SketchedReads:
    reads = batch.reads
    mates = None if reads.mate_letters is None else reads.mate_letters[:count]
    some = Reads(reads.number, reads.names[:count], reads.letters[:count], mates, reads.source)
    return SketchedReads(some, batch.sketches, batch.first[: count + 1], tuple(text[:count] for text in batch.texts))


def _single(engine: Engine, one: Input, how: HowToRead, number: int) -> Iterator[SketchedReads]:
    for run in read_runs(engine, one.path, how):
        reads = Reads(number, run.names, run.letters, None, one.name)
        yield SketchedReads(reads, run.sketches, run.first, _texts(run.texts))
        number += len(run)


def _interleaved(
    engine: Engine, one: Input, how: HowToRead, number: int, *, any_mates: bool
) -> Iterator[SketchedReads]:
    begin = number
    for run in read_runs(engine, one.path, how, together=2):
        before = 2 * (number - begin)
        if len(run) % 2:
            raise InputError(
                "has an odd number of records, so the last one has no mate", source=one.name, record=before + len(run)
            )
        firsts = np.arange(0, len(run), 2)
        names = [run.names.take(firsts + mate) for mate in (0, 1)]
        if not any_mates:
            _check_names(*names, source=one.name, before=before, step=2)
        texts = [] if run.texts is None else [run.texts.take(firsts + mate) for mate in (0, 1)]
        first, letters, mate_letters = map(np.ascontiguousarray, (run.first[::2], run.letters[::2], run.letters[1::2]))
        reads = Reads(number, names[0], letters, mate_letters, one.name)
        yield SketchedReads(reads, run.sketches, first, tuple(texts))
        number += len(reads)


def _from_two_files(
    engine: Engine, one: Input, how: HowToRead, number: int, *, any_mates: bool
) -> Iterator[SketchedReads]:
    assert one.mates is not None
    paths = (one.path, one.mates)
    before = 0
    with ExitStack() as stack:
        streams = [stack.enter_context(closing(read_runs(engine, path, how))) for path in paths]
        runs = [next(stream, None) for stream in streams]
        while runs[0] is not None and runs[1] is not None:
            count = min(len(runs[0]), len(runs[1]))
            mates = [runs[0].part(0, count), runs[1].part(0, count)]
            if not any_mates:
                _check_names(mates[0].names, mates[1].names, source=one.name, before=before)
            yield _pairs(engine, mates, number + before, one.name)
            before += count
            runs = [_behind(run, count, stream) for run, stream in zip(runs, streams, strict=True)]
        _check_ends(runs, paths, before)


def _behind(run: ReadRun | None, count: int, stream: Iterator[ReadRun]) -> ReadRun | None:
    """The reads of a run behind the first `count`, or the next run where there are none."""
    return next(stream, None) if run is None or len(run) == count else run.part(count)


def _pairs(engine: Engine, mates: list[ReadRun], number: int, source: str) -> SketchedReads:
    counts = [np.diff(run.first).astype(np.int64) for run in mates]
    sketches = paired_rows(engine, [(run.rows, count) for run, count in zip(mates, counts, strict=True)])
    first = np.append(0, np.cumsum(counts[0] + counts[1])).astype(np.uint32)
    texts = tuple(run.texts for run in mates if run.texts is not None)
    reads = Reads(number, mates[0].names, mates[0].letters, mates[1].letters, source)
    return SketchedReads(reads, sketches, first, texts)


def _check_names(first: NameList, second: NameList, *, source: str, before: int, step: int = 1) -> None:
    at = first_difference(first, second)
    if at is not None:
        message = NAMES_DIFFER.format(repr(first[at]), repr(second[at]))
        raise InputError(message, source=source, record=before + step * at + 1)


def _check_ends(runs: Sequence[ReadRun | None], paths: tuple[str, str], before: int) -> None:
    """Refuse two files of which one goes on."""
    for run, path, other in zip(runs, paths, paths[::-1], strict=True):
        if run is None and any(runs):
            raise InputError(f"ends after {before:,} records, but {other} goes on; mates have to be equally many",
                             source=path, record=before)  # fmt: skip


def _texts(texts: NameList | None) -> tuple[NameList, ...]:
    return () if texts is None else (texts,)
