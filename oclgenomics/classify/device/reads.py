"""Reads and pairs of mates, with their sketches, from files."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.device.sketches import Sketcher, Sketches, SketchRows, cut_windows, joined_rows, paired_rows
from oclgenomics.classify.options import Input, SketchOptions, Wanted
from oclgenomics.classify.result import Reads
from oclgenomics.errors import InputError
from oclgenomics.io.raw_file import Progress
from oclgenomics.runtime import Engine
from oclgenomics.sequence.aligned_reads import collate_hint
from oclgenomics.sequence.letters import letter_blocks
from oclgenomics.sequence.mates import check_names, paired_reads
from oclgenomics.sequence.name_list import NameList
from oclgenomics.sequence.pieces import LetterBlock

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class HowToRead:
    """What is the same for all inputs of a query.

    Attributes
    ----------
    options : SketchOptions
        Of the reads' windows.
    wanted : Wanted
        Whether the input's own text of each record is kept, whether mates may have different names, and how many reads
        of each input are taken.
    block_bytes : int, optional
    threads : int, optional
    progress : callable, optional
        These three as `sequence.letter_blocks` takes them.
    """

    options: SketchOptions
    wanted: Wanted = Wanted()
    block_bytes: int | None = None
    threads: int | None = None
    progress: Progress | None = None


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
        asked for.
    """

    reads: Reads
    sketches: Sketches
    first: NDArray[np.uint32]
    texts: tuple[NameList, ...]

    def __len__(self) -> int:
        return len(self.reads)


def sketched_reads(engine: Engine, inputs: Sequence[Input], how: HowToRead) -> Generator[SketchedReads, None, None]:
    """Read inputs, one after the other, and sketch their reads.

    Parameters
    ----------
    engine : Engine
    inputs : sequence of Input
    how : HowToRead

    Yields
    ------
    SketchedReads
        In the order of the inputs. Sketches are valid until the next ones are asked for; all else stays.

    Raises
    ------
    InputError
        A defect of an input; mates that have different names or are not equally many, with the record.
    """
    number = 0
    for one in inputs:
        taken = 0
        with closing(_batches(engine, one, how, number)) as batches:
            for batch in batches:
                part = batch if how.wanted.limit is None else _first_of(batch, how.wanted.limit - taken)
                taken += len(part)
                if len(part):
                    yield replace(part, texts=tuple(text.copy() for text in part.texts))
                if taken == how.wanted.limit:
                    break
        number += taken


def _batches(engine: Engine, one: Input, how: HowToRead, number: int) -> Generator[SketchedReads, None, None]:
    if one.mates is not None:
        yield from _from_two_files(engine, one, how, number)
    elif one.interleaved:
        yield from _interleaved(engine, one, how, number)
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
        yield SketchedReads(reads, run.sketches, run.first, () if run.texts is None else (run.texts,))
        number += len(run)


def _interleaved(engine: Engine, one: Input, how: HowToRead, number: int) -> Iterator[SketchedReads]:
    begin = number
    for run in read_runs(engine, one.path, how, together=2):
        before = 2 * (number - begin)
        if len(run) % 2:
            raise InputError(
                "has an odd number of records, so the last one has no mate" + collate_hint(one.path),
                source=one.shown, record=before + len(run),
            )  # fmt: skip
        firsts = np.arange(0, len(run), 2)
        names = [run.names.take(firsts + mate) for mate in (0, 1)]
        if not how.wanted.any_mates:
            check_names(*names, source=one.shown, before=before, step=2)
        texts = [] if run.texts is None else [run.texts.take(firsts + mate) for mate in (0, 1)]
        first, letters, mate_letters = map(np.ascontiguousarray, (run.first[::2], run.letters[::2], run.letters[1::2]))
        reads = Reads(number, names[0], letters, mate_letters, one.name)
        yield SketchedReads(reads, run.sketches, first, tuple(texts))
        number += len(reads)


def _from_two_files(engine: Engine, one: Input, how: HowToRead, number: int) -> Iterator[SketchedReads]:
    assert one.mates is not None
    paths = one.path, one.mates
    runs = [read_runs(engine, path, how) for path in paths]
    for mates in paired_reads(runs, paths, any_mates=how.wanted.any_mates):
        yield _pairs(engine, mates, number, one.name)
        number += len(mates[0])


def _pairs(engine: Engine, mates: tuple[ReadRun, ReadRun], number: int, source: str) -> SketchedReads:
    counts = [np.diff(run.first).astype(np.int64) for run in mates]
    sketches = paired_rows(engine, [(run.rows, count) for run, count in zip(mates, counts, strict=True)])
    first = np.append(0, np.cumsum(counts[0] + counts[1])).astype(np.uint32)
    texts = tuple(run.texts for run in mates if run.texts is not None)
    reads = Reads(number, mates[0].names, mates[0].letters, mates[1].letters, source)
    return SketchedReads(reads, sketches, first, texts)


