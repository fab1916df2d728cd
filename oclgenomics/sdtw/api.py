"""The whole way from signals of reads to their best alignments with references."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import chain, islice
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.io.read_ahead import ReadAhead
from oclgenomics.io.source import Progress
from oclgenomics.runtime import Device, Engine, lent_engine
from oclgenomics.sdtw.decisions.basis import Basis, KindCheck, Trim, reference_names, settled_trim
from oclgenomics.sdtw.decisions.thresholds import UNDECIDED, Thresholds, read_scores
from oclgenomics.sdtw.device.aligner import Aligner, StagedReads, reads_together
from oclgenomics.sdtw.device.starts import StartFinder
from oclgenomics.sdtw.device.strips import PrefixAligner
from oclgenomics.sdtw.formats.squiggle import read_squiggle
from oclgenomics.sdtw.formats.thresholds import read_thresholds
from oclgenomics.sdtw.options import AlignOptions, check_prefixes
from oclgenomics.sdtw.plan import PrefixBlock, block_reads, prefix_blocks
from oclgenomics.sdtw.result import Alignments, Classified, of_reference
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals import Signals, TrimOptions, read_signals

__all__ = [
    "References",
    "SignalSource",
    "align",
    "align_block",
    "align_parts",
    "check_together",
    "checked_trim",
    "classify",
    "classify_block",
    "classify_parts",
    "looked_into",
    "open_references",
    "open_targets",
    "signal_blocks",
    "target_scores",
]

SignalSource = Signals | str | os.PathLike[str] | Iterable[Signals] | Iterable[str | os.PathLike[str]]
References = Squiggle | str | os.PathLike[str] | Iterable[Squiggle | str | os.PathLike[str]]


def open_references(references: References, parameter: str = "references") -> tuple[Squiggle, ...]:
    """Return references, those of files read.

    Parameters
    ----------
    references : Squiggle, path, or iterable of either
    parameter : str
        What the caller knows them as, for the error message.

    Raises
    ------
    ParameterError
        There is none, two have one name, or DNA and RNA or several pores are mixed.
    InputError
        See `read_squiggle`.
    """
    given = [references] if isinstance(references, (Squiggle, str, os.PathLike)) else references
    opened = tuple(one if isinstance(one, Squiggle) else read_squiggle(one) for one in given)
    if not opened:
        raise ParameterError(parameter, "must not be empty")
    check_together(opened, parameter)
    return opened


def check_together(references: Sequence[Squiggle], parameter: str) -> None:
    """Refuse references that results could not tell apart, or that no read could belong to both of.

    Raises
    ------
    ParameterError
        See `open_references`.
    """
    name, times = Counter(one.name for one in references).most_common(1)[0]
    if times > 1:
        raise ParameterError(parameter, f"must differ in name; {times} of them have the name {name}")
    if len({one.molecule for one in references}) > 1:
        raise ParameterError(parameter, "must be all of DNA or all of RNA, as a read is")
    pores = sorted({one.pore for one in references} - {""})
    if len(pores) > 1:
        raise ParameterError(parameter, f"must be all for one pore; there are some for {' and for '.join(pores)}")


def looked_into(source: SignalSource) -> tuple[SignalSource, bool]:
    """Return a source as good as the one given, and whether it is of files, which are then trimmed when read."""
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
        As `oclgenomics.signals.read_signals` takes them, for files. Progress is told with each block.
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


def align(
    signals: SignalSource,
    references: References,
    options: AlignOptions = AlignOptions(),
    *,
    prefixes: Sequence[int] = (1000, 2000),
    starts: bool = False,
    trim: TrimOptions | None = TrimOptions(),
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    progress: Progress | None = None,
) -> Alignments:
    """Align the beginnings of reads with references.

    Parameters
    ----------
    signals : Signals, path, or iterable of Signals or of paths
        Reads.
    references : Squiggle, path, or iterable of either
        Files are those of `write_squiggle`.
    options : AlignOptions
        How signals are compared.
    prefixes : sequence of int
        How many samples of each read are aligned, ascending; each prefix is aligned by itself.
    starts : bool
        Find where alignments start, too.
    trim : TrimOptions, optional
        What to leave out before, of reads in files: the adapter and its stall, if not given; None leaves out nothing.
    engine : Engine, optional
        A device in use already. It stays open.
    device : Device or str, optional
        Where to run, if no engine is given; as `oclgenomics.runtime.select_device` takes it.
    max_memory : int, optional
        Bytes of device memory to use at most, if no engine is given.
    progress : callable, optional
        Called with (bytes read, bytes in all) of the files.

    Returns
    -------
    Alignments
        Of all reads in their order. A read that is shorter than a prefix has no cost there.

    Raises
    ------
    ParameterError
        Prefixes do not ascend, or are shorter than a row; two references have one name, or one is DNA and one RNA.
    UsageError
        Reads say that they are of another pore or molecule, or have another rate, than the references are for.
    InputError
        Anything wrong with an input.
    DeviceError
        There is no such device, its memory is too small, or it was lost on the way.

    Examples
    --------
    >>> from oclgenomics.sdtw import align
    >>> found = align("reads.blow5", "lambda.sdtw", prefixes=(1000, 2000))  # doctest: +SKIP
    >>> found.to_frame()  # doctest: +SKIP
    """
    parts = align_parts(
        signals, references, options, prefixes=prefixes, starts=starts, trim=trim, engine=engine, device=device,
        max_memory=max_memory, progress=progress,
    )  # fmt: skip
    return Alignments.joined(list(parts))


def align_parts(
    signals: SignalSource,
    references: References,
    options: AlignOptions = AlignOptions(),
    *,
    prefixes: Sequence[int] = (1000, 2000),
    starts: bool = False,
    trim: TrimOptions | None = TrimOptions(),
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    progress: Progress | None = None,
) -> Generator[Alignments, None, None]:
    """Align reads, some at a time; parameters and errors are those of `align`.

    Yields
    ------
    Alignments
        In the order of the reads, at least one. Memory does not grow with the input.
    """
    lengths = checked_prefixes(prefixes, options)
    opened = open_references(references)
    signals, from_files = looked_into(signals)
    check = KindCheck(opened, warn=from_files)
    with ExitStack() as stack:
        engine = stack.enter_context(lent_engine(engine, device, max_memory))
        aligner = Aligner(engine, opened, options)
        finder = StartFinder(engine, opened, options) if starts else None
        blocks = signal_blocks(signals, trim=trim, progress=progress)
        reads = reads_together(aligner, block_reads(lengths[-1]))
        for block in prefix_blocks(check.checked(stack.enter_context(closing(blocks))), lengths[-1], reads):
            found = align_block(aligner, block, lengths, finder)
            yield replace(found, trim=trim if from_files else "unknown", reads=check.kind)


def checked_prefixes(prefixes: Sequence[int], options: AlignOptions) -> tuple[int, ...]:
    """Return prefixes that can be aligned; see `check_prefixes` and `AlignOptions.rows` for what is refused."""
    lengths = check_prefixes(prefixes)
    options.rows(lengths[0])
    return lengths


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
    return found if finder is None else replace(found, start=_starts(finder, block, found))


def _starts(finder: StartFinder, block: PrefixBlock, found: Alignments) -> NDArray[np.int64]:
    """Where the alignments start that were found."""
    start = np.full_like(found.column, -1)
    signals = block.signals
    for number, prefix in enumerate(found.prefixes):
        for reference in range(len(found.references)):
            there = np.flatnonzero(found.column[:, number, reference] >= 0)
            start[there, number, reference] = finder.find(
                signals.samples,
                signals.starts[there],
                prefix,
                np.full(len(there), reference),
                found.column[there, number, reference],
            )
    return start


def classify(
    signals: SignalSource,
    targets: References,
    thresholds: Thresholds | str | os.PathLike[str],
    *,
    decoys: References = (),
    starts: bool = False,
    trim: Trim = "thresholds",
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    progress: Progress | None = None,
) -> Classified:
    """Decide which reads are of the targets, stage by stage.

    At each stage, in the order of their prefixes, a read whose score is above the stage's threshold is rejected, and
    one whose score is below its lower threshold, if it has one, is accepted. The others go on. What is left after the
    last stage is accepted. A read that ends before it is decided stays undecided.

    Parameters
    ----------
    signals : Signals, path, or iterable of Signals or of paths
        Reads.
    targets : Squiggle, path, or iterable of either
        References that are looked for. The cost of a read is that of the best of them.
    thresholds : Thresholds or path
        The stages, the score and the options of alignments; a file is one of `write_thresholds`.
    decoys : Squiggle, path, or iterable of either
        References that are not looked for. The score `difference` takes the best decoy's cost from the targets'.
    starts : bool
        Find where the alignments with the best references start, too.
    trim : TrimOptions, None or 'thresholds'
        What to leave out before, of reads in files; if not given, what was left out of the reads by which the
        thresholds were chosen, and the adapter and its stall for thresholds that somebody typed.
    engine, device, max_memory, progress
        See `align`.

    Returns
    -------
    Classified
        Of all reads in their order.

    Raises
    ------
    UsageError
        The thresholds were made with other references, another model or another trimming, or by reads of another kind;
        there are no decoys for a difference; see also `align`.
    InputError
        Anything wrong with an input.
    DeviceError
        There is no such device, its memory is too small, or it was lost on the way.

    Examples
    --------
    >>> from oclgenomics.sdtw import AlignOptions, Stage, Thresholds, classify
    >>> thresholds = Thresholds((Stage(1000, 60000), Stage(2000, 110000)), AlignOptions(arithmetic="int32"))
    >>> found = classify("reads.blow5", "lambda.sdtw", thresholds)  # doctest: +SKIP
    >>> found.counts  # doctest: +SKIP
    {'undecided': 3, 'accept': 41, 'reject': 956}
    """
    parts = classify_parts(
        signals, targets, thresholds, decoys=decoys, starts=starts, trim=trim, engine=engine, device=device,
        max_memory=max_memory, progress=progress,
    )  # fmt: skip
    return Classified.joined(list(parts))


def classify_parts(
    signals: SignalSource,
    targets: References,
    thresholds: Thresholds | str | os.PathLike[str],
    *,
    decoys: References = (),
    starts: bool = False,
    trim: Trim = "thresholds",
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    progress: Progress | None = None,
) -> Generator[Classified, None, None]:
    """Classify reads, some at a time; parameters and errors are those of `classify`.

    Yields
    ------
    Classified
        In the order of the reads, at least one. Memory does not grow with the input.
    """
    first, others = open_targets(targets, decoys)
    thresholds = thresholds if isinstance(thresholds, Thresholds) else read_thresholds(thresholds)
    trim = checked_trim(thresholds, first, others, trim)
    checked_prefixes(thresholds.prefixes, thresholds.options)
    signals, from_files = looked_into(signals)
    expected = None if thresholds.basis is None else thresholds.basis.reads
    check = KindCheck(first + others, expected, warn=from_files)
    with ExitStack() as stack:
        engine = stack.enter_context(lent_engine(engine, device, max_memory))
        aligner = Aligner(engine, first + others, thresholds.options)
        finder = StartFinder(engine, first + others, thresholds.options) if starts else None
        longest = thresholds.prefixes[-1]
        blocks = signal_blocks(signals, trim=trim, progress=progress)
        reads = reads_together(aligner, block_reads(longest))
        for block in prefix_blocks(check.checked(stack.enter_context(closing(blocks))), longest, reads):
            yield classify_block(aligner, block, thresholds, len(first), finder)


def open_targets(targets: References, decoys: References) -> tuple[tuple[Squiggle, ...], tuple[Squiggle, ...]]:
    """Return targets, at least one, and decoys, those of files read; see `open_references` for errors."""
    first = open_references(targets, "targets")
    given = [decoys] if isinstance(decoys, (Squiggle, str, os.PathLike)) else list(decoys)
    others = open_references(given, "decoys") if given else ()
    check_together(first + others, "decoys")
    return first, others


def checked_trim(
    thresholds: Thresholds,
    targets: Sequence[Squiggle],
    decoys: Sequence[Squiggle],
    trim: Trim,
    default: TrimOptions | None = TrimOptions(),
) -> TrimOptions | None:
    """Refuse thresholds that are for something else, and return how reads are to be trimmed.

    Parameters
    ----------
    thresholds : Thresholds
    targets, decoys : sequence of Squiggle
    trim : TrimOptions, None or 'thresholds'
    default : TrimOptions, optional
        For thresholds that do not say.

    Raises
    ------
    UsageError
        See `Thresholds.check` and `settled_trim`.
    """
    names = reference_names(*([one.name for one in some] for some in (targets, decoys)))
    settled = settled_trim(trim, thresholds.basis, default)
    basis = None if thresholds.basis is None else Basis.of(targets, decoys, settled)
    thresholds.check(thresholds.options, names, basis)
    return settled


def classify_block(
    aligner: PrefixAligner,
    block: PrefixBlock,
    thresholds: Thresholds,
    targets: int,
    finder: StartFinder | None = None,
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
        score = target_scores(best.cost, thresholds, targets)
        decision = thresholds.decide(number, score)
        found.prefix[going], found.score[going], found.decision[going] = prefix, score, decision
        found.cost[going], found.column[going] = best.cost, best.column
        going = going[decision == UNDECIDED]
    return found if finder is None else replace(found, start=_first_starts(finder, block, found))


def _first_starts(finder: StartFinder, block: PrefixBlock, found: Classified) -> NDArray[np.int64]:
    """Where the alignments with the best references start."""
    start, column = np.full(len(found), -1, np.int64), of_reference(found.column, found.best)
    for prefix in found.thresholds.prefixes:
        here = np.flatnonzero((found.prefix == prefix) & (column >= 0))
        first = block.signals.starts[here]
        start[here] = finder.find(block.signals.samples, first, prefix, found.best[here], column[here])
    return start


def target_scores(cost: NDArray[np.float64], thresholds: Thresholds, targets: int) -> NDArray[np.float64]:
    """Return scores of reads, of which the best target counts; (reads, references) to (reads,)."""
    best = cost[:, :targets].min(axis=1, keepdims=True)
    return read_scores(np.concatenate([best, cost[:, targets:]], axis=1), thresholds.score, thresholds.options)
