"""What `oclgenomics omega scan` does: checks, then scans of the input into the report and the figure."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from oclgenomics.app.commands import (
    OutputOptions,
    binary_output,
    open_engine,
    provenance,
    report_profile,
    say_written,
    text_output,
)
from oclgenomics.app.figures import plot_format, save_plot
from oclgenomics.app.files import FileConflictError, named_files
from oclgenomics.app.inputs import read_options
from oclgenomics.errors import UsageError
from oclgenomics.omega.api import scan
from oclgenomics.omega.commands.options import given_threshold, say_compared, scan_options
from oclgenomics.omega.commands.report_names import ReportNames
from oclgenomics.omega.commands.scan_messages import ScanMessages
from oclgenomics.omega.formats.scans import FORMATS, Report, ReportFormat, make_report, write_report
from oclgenomics.omega.options import ScanOptions, scan_parameters
from oclgenomics.omega.plots.scans import Layout, plot_scans
from oclgenomics.omega.result import Scan
from oclgenomics.omega.significance.comparable import check_options, compare
from oclgenomics.omega.significance.neutral import Significance
from oclgenomics.omega.sources import first_read
from oclgenomics.runtime import select_device
from oclgenomics.variation import PREFETCH_BYTES, Alignment, read_alignments
from oclgenomics.variation.bed import read_bed

__all__ = ["check_outputs", "scan_input"]


def scan_input(args: argparse.Namespace) -> int:
    """Run the command; see `oclgenomics.omega.commands.run`."""
    options, reading = scan_options(args), read_options(args, args.samples)
    output = check_outputs(args)
    lines, null = _threshold_lines(args, options)
    exclude = read_bed(args.exclude) if args.exclude else None
    select_device(args.device)  # a device that is not there is told before hours of reading
    messages = ScanMessages(args, options)
    drawn: list[Scan] = []

    def found(result: Scan) -> None:
        messages.result(result)
        if null is not None:  # at once, not after hours of scanning
            compare(null, [result], "this scan", f"--threshold {args.threshold}")
        if args.plot:
            drawn.append(result)

    read = read_alignments(
        args.input, reading, threads=args.threads, prefetch=PREFETCH_BYTES, progress=messages.progress.update
    )
    with closing(read):
        alignments = first_read(read, args.input, lambda first: _look_at_first(args, first))
        with open_engine(args) as engine:
            scans = scan(
                alignments, options, exclude=exclude, on_alignment=messages.alignment, on_result=found, engine=engine,
                progress=messages.progress.update,
            )  # fmt: skip
            with closing(scans):
                _write_scans(args, output, scans, provenance(args, engine))
            messages.totals()
            messages.excluded(exclude)
            report_profile(args, engine)
    if null is not None:
        say_compared(args, compare(null, drawn, "this scan"))
    if args.plot:
        _write_plot(args, drawn, "replicates" if messages.replicates else "chromosomes", lines)
    say_written(args)
    return 0


def check_outputs(args: argparse.Namespace) -> OutputOptions[ReportFormat]:
    """Settle the report's format, and refuse options that contradict each other.

    Raises
    ------
    UsageError
        They do.
    """
    output = OutputOptions.resolve(args, FORMATS)
    if args.no_separator and args.format != "omegaplus":
        raise UsageError("--no-separator has no effect without --format omegaplus")
    if args.reports and args.output == "-":
        raise UsageError("--reports writes several files; name them with -o")
    if args.plot:
        plot_format(args.plot)
    return output


def _look_at_first(args: argparse.Namespace, alignment: Alignment) -> None:
    """Refuse options that do not suit the input, and write the samples."""
    for option, name in (("--samples", args.samples), ("--samples-out", args.samples_out)):
        if name and not alignment.samples:
            raise UsageError(f"{option} {name}: this input does not name its samples; leave the option out")
    if args.samples_out:
        with text_output(args.samples_out) as stream:
            stream.writelines(f"{name}\n" for name in alignment.samples)


def _write_scans(
    args: argparse.Namespace, output: OutputOptions[ReportFormat], scans: Iterator[Scan], made: dict[str, Any]
) -> None:
    """Write each scan as soon as it is there: into one report, or into one of its own."""

    def report() -> Report:
        return make_report(output.format, provenance=made, all_columns=args.all, separator=not args.no_separator)

    if not args.reports:
        with text_output(output.path) as stream:
            write_report(scans, stream, report())
        return
    names = ReportNames(output.path, named_files(args.parser, args))
    for result in scans:
        with text_output(_report_name(names, result)) as stream:
            write_report([result], stream, report())


def _report_name(names: ReportNames, result: Scan) -> str:
    try:
        return names.name(result.name, result.replicate)
    except FileConflictError as error:
        raise UsageError(str(error)) from None


def _threshold_lines(
    args: argparse.Namespace, options: ScanOptions
) -> tuple[list[tuple[float, str]], Significance | None]:
    """Omega and label of each line that the figure shows, and the neutral replicates that they come from."""
    if args.threshold is None:
        return [], None
    if not args.plot:
        raise UsageError(f"--threshold {args.threshold}: it draws a line into the figure; give --plot FILE as well")
    given = given_threshold(args.threshold)
    if isinstance(given, float):
        return [(given, "threshold")], None
    check_options(given.scan, scan_parameters(options), "this scan", f"--threshold {args.threshold}")
    return [(threshold.omega, f"{100 * threshold.fpr:g} % of neutral") for threshold in given.thresholds], given


def _write_plot(args: argparse.Namespace, scans: list[Scan], layout: Layout, lines: list[tuple[float, str]]) -> None:
    title = "standard input" if args.input == "-" else Path(args.input).name
    figure = plot_scans(scans, title=title, layout=layout, thresholds=lines)
    with binary_output(args.plot) as stream:
        save_plot(figure, stream, plot_format(args.plot))