@dataclass(frozen=True)
class ReadRun:
    """Reads that follow each other in an input; arrays with an item a read.

    Attributes
    ----------
    sketches : Sketches
    first : ndarray, uint32 (reads + 1,)
        The row of the first window of each read in `sketches`, and the row behind the last one.
    letters : ndarray, uint32
    names : NameList
        The first word of each header.
    texts : NameList or None
        The record as it stands in the input.
    """

    sketches: Sketches
    first: NDArray[np.uint32]
    letters: NDArray[np.uint32]
    names: NameList
    texts: NameList | None

    def __len__(self) -> int:
        return len(self.letters)

    @property
    def rows(self) -> SketchRows:
        """The sketches of these reads."""
        return SketchRows(self.sketches, int(self.first[0]), int(self.first[-1]))

    def part(self, begin: int, end: int | None = None) -> ReadRun:
        """Return the reads from `begin` on, up to `end`."""
        end = len(self) if end is None else min(end, len(self))
        texts = None if self.texts is None else self.texts[begin:end]
        names = self.names[begin:end]
        return ReadRun(self.sketches, self.first[begin : end + 1], self.letters[begin:end], names, texts)


def read_runs(
    engine: Engine, path: str | os.PathLike[str], how: HowToRead, *, together: int = 1
) -> Generator[ReadRun, None, None]:
    """Read an input and sketch its reads.

    Parameters
    ----------
    engine : Engine
    path : path
    how : HowToRead
    together : int
        Reads that no run may separate: 2 where mates follow each other. Only the last run may have another number.

    Yields
    ------
    ReadRun
        Of one read at least; valid until the next one is asked for.
    """
    sketcher = Sketcher(engine, how.options)
    kept: _Begun | None = None
    blocks = letter_blocks(
        engine, [path], overlap=how.options.winlen - 1, may_be_empty=True, block_bytes=how.block_bytes,
        threads=how.threads, progress=how.progress,
    )  # fmt: skip
    try:
        for block in blocks:
            cut = cut_windows(block.pieces, how.options)
            begun = _Begun.of(block, sketcher.sketch(block.text, cut), cut.first, texts=how.wanted.texts)
            begun = begun if kept is None else kept.joined(engine, begun)
            whole = begun.whole // together * together
            kept = begun.kept(engine, whole)
            if whole:
                yield begun.run.part(0, whole)
    finally:
        blocks.close()
    if kept is not None and len(kept.run):
        yield kept.run


@dataclass(frozen=True)
class _Begun:
    """Reads of a block, of which the last one may go on in the next.

    Attributes
    ----------
    run : ReadRun
    record : int
        Number of the first read in the input.
    whole : int
        Reads that have ended.
    """

    run: ReadRun
    record: int
    whole: int

    @classmethod
    def of(cls, block: LetterBlock, sketches: Sketches, first: NDArray[np.uint32], *, texts: bool) -> _Begun:
        """Take a block, of whose records each has one piece."""
        pieces = block.pieces
        letters = pieces.size
        if pieces.start[0]:  # of the first one alone, which an earlier block began
            letters = letters.copy()
            letters[:1] += pieces.start[:1].astype(np.uint32)
        run = ReadRun(sketches, first, letters, block.names, block.texts() if texts else None)
        return cls(run, int(pieces.record[0]), len(pieces) - (not pieces.ends[-1]))

    def joined(self, engine: Engine, more: _Begun) -> _Begun:
        """Put what was kept before the next block, whose first piece may continue the last record of these."""
        mine, others = self.run, more.run
        continued = more.record < self.record + len(mine)
        rows = [run.rows for run in (mine, others)]
        first = np.append(mine.first - mine.first[0], others.first[1:] - others.first[0] + len(rows[0]))
        letters = np.append(mine.letters, others.letters)
        if continued:
            at = len(mine)
            first, letters = np.delete(first, at), np.delete(letters, at - 1)
        texts = _joined_texts(mine.texts, others.texts, continued=continued)
        names = NameList.joined([mine.names, others.names])
        run = ReadRun(joined_rows(engine, rows), first, letters, names, texts)
        return _Begun(run, self.record, len(mine) + more.whole - continued)

    def kept(self, engine: Engine, begin: int) -> _Begun | None:
        """Copy the reads from `begin` on; None if there are none."""
        if begin == len(self.run):
            return None
        tail = self.run.part(begin)
        first = tail.first - tail.first[0]
        texts = None if tail.texts is None else tail.texts.copy()
        run = ReadRun(joined_rows(engine, [tail.rows]), first, tail.letters, tail.names.copy(), texts)
        return _Begun(run, self.record + begin, self.whole - begin)


def _joined_texts(mine: NameList | None, others: NameList | None, *, continued: bool) -> NameList | None:
    if mine is None or others is None:
        return None
    joined = NameList.joined([mine, others])
    return NameList(joined.letters, np.delete(joined.starts, len(mine))) if continued else joined
