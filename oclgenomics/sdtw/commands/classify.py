"""`oclgenomics sdtw classify`: which reads are of the target."""

from __future__ import annotations

import argparse
from typing import Any

import oclgenomics
from oclgenomics import sdtw
from oclgenomics.app import commands as app
from oclgenomics.app.files import writes
from oclgenomics.app.inputs import THRESHOLDS_TRIM, add_signal_inputs, add_signal_options
from oclgenomics.app.multiqc import add_multiqc_options, sample_name, write_content
from oclgenomics.app.spread import add_spread_options, is_combined, work_of, write_shard
from oclgenomics.sdtw import decisions, formats
from oclgenomics.sdtw.commands.options import (
    add_align_options,
    add_decision_options,
    asked_trim,
    settled_options,
    thresholds_of,
)
from oclgenomics.sdtw.commands.reports import add_part_options, settle_format, write_parts


def add_parser(actions: Any) -> None:
    """Add `classify` to the actions of `sdtw`."""
    parser = app.add_command(
        actions, run, "classify",
        help="decide which reads are of a target",
        description="Align prefixes of the signal of each read with references, the shortest one first. At each stage "
        "a read whose score is above the threshold is rejected, and the others go on; what is left after the last "
        "stage is accepted, and a read that ends before is undecided.",
    )  # fmt: skip
    add_signal_inputs(parser)
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
    combined = is_combined(args)
    if not combined:
        app.begin_engine(args)
    settle_format(args)
    thresholds = thresholds_of(args)
    job = sdtw.ClassifyJob(
        tuple(args.signals), tuple(args.targets), tuple(args.decoys), thresholds, args.thresholds, args.starts,
        asked_trim(args),
    )  # fmt: skip
    if not combined:
        oclgenomics.select_device(args.device)  # a device that is not there is reported before anything is read
    job.open()
    settled_options(args, thresholds)
    trim = job.settled_trim
    if args.shard is not None:
        return write_shard(args, job, "classifying")
    args.trim = decisions.trim_text(trim)  # for reports to tell
    with work_of(args) as work:
        totals = write_parts(args, work.provenance(), "classifying", lambda run: work.parts(job, run))
        work.report_profile()
        if args.summary:
            with app.text_output(args.summary) as stream:
                stream.write(formats.summary_text(totals, thresholds.prefixes, work.provenance()))
    if args.multiqc:
        write_content(args, formats.decisions_content(sample_name(args, args.signals), totals, thresholds.prefixes))
    app.say(args, ", ".join(f"{number:,} {word}" for word, number in totals.decisions.items()))
    app.say_written(args)
    return 0
