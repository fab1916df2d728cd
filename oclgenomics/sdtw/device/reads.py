"""Reads of any source, block by block: aligned with references, or taken through the stages of thresholds."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any, TypeAlias, cast

import numpy as np

from oclgenomics.app.run import EngineLike, Run, lent_engine
from oclgenomics.io.closing import Closing
from oclgenomics.io.raw_file import Progress
from oclgenomics.io.read_ahead import ReadAhead
from oclgenomics.runtime import Engine
from oclgenomics.sdtw.decisions.basis import KindCheck
from oclgenomics.sdtw.decisions.thresholds import UNDECIDED, Thresholds
from oclgenomics.sdtw.device.aligner import Aligner, StagedReads, reads_together
from oclgenomics.sdtw.device.starts import StartFinder
from oclgenomics.sdtw.device.strips import PrefixAligner
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.plan import PrefixBlock, block_reads, prefix_blocks
from oclgenomics.sdtw.result import Alignments, Classified, of_reference
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals import Signals, TrimOptions, read_signals

SignalSource: TypeAlias = Signals | str | os.PathLike[str] | Iterable[Signals] | Iterable[str | os.PathLike[str]]
Work = Generator[tuple[Aligner, StartFinder | None, PrefixBlock], None, None]


class References(Closing):
    """References on a device, as any reads are aligned with them.

    Parameters
    ----------
    engine : Engine
    squiggles : sequence of Squiggle
    options : AlignOptions
    starts : bool
        Whether starts are found, too.
    """

    def __init__(self, engine: Engine, squiggles: Sequence[Squiggle], options: AlignOptions, starts: bool) -> None:
        self.aligner = Aligner(engine, squiggles, options)
        self.finder = StartFinder(engine, squiggles, options) if starts else None

    def close(self) -> None:
        """Let go of the device's memory."""
        vars(self).clear()


Lent = Callable[[Engine, Callable[[], References]], AbstractContextManager[References]]
"""Lends what is opened on an engine, or was before."""


def opened_now(_engine: Engine, opened: Callable[[], References]) -> References:
    """Open it for one use."""
    return opened()


def aligned_reads(
    signals: SignalSource,
    references: tuple[Squiggle, ...],
    options: AlignOptions,
    prefixes: tuple[int, ...],
    *,
    starts: bool,
    trim: TrimOptions | None,
    engine: EngineLike,
    run: Run | None,
    lend: Lent = opened_now,
) -> Generator[tuple[Alignments, Signals], None, None]:
    """Align reads, some at a time, and yield them with what was aligned; see `oclgenomics.sdtw.iter_align`.

    `lend` may keep the references open on the engine.
    """
    signals, from_files = _looked_into(signals)
    check = KindCheck(references, warn=from_files)
    how: dict[str, Any] = {"starts": starts, "trim": trim, "engine": engine, "run": run, "lend": lend}
    work = _work(signals, check, references, options, prefixes[-1], **how)
    with closing(work):
        for aligner, finder, block in work:
            found = align_block(aligner, block, prefixes, finder)
            yield replace(found, trim=trim if from_files else "unknown", reads=check.kind), block.signals


def classified_reads(
    signals: SignalSource,
    targets: tuple[Squiggle, ...],
    decoys: tuple[Squiggle, ...],
    thresholds: Thresholds,
    *,
    starts: bool,
    trim: TrimOptions | None,
    engine: EngineLike,
    run: Run | None,
    lend: Lent = opened_now,
) -> Generator[tuple[Classified, Signals], None, None]:
    """Classify reads, some at a time, and yield them with what was aligned; see `oclgenomics.sdtw.iter_classify`."""
    signals, from_files = _looked_into(signals)
    references, options, longest = targets + decoys, thresholds.options, thresholds.prefixes[-1]
    check = KindCheck(references, thresholds.reads, warn=from_files)
    how: dict[str, Any] = {"starts": starts, "trim": trim, "engine": engine, "run": run, "lend": lend}
    work = _work(signals, check, references, options, longest, **how)
    with closing(work):
        for aligner, finder, block in work:
            yield classify_block(aligner, block, thresholds, len(targets), finder), block.signals


def _looked_into(source: SignalSource) -> tuple[SignalSource, bool]:
    """A source as good as the one given, and whether it is of files, which are then trimmed when read."""
    if isinstance(source, (Signals, str, os.PathLike)):
        return source, not isinstance(source, Signals)
    items: Iterator[Any] = iter(source)
    first = list(islice(items, 1))
    return chain(first, items), bool(first) and not isinstance(first[0], Signals)


