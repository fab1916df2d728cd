"""Reads of one input with their sketches: whole ones, whatever the blocks in which they come."""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.device.sketch_rows import SketchRows, joined_rows
from oclgenomics.classify.device.sketcher import Sketcher
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.classify.device.window_cut import cut_windows
from oclgenomics.classify.options import SketchOptions
from oclgenomics.io.source import Progress
from oclgenomics.runtime import Engine
from oclgenomics.sequence.letters import LetterBlock, letter_blocks
from oclgenomics.sequence.name_list import NameList

__all__ = ["HowToRead", "ReadRun", "read_runs"]


@dataclass(frozen=True)
class HowToRead:
    """What is the same for all inputs of a query.

    Attributes
    ----------
    options : SketchOptions
        Of the reads' windows.
    texts : bool
        Keep the input's own text of each record.
    block_bytes : int, optional
    threads : int, optional
    progress : callable, optional
        These three as `sequence.letter_blocks` takes them.
    """

    options: SketchOptions
    texts: bool = False
    block_bytes: int | None = None
    threads: int | None = None
    progress: Progress | None = None


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
            begun = _Begun.of(block, sketcher.sketch(block.text, cut), cut.first, texts=how.texts)
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
