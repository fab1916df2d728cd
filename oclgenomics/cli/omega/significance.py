"""What `oclgenomics omega threshold` does: neutral replicates, sweeps and peaks into one report."""

from __future__ import annotations

import argparse
from contextlib import closing
from dataclasses import replace

from oclgenomics.cli.omega.options import scan_options
from oclgenomics.cli.omega.significance_messages import SignificanceMessages
from oclgenomics.cli.omega.threshold import check_questions, neutral_replicates
from oclgenomics.cli.options import open_engine, report_profile
from oclgenomics.cli.output import OutputOptions, provenance, say_written
from oclgenomics.cli.read_options import read_options
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.peaks import best_windows
from oclgenomics.omega.reports.reading import OmegaReport, read_report
from oclgenomics.omega.reports.thresholds import as_json, as_tsv
from oclgenomics.omega.significance.comparable import check_comparable
from oclgenomics.omega.significance.neutral import Significance, find_thresholds, scan_parameters
from oclgenomics.omega.significance.sweeps import detect_sweeps
from oclgenomics.omega.sources import first_read, open_alignments
from oclgenomics.runtime import Engine, select_device
from oclgenomics.variation.read_options import ReadOptions

__all__ = ["judge_omegas"]

FORMATS = ("tsv", "json")


def judge_omegas(args: argparse.Namespace) -> int:
    """Run the command; see `oclgenomics.cli.omega.threshold.run`."""
    options, reading = scan_options(args), read_options(args)
    output = OutputOptions.resolve(args, FORMATS)
    rates = check_questions(args)
    report = _report_to_judge(args, options)
    select_device(args.device)  # a device that is not there is told before the work
    messages = SignificanceMessages(args)
    neutral = first_read(neutral_replicates(args, reading), args.input or "the simulation")
    with open_engine(args) as engine:
        messages.begin("neutral", args.replicates)
        found = find_thresholds(
            neutral, options, fpr=rates, length=args.length, on_alignment=messages.alignment, engine=engine,
            progress=messages.progress,
        )  # fmt: skip
        messages.thresholds(found)
        if args.sweeps:
            found = _with_sweeps(args, found, options, reading, engine, messages)
        made = provenance(args, engine)
        report_profile(args, engine)
    if report is not None:
        found = replace(found, peaks=tuple(best_windows(report.tracks, args.peaks)))
        messages.peaks(found, report)
    output.write(as_json(found, made) if output.format == "json" else as_tsv(found, made))
    say_written(args)
    return 0


def _with_sweeps(
    args: argparse.Namespace,
    found: Significance,
    options: ScanOptions,
    reading: ReadOptions,
    engine: Engine,
    messages: SignificanceMessages,
) -> Significance:
    """The same with the detection of the sweep replicates."""
    with closing(open_alignments(args.sweeps, reading, threads=args.threads)) as read:
        messages.begin("sweeps", None)
        sweeps = detect_sweeps(
            read, options, found.thresholds, site=args.site, within=args.within, on_alignment=messages.alignment,
            engine=engine, progress=messages.progress,
        )  # fmt: skip
    found = replace(found, sweeps=sweeps)
    messages.sweeps(found)
    return found


def _report_to_judge(args: argparse.Namespace, options: ScanOptions) -> OmegaReport | None:
    if args.scan is None:
        return None
    report = read_report(args.scan)
    check_comparable(scan_parameters(options), report.parameters, args.scan, "omega threshold")
    return report
