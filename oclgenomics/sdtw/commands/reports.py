"""What commands of `sdtw` write and tell: parts of results as they come, and evaluations."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any

from oclgenomics import notices, sdtw
from oclgenomics.app import commands as app
from oclgenomics.app.html_output import write_page
from oclgenomics.app.multiqc import sample_name, write_content
from oclgenomics.errors import UsageError
from oclgenomics.notices import number_of
from oclgenomics.sdtw import decisions, formats, plots

FORMATS = ("tsv", "jsonl", "paf")
MAX_WIDTH = 0.2  # of the interval of a share that is kept


def add_part_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add -o, --format, --json, --starts and options of messages; return their group."""
    group = app.add_output_options(parser, formats=FORMATS, note="PAF has a line for the best place of each read")
    group.add_argument(
        "--starts", action="store_true", help="report where alignments start, too; always so with --format paf"
    )
    return group


def settle_format(args: argparse.Namespace) -> None:
    """Settle what --format, --json and --starts ask for.

    Raises
    ------
    UsageError
        --json and --format contradict each other, or there is no such format.
    """
    app.OutputOptions.resolve(args, FORMATS)
    args.starts = args.starts or args.format == "paf"


def write_parts(
    args: argparse.Namespace,
    made: dict[str, Any],
    label: str,
    make_parts: Callable[[sdtw.Run], Generator[Any, None, None]],
) -> sdtw.Totals:
    """Write the report of parts as they come, say what it was, and return how much.

    Parameters
    ----------
    args : Namespace
    made : dict
        What made them.
    label : str
        Of the progress.
    make_parts : callable
        Gives the parts.

    Raises
    ------
    InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    totals, progress = sdtw.Totals(), app.started_progress(args, label)
    start = time.perf_counter()
    report = formats.make_report(args.format, provenance=made)
    parts = make_parts(sdtw.Run(progress=progress.update))
    with closing(parts), app.text_output(args.output, "wb") as stream:
        formats.write_reports(parts, [(stream, report)], on_part=[lambda _: progress.clear(), totals.add])
    seconds = max(time.perf_counter() - start, 1e-9)
    app.say(
        args,
        f"{number_of(totals.reads, 'read')}, {number_of(totals.samples, 'sample')} aligned; {seconds:.2f} s "
        f"({totals.reads / seconds:,.1f} reads/s, {totals.samples / seconds:,.0f} samples/s, "
        f"{totals.cells / seconds / 1e9:,.2f} billion cells/s)",
    )
    if totals.short:
        app.say(args, f"left out: {number_of(totals.short, 'read')} shorter than the first prefix")
    if isinstance(report, formats.PafReport) and report.left_out:
        app.say(args, f"not in the PAF: {number_of(report.left_out, 'read')} without a place")
    return totals


def write_evaluation(
    args: argparse.Namespace,
    output: app.OutputOptions[str],
    report: sdtw.EvaluationReport,
    made: dict[str, Any],
    title: str,
) -> None:
    """Write the results, the thresholds and the figure.

    Raises
    ------
    OutputError
        A file cannot be written.
    UsageError
        The reads do not show that the thresholds do any good; see `StagedEvaluation.tells_apart`.
    """
    if args.write_thresholds:
        from_file = getattr(args, "thresholds", None) is not None  # which keeps its own evidence
        if not from_file and getattr(args, "stages", None) is None:
            _check_evidence(args, report.staged)
        sdtw.write_thresholds(args.write_thresholds, report.staged.thresholds if from_file else report.thresholds)
    if args.plot:
        figure = plots.plot_evaluation(report.evaluations, report.staged.thresholds, title=title)
        plots.write_figure(args.plot, figure)
    if args.html:
        write_page(args, plots.evaluation_page(report, title=title).text(made))
    if args.multiqc:
        write_content(args, formats.roc_content(sample_name(args, [args.target]), report.evaluations))
    output.write((formats.as_json if output.format == "json" else formats.as_tsv)(report, made))


def _check_evidence(args: argparse.Namespace, staged: sdtw.StagedEvaluation) -> None:
    """Refuse to write thresholds that were chosen by reads that say nothing.

    Raises
    ------
    UsageError
    """
    if staged.tells_apart:
        return
    target, other = (_percent(*kept) for kept in staged.kept)
    raise UsageError(
        f"--write-thresholds {args.write_thresholds}: {_reads(staged)} do not show that these thresholds tell them "
        f"apart (they keep {target} of the targets and {other} of the others); give more reads, or write thresholds "
        "of your own with `sdtw evaluate --stages`"
    )


def say_evaluation(args: argparse.Namespace, report: sdtw.EvaluationReport) -> None:
    """Tell the main numbers, each with its interval of 95 %."""
    for evaluation in report.evaluations:
        for one in evaluation.prefixes:
            numbers = [f"F {_number(*one.f)}"]
            if one.held_out.value == one.held_out.value:
                numbers.append(f"{_number(*one.held_out)} held out")
            numbers.append(f"AUC {_number(one.sweep.auc, *one.intervals['auc'])}")
            app.say(args, f"{evaluation.labelled.name}, {one.prefix:,} samples: {', '.join(numbers)}")
    for difference in report.differences:
        low, high = (f"{value:+.3f}" for value in difference.f[1:])
        app.say(args, f"{difference.name} less {difference.baseline}, {difference.prefix:,} samples: "
            f"F {difference.f.value:+.3f} ({low} to {high})")  # fmt: skip
    staged, stages = report.staged, ",".join(map(str, report.staged.thresholds.stages))
    rates = (staged.true_positive_rate, staged.false_positive_rate)
    target, other = (f"{100 * rate:.1f} % ({_percent(*ends)})" for rate, ends in zip(rates, staged.kept, strict=True))
    least, most = report.enrichment.intervals["enrichment"]
    expected = f"expected enrichment {report.enrichment.enrichment:.2f} ({least:.2f} to {most:.2f})"
    app.say(args, f"stages {stages}: keep {target} of the targets and {other} of the others; {expected}")
    if report.chosen_by is not None and report.chosen_by.shared:
        notices.tell(f"{report.chosen_by}; the figures are too good")
    _warn_of_few(staged)


def _warn_of_few(staged: sdtw.StagedEvaluation) -> None:
    """Tell that intervals are too wide for the numbers to say much."""
    if all(high - low <= MAX_WIDTH for low, high in staged.kept):
        return
    shares = (staged.true_positive_rate, staged.false_positive_rate)
    needed = [
        max(decisions.reads_needed(share, MAX_WIDTH), found.reads + 1) if high - low > MAX_WIDTH else found.reads
        for share, found, (low, high) in zip(shares, (staged.target, staged.other), staged.kept, strict=True)
    ]
    what = "" if staged.tells_apart else "; they do not even show that the thresholds tell both apart"
    notices.tell(
        f"{_reads(staged)} are too few for these numbers{what}: with about {needed[0]:,} and {needed[1]:,} reads, "
        f"what is kept would be known to {100 * MAX_WIDTH:.0f} percentage points"
    )


def _reads(staged: sdtw.StagedEvaluation) -> str:
    return f"{staged.target.reads:,} target and {staged.other.reads:,} other reads"


def _number(value: float, low: float, high: float) -> str:
    """A number with its interval, if it has one."""
    return f"{value:.3f}" if low != low else f"{value:.3f} ({low:.3f} to {high:.3f})"


def _percent(low: float, high: float) -> str:
    return f"{100 * low:.1f} to {100 * high:.1f} %"
