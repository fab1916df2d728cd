"""What `sdtw align` and `sdtw classify` have in common: options of the output, and writing it part by part."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from oclgenomics import notices
from oclgenomics.app.commands import add_message_options
from oclgenomics.app.files import writes
from oclgenomics.app.commands import PACKED, OutputOptions, binary_output, provenance, say, text_output
from oclgenomics.app.progress import Progress
from oclgenomics.errors import UsageError
from oclgenomics.sdtw.commands.options import run_model

if TYPE_CHECKING:
    from oclgenomics.runtime import Engine
    from oclgenomics.sdtw import LabelledScores, RunModel, StagedEvaluation
    from oclgenomics.sdtw.decisions.thresholds import Thresholds
    from oclgenomics.sdtw.formats.evaluation import EvaluationReport
    from oclgenomics.sdtw.result import Totals

__all__ = [
    "add_part_options",
    "chosen_thresholds",
    "made_evaluation",
    "say_evaluation",
    "settle_format",
    "write_evaluation",
    "write_parts",
]

FORMATS = ("tsv", "jsonl", "paf")


def add_part_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add -o, --format, --json, --starts and options of messages; return their group."""
    group = parser.add_argument_group("output")
    writes(group.add_argument(
        "-o", "--output", default="-", metavar="FILE", help=f"file for the results, {PACKED} (default: standard output)"
    ))  # fmt: skip
    group.add_argument(
        "--format", choices=FORMATS,
        help="format of the results; PAF has a line for the best place of each read (default: tsv)",
    )  # fmt: skip
    group.add_argument("--json", action="store_true", help="short for --format jsonl")
    group.add_argument(
        "--starts", action="store_true", help="tell where alignments start, too; always so with --format paf"
    )
    add_message_options(group)
    return group


def settle_format(args: argparse.Namespace) -> None:
    """Settle what --format, --json and --starts ask for.

    Raises
    ------
    UsageError
        --json and --format contradict each other.
    """
    if args.json and args.format not in (None, "jsonl"):
        raise UsageError(f"--json and --format {args.format} contradict each other; give one of them")
    args.format = args.format or ("jsonl" if args.json else "tsv")
    args.starts = args.starts or args.format == "paf"


def write_parts(
    args: argparse.Namespace,
    engine: Engine,
    totals: Totals,
    label: str,
    make_parts: Callable[[Callable[[int, int | None], None]], Generator[Any, None, None]],
) -> None:
    """Write the report of parts as they come, and say what it was.

    Parameters
    ----------
    args : Namespace
    engine : Engine
    totals : Totals
        To which the parts are added.
    label : str
        Of the progress.
    make_parts : callable
        Takes a progress and gives the parts.

    Raises
    ------
    InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.sdtw.formats import PafReport, make_report, write_report

    progress = Progress(enabled=not args.quiet)
    progress.stage(label, "MB", 1e6)

    def see(part: Any) -> None:
        progress.clear()
        totals.add(part)

    start = time.perf_counter()
    report = make_report(args.format, provenance=provenance(args, engine))
    with closing(make_parts(progress.update)) as parts, text_output(args.output) as stream:
        write_report(parts, stream, report, on_part=see)
    seconds = max(time.perf_counter() - start, 1e-9)
    say(
        args,
        f"{totals.reads:,} reads, {totals.samples:,} samples aligned; {seconds:.2f} s ({totals.reads / seconds:,.1f} "
        f"reads/s, {totals.samples / seconds:,.0f} samples/s, {totals.cells / seconds / 1e9:,.2f} billion cells/s)",
    )
    if totals.short:
        say(args, f"{totals.short:,} reads are shorter than the first prefix")
    if isinstance(report, PafReport) and report.left_out:
        say(args, f"{report.left_out:,} reads have no place and are not in the PAF")


MAX_WIDTH = 0.2  # of the interval of a share that is kept


def chosen_thresholds(args: argparse.Namespace, labelled: LabelledScores, engine: Engine) -> Thresholds:
    """Choose thresholds as the options ask for, with what made them."""
    from oclgenomics.sdtw import choose_for_run, choose_thresholds

    made = provenance(args, engine)
    if args.for_run:
        return choose_for_run(labelled, _run_of(args, labelled), made=made)
    balanced = args.weights == "classes"
    return choose_thresholds(labelled, keep=args.keep, reject=args.reject, balanced=balanced, made=made)


def _run_of(args: argparse.Namespace, labelled: LabelledScores) -> RunModel:
    """The expected run, of reads like these."""
    return run_model(args, None if labelled.basis is None else labelled.basis.reads.rate)


def made_evaluation(
    args: argparse.Namespace, scores: Sequence[LabelledScores], thresholds: Thresholds
) -> EvaluationReport:
    """Evaluate scores of several kinds of alignments as the options ask for; thresholds judge the first ones."""
    from oclgenomics.sdtw import differences, evaluate, evaluate_stages, expected_enrichment
    from oclgenomics.sdtw.formats.evaluation import EvaluationReport

    staged = evaluate_stages(thresholds, scores[0], chosen=_chosen(args, thresholds))
    model = _run_of(args, scores[0])
    balanced = args.weights == "classes"
    first, *others = (
        evaluate(one, balanced=balanced, rounds=args.bootstrap, splits=args.splits, seed=args.seed) for one in scores
    )
    found = [difference for other in others for difference in differences(first, other)]
    return EvaluationReport([first, *others], found, staged, model, expected_enrichment(staged, model))


def write_evaluation(
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
    from oclgenomics.sdtw.formats.evaluation import as_json, as_tsv
    from oclgenomics.sdtw.formats.thresholds import write_thresholds

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


def say_evaluation(args: argparse.Namespace, report: EvaluationReport) -> None:
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
    from oclgenomics.sdtw.decisions.intervals import reads_needed

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
