"""The whole way from signals of reads to their best alignments with references, and to what these decide of reads."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain, islice
from typing import Any, cast

import numpy as np

from oclgenomics.app.run import EngineLike, Run, all_parts_of, lent_engine, verb
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.io.raw_file import Progress
from oclgenomics.io.read_ahead import ReadAhead
from oclgenomics.sdtw.decisions.basis import Basis, KindCheck, Trim
from oclgenomics.sdtw.decisions.labelled import LabelledScores
from oclgenomics.sdtw.decisions.report import EvaluationOptions, EvaluationReport, choose, judge
from oclgenomics.sdtw.decisions.thresholds import UNDECIDED, Score, Thresholds, checked_trim, read_scores
from oclgenomics.sdtw.device.aligner import Aligner, StagedReads, reads_together
from oclgenomics.sdtw.device.starts import StartFinder
from oclgenomics.sdtw.device.strips import PrefixAligner
from oclgenomics.sdtw.formats.squiggle import read_squiggle
from oclgenomics.sdtw.formats.thresholds import read_thresholds
from oclgenomics.sdtw.options import AlignOptions, variant_name
from oclgenomics.sdtw.plan import PrefixBlock, block_reads, prefix_blocks
from oclgenomics.sdtw.result import Alignments, Classified, of_reference
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals import Signals, TrimOptions, read_signals

SignalSource = Signals | str | os.PathLike[str] | Iterable[Signals] | Iterable[str | os.PathLike[str]]
References = Squiggle | str | os.PathLike[str] | Iterable[Squiggle | str | os.PathLike[str]]
DEFAULT_PREFIXES = (1000, 2000, 3000, 4000, 5000)  # of reads that are judged
Work = Generator[tuple[Aligner, StartFinder | None, PrefixBlock], None, None]


@verb
def iter_align(
    signals: SignalSource,
    references: References,
    options: AlignOptions | None = None,
    *,
    prefixes: Sequence[int] = (1000, 2000),
    starts: bool = False,
    trim: TrimOptions | None = TrimOptions(),
    engine: EngineLike = None,
    run: Run | None = None,
) -> Generator[Alignments, None, None]:
    """Align reads, some at a time; parameters and errors are those of `align`.

    Yields
    ------
    Alignments
        In the order of the reads, at least one. Memory does not grow with the input.
    """
    options = options or AlignOptions()
    lengths = options.check_prefixes(prefixes)
    opened = open_references(references)
    signals, from_files = _looked_into(signals)
    check = KindCheck(opened, warn=from_files)
    work = _work(signals, check, opened, options, lengths[-1], starts=starts, trim=trim, engine=engine, run=run)
    with closing(work):
        for aligner, finder, block in work:
            found = align_block(aligner, block, lengths, finder)
            yield replace(found, trim=trim if from_files else "unknown", reads=check.kind)


@all_parts_of(iter_align)
def align(parts: list[Alignments]) -> Alignments:
    """Align the beginnings of reads with references.

    Parameters
    ----------
    signals : Signals, path, or iterable of Signals or of paths
        Reads.
    references : Squiggle, path, or iterable of either
        Files are those of `write_squiggle`.
    options : AlignOptions, optional
        How signals are compared.
    prefixes : sequence of int
        How many samples of each read are aligned, ascending; each prefix is aligned by itself.
    starts : bool
        Find where alignments start, too.
    trim : TrimOptions, optional
        What to leave out before, of reads in files: the adapter and its stall, if not given; None leaves out nothing.
    engine : Engine, Device or str, optional
        Where to run: an engine in use already, which stays open, or a device as `oclgenomics.runtime.select_device`
        takes it.
    run : Run, optional
        Its progress counts the bytes of files; one process of its own reads signals, whatever its threads.

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
    return Alignments.joined(parts)


