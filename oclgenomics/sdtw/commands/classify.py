"""`oclgenomics sdtw classify`: which reads are of the target."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import oclgenomics
from oclgenomics import sdtw
from oclgenomics.app import commands as app
from oclgenomics.app.files import writes
from oclgenomics.app.inputs import THRESHOLDS_TRIM, add_signal_inputs, add_signal_options
from oclgenomics.app.multiqc import add_multiqc_options, sample_name, write_content
from oclgenomics.app.samples import MakeSample, SheetUse, add_sheet_option, has_sheet, run_sheet
from oclgenomics.app.spread import Work, add_spread_options, is_combined, work_of, work_on, write_shard
from oclgenomics.lazy_names import late
from oclgenomics.sdtw import decisions, formats
from oclgenomics.sdtw.commands.options import (
    add_align_options,
    add_decision_options,
    asked_trim,
    settled_options,
    thresholds_of,
)
from oclgenomics.sdtw.commands.reports import add_part_options, settle_format, write_parts

jobs = late("oclgenomics.app.jobs")


def add_parser(actions: Any) -> None:
    """Add `classify` to the actions of `sdtw`."""
    parser = app.add_command(
        actions, run, "classify",
        help="decide which reads are of a target",
        description="Align prefixes of the signal of each read with references, the shortest one first. At each stage "
        "a read whose score is above the threshold is rejected, and the others go on; what is left after the last "
        "stage is accepted, and a read that ends before is undecided.",
    )  # fmt: skip
    add_sheet_option(parser, parser, add_signal_inputs(parser), signals=True)
    add_decision_options(parser.add_argument_group("decisions"))
    group = parser.add_argument_group("signals and alignments")
    add_signal_options(group, default=THRESHOLDS_TRIM)
    add_align_options(group)
    add_report_options(parser)
    add_spread_options(parser)
    app.add_device_options(parser, threads=argparse.SUPPRESS)


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Add all outputs: the decisions in a format, with or without starts, their summary and that for MultiQC."""
    group = add_part_options(parser)
    writes(group.add_argument(
        "--summary", metavar="FILE", help="write a table with a line for each stage: reads that came to it, decisions"
    ))  # fmt: skip
    add_multiqc_options(group, "the decisions")


def run(args: argparse.Namespace) -> int:
    """Classify reads and write what was decided.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    if has_sheet(args):
        settle_format(args)
        return run_sheet(args, SHEET, _classifying_samples)
    combined = is_combined(args)
    if not combined:
        app.begin_engine(args)
    job = _opened_job(args, combined=combined)
    if args.shard is not None:
        return write_shard(args, job, "classifying")
    with work_of(args) as work:
        _classify(args, job, work)
        work.report_profile()
    app.say_written(args)
    return 0


def _ending(args: argparse.Namespace) -> str:
    return f".decisions.{args.format}"


SHEET = SheetUse("signals", _ending, signals=True)


def _opened_job(args: argparse.Namespace, *, combined: bool) -> sdtw.ClassifyJob:
    """What is to be done, with its references read; a device that is not there is reported before that."""
    settle_format(args)
    thresholds = thresholds_of(args)
    job = sdtw.ClassifyJob(
        tuple(args.signals), tuple(args.targets), tuple(args.decoys), thresholds, args.thresholds, args.starts,
        asked_trim(args),
    )  # fmt: skip
    if not combined:
        oclgenomics.select_device(args.device)
    job.open()
    settled_options(args, thresholds)
    _ = job.settled_trim  # which refuses thresholds that are for something else
    return job


@contextmanager
def _classifying_samples(args: argparse.Namespace) -> Iterator[MakeSample]:
    """Read the references, open the device, and lend what classifies the reads of a sample."""
    app.begin_engine(args)
    job = _opened_job(args, combined=False)
    with app.open_engine(args) as engine, jobs.keeping(engine):
        yield lambda sample: _classify(sample, job.of(sample.signals), work_on(sample, engine))
        app.report_profile(args, engine)


def _classify(args: argparse.Namespace, job: sdtw.ClassifyJob, work: Work) -> None:
    """Write all outputs of a classification, and say what was decided."""
    prefixes = job.thresholds.prefixes
    args.trim = decisions.trim_text(job.settled_trim)  # for reports to name
    totals = write_parts(args, work.provenance(), "classifying", lambda run: work.parts(job, run))
    if args.summary:
        with app.text_output(args.summary) as stream:
            stream.write(formats.summary_text(totals, prefixes, work.provenance()))
    if args.multiqc:
        write_content(args, formats.decisions_content(sample_name(args, args.signals), totals, prefixes))
    app.say(args, ", ".join(f"{number:,} {word}" for word, number in totals.decisions.items()))
