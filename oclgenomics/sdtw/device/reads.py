"""Reads of any source, block by block: aligned with references, or taken through the stages of thresholds."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

from oclgenomics.app.run import EngineLike, Run, lent_engine
from oclgenomics.io.closing import Closing
from oclgenomics.io.raw_file import Progress
from oclgenomics.io.read_ahead import ReadAhead
from oclgenomics.runtime import Engine
from oclgenomics.sdtw.decisions.basis import KindCheck
from oclgenomics.sdtw.decisions.thresholds import UNDECIDED, Thresholds
from oclgenomics.sdtw.device.aligner import Aligner, StagedReads, blocks_together, reads_together
from oclgenomics.sdtw.device.starts import StartFinder
from oclgenomics.sdtw.device.steps import Steps, in_turn
from oclgenomics.sdtw.device.strips import PrefixAligner
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.plan import MAX_BLOCK_SAMPLES, PrefixBlock, block_reads, prefix_blocks
from oclgenomics.sdtw.result import Alignments, Classified, of_reference
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals import Signals, TrimOptions, read_signals

SignalSource: TypeAlias = Signals | str | os.PathLike[str] | Iterable[Signals] | Iterable[str | os.PathLike[str]]


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


PartT = TypeVar("PartT")
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

    def align(ready: References, block: PrefixBlock) -> Steps[tuple[Alignments, Signals]]:
        kind = check.kind  # of the reads so far
        found = yield from align_block(ready.aligner, block, prefixes, ready.finder)
        return replace(found, trim=trim if from_files else "unknown", reads=kind), block.signals

    at_hand = from_files or isinstance(signals, Signals)
    how: dict[str, Any] = {
        "starts": starts, "trim": trim, "engine": engine, "run": run, "lend": lend, "at_hand": at_hand,
    }  # fmt: skip
    with closing(_parts(align, signals, check, references, options, prefixes[-1], **how)) as parts:
        yield from parts


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

    def classify(ready: References, block: PrefixBlock) -> Steps[tuple[Classified, Signals]]:
        found = yield from classify_block(ready.aligner, block, thresholds, len(targets), ready.finder)
        return found, block.signals

    at_hand = from_files or isinstance(signals, Signals)
    how: dict[str, Any] = {
        "starts": starts, "trim": trim, "engine": engine, "run": run, "lend": lend, "at_hand": at_hand,
    }  # fmt: skip
    with closing(_parts(classify, signals, check, references, options, longest, **how)) as parts:
        yield from parts


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

    blocks = cast(
        "Generator[Signals, None, None]", read_signals(paths, trim=trim, block_samples=MAX_BLOCK_SAMPLES, progress=note)
    )
    with closing(blocks):
        ahead = ReadAhead(blocks, 1)
        try:
            for block in ahead:
                if progress is not None:
                    progress(*read[0])
                yield block
        finally:
            ahead.stop(wait=True)


def _parts(
    work: Callable[[References, PrefixBlock], Steps[PartT]],
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
    at_hand: bool,
) -> Generator[PartT, None, None]:
    """Yield what comes of blocks of reads, cut at the longest prefix.

    Reads that are at hand are worked on two blocks at a time. Of others, a block may take long to come.
    """
    progress = None if run is None else run.progress
    with lent_engine(engine) as lent, lend(lent, partial(References, lent, references, options, starts)) as ready:
        together = reads_together(ready.aligner, block_reads(longest))
        turns = blocks_together(ready.aligner) if at_hand else 1
        with closing(signal_blocks(signals, trim=trim, progress=progress)) as blocks:
            cut = prefix_blocks(check.checked(blocks), longest, together)
            yield from in_turn((work(ready, block) for block in cut), turns)


def align_block(
    aligner: PrefixAligner, block: PrefixBlock, prefixes: tuple[int, ...], finder: StartFinder | None = None
) -> Steps[Alignments]:
    """Align each prefix of the reads of a block that are long enough for it; with a finder, find where they start."""
    signals = block.signals
    found = Alignments.none(aligner.references, prefixes, signals.names, block.samples, aligner.options)
    staged = StagedReads(aligner, len(signals))
    for number, prefix in enumerate(prefixes):
        enough = np.flatnonzero(signals.lengths >= prefix)
        if len(enough):
            numbers = np.zeros_like(enough)
            best = yield from staged.align(signals.samples, signals.starts[enough], prefix, enough, numbers)
            found.cost[enough, number] = best.cost
            found.column[enough, number] = best.column
    if finder is None:
        return found
    start = np.full_like(found.column, -1)
    for number, prefix in enumerate(prefixes):
        for reference in range(len(found.references)):
            which = np.full(len(found), reference)
            column = found.column[:, number, reference]
            place = yield from finder.find(signals.samples, signals.starts[:-1], prefix, which, column)
            start[:, number, reference] = place
    return replace(found, start=start)


def classify_block(
    aligner: PrefixAligner, block: PrefixBlock, thresholds: Thresholds, targets: int, finder: StartFinder | None = None
) -> Steps[Classified]:
    """Take the reads of a block from stage to stage; only those that are undecided go on."""
    signals = block.signals
    found = Classified.none(aligner.references, targets, thresholds, signals.names, block.samples)
    staged, going = StagedReads(aligner, len(signals)), np.arange(len(block))
    for number, prefix in enumerate(thresholds.prefixes):
        going = going[signals.lengths[going] >= prefix]
        if not len(going):
            break
        numbers = np.zeros_like(going)
        best = yield from staged.align(signals.samples, signals.starts[going], prefix, going, numbers)
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
        place = yield from finder.find(signals.samples, signals.starts[:-1], prefix, found.best, ends)
        start[here] = place[here]
    return replace(found, start=start)
