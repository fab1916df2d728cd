"""The whole way from signals of reads to their best alignments with references, and to what these decide of reads."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from oclgenomics.app.jobs import ExecutorLike, path_of, spread_over
from oclgenomics.app.run import EngineLike, Run, all_parts_of, lent_engine, verb
from oclgenomics.errors import UsageError
from oclgenomics.sdtw.decisions.basis import Basis, Trim, trim_for
from oclgenomics.sdtw.decisions.labelled import LabelledScores
from oclgenomics.sdtw.decisions.report import EvaluationOptions, EvaluationReport, choose, judge
from oclgenomics.sdtw.decisions.thresholds import Score, Thresholds, checked_trim, read_scores
from oclgenomics.sdtw.device.reads import SignalSource, aligned_reads, classified_reads
from oclgenomics.sdtw.formats.thresholds import read_thresholds
from oclgenomics.sdtw.jobs import AlignJob, ClassifyJob
from oclgenomics.sdtw.options import DEFAULT_PREFIXES, AlignOptions, variant_name
from oclgenomics.sdtw.result import Alignments, Classified
from oclgenomics.sdtw.squiggles.opened import References, open_references, open_targets, options_for, sequencing_for
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.signals import Signals, TrimOptions


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
    executor: ExecutorLike = None,
) -> Generator[Alignments, None, None]:
    """Align reads, some at a time; parameters and errors are those of `align`.

    Yields
    ------
    Alignments
        In the order of the reads, at least one. Memory does not grow with the input.
    """
    options = options or AlignOptions()
    lengths = options.check_prefixes(prefixes)
    if executor is not None:
        files = _paths("signals", signals), _paths("references", references)
        yield from spread_over(executor, engine).parts(AlignJob(*files, options, lengths, starts, trim), run)
        return
    opened = open_references(references)
    options, trim = options_for(options, opened), trim_for(trim, opened)
    parts = aligned_reads(signals, opened, options, lengths, starts=starts, trim=trim, engine=engine, run=run)
    with closing(parts):
        for part, _ in parts:
            yield part


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
    executor : Executor or Spread, optional
        Who does pieces of the work, each in its own process; reads and references are files then. See
        `oclgenomics.app.jobs.Spread`.

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
    executor: ExecutorLike = None,
) -> Generator[Classified, None, None]:
    """Classify reads, some at a time; parameters and errors are those of `classify`.

    Yields
    ------
    Classified
        In the order of the reads, at least one. Memory does not grow with the input.
    """
    judged = thresholds if isinstance(thresholds, Thresholds) else read_thresholds(thresholds)
    if executor is not None:
        files = _paths("signals", signals), _paths("targets", targets), _paths("decoys", decoys)
        named = None if isinstance(thresholds, Thresholds) else os.fspath(thresholds)
        job = ClassifyJob(*files, judged, named, starts, trim)
        yield from spread_over(executor, engine).parts(job, run)
        return
    first, others = open_targets(targets, decoys)
    trim, judged = checked_trim(judged, first, others, trim), judged.for_references(first + others)
    parts = classified_reads(signals, first, others, judged, starts=starts, trim=trim, engine=engine, run=run)
    with closing(parts):
        for part, _ in parts:
            yield part


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
    engine, run, executor
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
    evaluation = evaluation.of_pore(sequencing_for(first + rest))
    with lent_engine(engine) as lent:
        found = [
            align(one, first + rest, options, prefixes=prefixes, trim=trim, engine=lent, run=run)
            for one in (target, others)
        ]
    scores = labelled_scores(
        *(replace(one, trim=trim_for(trim, first + rest)) for one in found), name=variant_name(options),
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


def _paths(parameter: str, given: SignalSource | References) -> tuple[str, ...]:
    """The paths that an input is, as other processes have to read them."""
    some = [given] if isinstance(given, (str, os.PathLike, Signals, Squiggle)) else given
    return tuple(path_of(parameter, one) for one in some)
