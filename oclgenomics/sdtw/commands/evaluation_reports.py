"""What `sdtw evaluate` and `sdtw calibrate` make of scores, write and tell."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from oclgenomics import notices
from oclgenomics.app.commands import OutputOptions, binary_output, provenance, say
from oclgenomics.errors import UsageError
from oclgenomics.sdtw.commands.evaluation_options import run_model

if TYPE_CHECKING:
    from oclgenomics.runtime import Engine
    from oclgenomics.sdtw.decisions.thresholds import Thresholds
    from oclgenomics.sdtw.evaluation import LabelledScores, RunModel, StagedEvaluation
    from oclgenomics.sdtw.formats.evaluation import EvaluationReport

__all__ = ["chosen_thresholds", "make_report", "say_report", "write_report"]

MAX_WIDTH = 0.2  # of the interval of a share that is kept


def chosen_thresholds(args: argparse.Namespace, labelled: LabelledScores, engine: Engine) -> Thresholds:
    """Choose thresholds as the options ask for, with what made them."""
    from oclgenomics.sdtw.evaluation import choose_for_run, choose_thresholds

    made = provenance(args, engine)
    if args.for_run:
        return choose_for_run(labelled, _run_of(args, labelled), made=made)
    balanced = args.weights == "classes"
    return choose_thresholds(labelled, keep=args.keep, reject=args.reject, balanced=balanced, made=made)


def _run_of(args: argparse.Namespace, labelled: LabelledScores) -> RunModel:
    """The expected run, of reads like these."""
    return run_model(args, None if labelled.basis is None else labelled.basis.reads.rate)


def make_report(args: argparse.Namespace, scores: Sequence[LabelledScores], thresholds: Thresholds) -> EvaluationReport:
    """Evaluate scores of several kinds of alignments as the options ask for; thresholds judge the first ones."""
    from oclgenomics.sdtw.evaluation import differences, evaluate, evaluate_stages, expected_enrichment
    from oclgenomics.sdtw.formats.evaluation import EvaluationReport

    staged = evaluate_stages(thresholds, scores[0], chosen=_chosen(args, thresholds))
    model = _run_of(args, scores[0])
    balanced = args.weights == "classes"
    first, *others = (
        evaluate(one, balanced=balanced, rounds=args.bootstrap, splits=args.splits, seed=args.seed) for one in scores
    )
    found = [difference for other in others for difference in differences(first, other)]
    return EvaluationReport([first, *others], found, staged, model, expected_enrichment(staged, model))


def write_report(
    args: argparse.Namespace, output: OutputOptions[str], report: EvaluationReport, engine: Engine, title: str
) -> None:
    """Write the results, the thresholds and the figure.

    Raises
    ------
    OutputError
        A file cannot be written.
    UsageError
        The reads do not show that the thresholds do any good; see `StagedEvaluation.tells_apart`.
    """
    from oclgenomics.sdtw.decisions.thresholds_file import write_thresholds
    from oclgenomics.sdtw.formats.evaluation import as_json, as_tsv

    made = provenance(args, engine)
    if args.write_thresholds:
        _check_evidence(args, report.staged)
        write_thresholds(args.write_thresholds, _with_evidence(args, report))
    if args.plot:
        _write_plot(args, report, title)
    output.write((as_json if output.format == "json" else as_tsv)(report, made))


def _chosen(args: argparse.Namespace, thresholds: Thresholds) -> bool:
    """Whether thresholds are the best ones of many for the reads that judge them."""
    asked = args.keep is not None or args.reject is not None
    return not _given(args) and not (asked and len(thresholds.stages) == 1)


def _given(args: argparse.Namespace) -> bool:
    return any(getattr(args, name, None) is not None for name in ("stages", "thresholds"))


def _check_evidence(args: argparse.Namespace, staged: StagedEvaluation) -> None:
    """Refuse to write thresholds that were chosen by reads that say nothing.

    Raises
    ------
    UsageError
    """
    if _given(args) or staged.tells_apart:
        return
    target, other = (_percent(*kept) for kept in staged.kept)
    raise UsageError(
        f"--write-thresholds {args.write_thresholds}: {_reads(staged)} do not show that these thresholds tell them "
        f"apart (they keep {target} of the targets and {other} of the others); give more reads, or write thresholds "
        "of your own with `sdtw evaluate --stages`"
    )


def _with_evidence(args: argparse.Namespace, report: EvaluationReport) -> Thresholds:
    """The thresholds with what is known of them, unless they come from a file, which keeps its own."""
    from dataclasses import replace

    thresholds = report.staged.thresholds
    if getattr(args, "thresholds", None) is not None:
        return thresholds
    evidence = {**report.staged.summary(), **report.enrichment.record()}
    return replace(thresholds, made={**thresholds.made, "evidence": evidence})


def _write_plot(args: argparse.Namespace, report: EvaluationReport, title: str) -> None:
    from oclgenomics.app.figures import plot_format, save_plot
    from oclgenomics.sdtw.plots.evaluation import plot_evaluation

    figure = plot_evaluation(report.evaluations, report.staged.thresholds, title=title)
    with binary_output(args.plot) as stream:
        save_plot(figure, stream, plot_format(args.plot))


def say_report(args: argparse.Namespace, report: EvaluationReport) -> None:
    """Tell the main numbers, each with its interval of 95 %."""
    for evaluation in report.evaluations:
        for one in evaluation.prefixes:
            numbers = [f"F {_number(*one.f)}"]
            if one.held_out.value == one.held_out.value:
                numbers.append(f"{_number(*one.held_out)} held out")
            numbers.append(f"AUC {_number(one.sweep.auc, *one.intervals['auc'])}")
            say(args, f"{evaluation.labelled.name}, {one.prefix:,} samples: {', '.join(numbers)}")
    for difference in report.differences:
        low, high = (f"{value:+.3f}" for value in difference.f[1:])
        say(args, f"{difference.name} less {difference.baseline}, {difference.prefix:,} samples: "
            f"F {difference.f.value:+.3f} ({low} to {high})")  # fmt: skip
    staged, stages = report.staged, ",".join(map(str, report.staged.thresholds.stages))
    rates = (staged.true_positive_rate, staged.false_positive_rate)
    target, other = (f"{100 * rate:.1f} % ({_percent(*ends)})" for rate, ends in zip(rates, staged.kept, strict=True))
    least, most = report.enrichment.intervals["enrichment"]
    expected = f"expected enrichment {report.enrichment.enrichment:.2f} ({least:.2f} to {most:.2f})"
    say(args, f"stages {stages}: keep {target} of the targets and {other} of the others; {expected}")
    if report.chosen_by is not None and report.chosen_by.shared:
        notices.tell(f"{report.chosen_by}; the figures are too good")
    _warn_of_few(staged)


def _warn_of_few(staged: StagedEvaluation) -> None:
    """Tell that intervals are too wide for the numbers to say much."""
    from oclgenomics.sdtw.evaluation.intervals import reads_needed

    if all(high - low <= MAX_WIDTH for low, high in staged.kept):
        return
    shares = (staged.true_positive_rate, staged.false_positive_rate)
    needed = [
        max(reads_needed(share, MAX_WIDTH), found.reads + 1) if high - low > MAX_WIDTH else found.reads
        for share, found, (low, high) in zip(shares, (staged.target, staged.other), staged.kept, strict=True)
    ]
    what = "" if staged.tells_apart else "; they do not even show that the thresholds tell both apart"
    notices.tell(
        f"{_reads(staged)} are too few for these numbers{what}: with about {needed[0]:,} and {needed[1]:,} reads, "
        f"what is kept would be known to {100 * MAX_WIDTH:.0f} percentage points"
    )


def _reads(staged: StagedEvaluation) -> str:
    return f"{staged.target.reads:,} target and {staged.other.reads:,} other reads"


def _number(value: float, low: float, high: float) -> str:
    """A number with its interval, if it has one."""
    return f"{value:.3f}" if low != low else f"{value:.3f} ({low:.3f} to {high:.3f})"


def _percent(low: float, high: float) -> str:
    return f"{100 * low:.1f} to {100 * high:.1f} %"