def signal_blocks(
    source: SignalSource, *, trim: TrimOptions | None = None, progress: Progress | None = None
) -> Generator[Signals, None, None]:
    """Yield reads in their order, block by block; of files, a thread reads the next block meanwhile.

    Parameters
    ----------
    source : Signals, path, or iterable of Signals or of paths
        `Signals` of an iterable are used as they come, so there may be more of them than memory holds.
    trim, progress
        As `oclgenomics.signals.read_signals` takes them, for files. Progress is called with each block.
    """
    given: Iterable[Any] = [source] if isinstance(source, (Signals, str, os.PathLike)) else source
    items = iter(given)
    for first in items:
        if isinstance(first, Signals):
            yield first
        else:
            yield from _read_ahead([first, *items], trim, progress)


def _read_ahead(
    paths: list[str | os.PathLike[str]], trim: TrimOptions | None, progress: Progress | None
) -> Iterator[Signals]:
    read: list[tuple[int, int | None]] = [(0, 0)]

    def note(done: int, total: int | None) -> None:
        read[0] = done, total

    blocks = cast("Generator[Signals, None, None]", read_signals(paths, trim=trim, progress=note))
    with closing(blocks):
        ahead = ReadAhead(blocks, 1)
        try:
            for block in ahead:
                if progress is not None:
                    progress(*read[0])
                yield block
        finally:
            ahead.stop(wait=True)


def _work(
    signals: SignalSource,
    check: KindCheck,
    references: tuple[Squiggle, ...],
    options: AlignOptions,
    longest: int,
    *,
    starts: bool,
    trim: TrimOptions | None,
    engine: EngineLike,
    run: Run | None,
    lend: Lent,
) -> Work:
    """Yield blocks of reads, cut at the longest prefix, with what aligns them and finds their starts."""
    progress = None if run is None else run.progress
    with lent_engine(engine) as lent, lend(lent, partial(References, lent, references, options, starts)) as ready:
        together = reads_together(ready.aligner, block_reads(longest))
        with closing(signal_blocks(signals, trim=trim, progress=progress)) as blocks:
            for block in prefix_blocks(check.checked(blocks), longest, together):
                yield ready.aligner, ready.finder, block


def align_block(
    aligner: PrefixAligner, block: PrefixBlock, prefixes: tuple[int, ...], finder: StartFinder | None = None
) -> Alignments:
    """Align each prefix of the reads of a block that are long enough for it; with a finder, find where they start."""
    signals = block.signals
    found = Alignments.none(aligner.references, prefixes, signals.names, block.samples, aligner.options)
    staged = StagedReads(aligner, len(signals))
    for number, prefix in enumerate(prefixes):
        enough = np.flatnonzero(signals.lengths >= prefix)
        if len(enough):
            best = staged.align(signals.samples, signals.starts[enough], prefix, enough, np.zeros_like(enough))
            found.cost[enough, number] = best.cost
            found.column[enough, number] = best.column
    if finder is None:
        return found
    start = np.full_like(found.column, -1)
    for number, prefix in enumerate(prefixes):
        for reference in range(len(found.references)):
            which = np.full(len(found), reference)
            column = found.column[:, number, reference]
            start[:, number, reference] = finder.find(signals.samples, signals.starts[:-1], prefix, which, column)
    return replace(found, start=start)


def classify_block(
    aligner: PrefixAligner, block: PrefixBlock, thresholds: Thresholds, targets: int, finder: StartFinder | None = None
) -> Classified:
    """Take the reads of a block from stage to stage; only those that are undecided go on."""
    signals = block.signals
    found = Classified.none(aligner.references, targets, thresholds, signals.names, block.samples)
    staged, going = StagedReads(aligner, len(signals)), np.arange(len(block))
    for number, prefix in enumerate(thresholds.prefixes):
        going = going[signals.lengths[going] >= prefix]
        if not len(going):
            break
        best = staged.align(signals.samples, signals.starts[going], prefix, going, np.zeros_like(going))
        score = thresholds.scores(best.cost, targets)
        decision = thresholds.decide(number, score)
        found.prefix[going], found.score[going], found.decision[going] = prefix, score, decision
        found.cost[going], found.column[going] = best.cost, best.column
        going = going[decision == UNDECIDED]
    if finder is None:
        return found
    start, column = np.full(len(found), -1, np.int64), of_reference(found.column, found.best)
    for prefix in thresholds.prefixes:
        here = found.prefix == prefix
        ends = np.where(here, column, -1)
        start[here] = finder.find(signals.samples, signals.starts[:-1], prefix, found.best, ends)[here]
    return replace(found, start=start)