@verb
def iter_classify(
    signals: SignalSource,
    targets: References,
    thresholds: Thresholds | str | os.PathLike[str],
    *,
    decoys: References = (),
    starts: bool = False,
    trim: Trim = "thresholds",
    engine: EngineLike = None,
    run: Run | None = None,
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
    longest = thresholds.options.check_prefixes(thresholds.prefixes)[-1]
    signals, from_files = _looked_into(signals)
    opened, options = first + others, thresholds.options
    check = KindCheck(opened, thresholds.reads, warn=from_files)
    work = _work(signals, check, opened, options, longest, starts=starts, trim=trim, engine=engine, run=run)
    with closing(work):
        for aligner, finder, block in work:
            yield classify_block(aligner, block, thresholds, len(first), finder)


@all_parts_of(iter_classify)
def classify(parts: list[Classified]) -> Classified:
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
    engine, run
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
    return Classified.joined(parts)


@verb
def calibrate(
    target: SignalSource,
    others: SignalSource,
    references: References,
    options: AlignOptions | None = None,
    evaluation: EvaluationOptions | None = None,
    *,
    decoys: References = (),
    prefixes: Sequence[int] = DEFAULT_PREFIXES,
    score: Score | None = None,
    trim: TrimOptions | None = TrimOptions(),
    made: Mapping[str, Any] | None = None,
    engine: EngineLike = None,
    run: Run | None = None,
) -> EvaluationReport:
    """Choose thresholds by reads of which it is known whether they are on target, and judge them by the same reads.

    Parameters
    ----------
    target, others : Signals, path, or iterable of Signals or of paths
        Reads of the target and other reads, such as `oclgenomics.simulate.simulate_signals` gives.
    references, decoys
        As the targets and decoys of `classify`.
    options : AlignOptions, optional
        How signals are compared.
    evaluation : EvaluationOptions, optional
        How thresholds are chosen and judged.
    prefixes : sequence of int
        Samples of each stage, ascending.
    score : {'cost', 'difference'}, optional
        What is judged; if not given, the difference where there are decoys.
    trim : TrimOptions, optional
        What is left out of reads in files, and will be left out of the reads that the thresholds are for; see `align`.
    made : mapping, optional
        What made the thresholds, to be kept with them.
    engine, run
        See `align`.

    Returns
    -------
    EvaluationReport
        Its `thresholds` are those chosen, for `write_thresholds` and `classify`.

    Raises
    ------
    UsageError
        Reads of a class are missing, or too short for a prefix; see also `align`.
    InputError, DeviceError
        See `align`.

    Examples
    --------
    >>> from oclgenomics.sdtw import calibrate, write_thresholds
    >>> found = calibrate("target.npz", "others.npz", "target.sdtw", prefixes=(1000, 2000))  # doctest: +SKIP
    >>> write_thresholds("target.json", found.thresholds)  # doctest: +SKIP
    """
    options, evaluation = options or AlignOptions(), evaluation or EvaluationOptions()
    first, rest = open_targets(references, decoys)
    with lent_engine(engine) as lent:
        found = [
            align(one, first + rest, options, prefixes=prefixes, trim=trim, engine=lent, run=run)
            for one in (target, others)
        ]
    scores = labelled_scores(
        *(replace(one, trim=trim) for one in found), name=variant_name(options),
        score=score or ("difference" if rest else "cost"), targets=len(first),
    )  # fmt: skip
    return judge([scores], choose(scores, evaluation, made), evaluation, chosen=True)


def labelled_scores(
    target: Alignments, other: Alignments, *, name: str, score: Score = "cost", targets: int = 1
) -> LabelledScores:
    """Return the scores of two sets of reads that were aligned alike, to be judged by `evaluate`.

    Parameters
    ----------
    target, other : Alignments
        Their first references are the targets', the others are decoys.
    name : str
        Of this kind of alignment.
    score : {'cost', 'difference'}
        See `oclgenomics.sdtw.decisions.thresholds.read_scores`.
    targets : int
        References of targets, of which the best counts.

    Raises
    ------
    UsageError
        Both were aligned with other options, prefixes, references or trimming; they say that they are of different
        pores or molecules, or have different rates; or a difference is asked for without decoys.
    """
    basis, others = (
        Basis.of(one.references[:targets], one.references[targets:], one.trim, one.reads) for one in (target, other)
    )
    same = (basis.trim, basis.references) == (others.trim, others.references)
    if not same or (target.options, target.prefixes) != (other.options, other.prefixes):
        raise UsageError(
            "target and non-target reads are compared with the same references, prefixes, options and trimming"
        )
    if target.reads.contradiction(other.reads) is not None:
        raise UsageError(
            f"the target reads are of {target.reads}, the others of {other.reads}; evaluate reads of one kind, or "
            "thresholds tell the kinds apart and not the sequences"
        )
    own, theirs = (read_scores(one.cost, score, one.options, targets) for one in (target, other))
    return LabelledScores(
        name, target.prefixes, own, theirs, target.names, other.names, target.options, score, basis.names,
        replace(basis, reads=target.reads.joined(other.reads)),
    )  # fmt: skip


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
    _check_together(opened, parameter)
    return opened


def open_targets(targets: References, decoys: References) -> tuple[tuple[Squiggle, ...], tuple[Squiggle, ...]]:
    """Return targets, at least one, and decoys, those of files read; see `open_references` for errors."""
    first = open_references(targets, "targets")
    given = [decoys] if isinstance(decoys, (Squiggle, str, os.PathLike)) else list(decoys)
    others = open_references(given, "decoys") if given else ()
    _check_together(first + others, "decoys")
    return first, others


def _check_together(references: Sequence[Squiggle], parameter: str) -> None:
    """Refuse references that results could not tell apart, or that no read could belong to both of."""
    name, times = Counter(one.name for one in references).most_common(1)[0]
    if times > 1:
        raise ParameterError(parameter, f"must differ in name; {times} of them have the name {name}")
    if len({one.molecule for one in references}) > 1:
        raise ParameterError(parameter, "must be all of DNA or all of RNA, as a read is")
    pores = sorted({one.pore for one in references} - {""})
    if len(pores) > 1:
        raise ParameterError(parameter, f"must be all for one pore; there are some for {' and for '.join(pores)}")


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
) -> Work:
    """Yield blocks of reads, cut at the longest prefix, with what aligns them and finds their starts."""
    progress = None if run is None else run.progress
    with lent_engine(engine) as lent:
        aligner = Aligner(lent, references, options)
        finder = StartFinder(lent, references, options) if starts else None
        together = reads_together(aligner, block_reads(longest))
        with closing(signal_blocks(signals, trim=trim, progress=progress)) as blocks:
            for block in prefix_blocks(check.checked(blocks), longest, together):
                yield aligner, finder, block


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
