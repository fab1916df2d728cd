"""`oclgenomics sdtw classify`: which reads are of the target."""

from __future__ import annotations

import argparse
from typing import Any

import oclgenomics
from oclgenomics import sdtw
from oclgenomics.app.commands import (
    add_device_options,
    open_engine,
    provenance,
    report_profile,
    say,
    say_written,
    text_output,
)
from oclgenomics.app.files import writes
from oclgenomics.app.inputs import THRESHOLDS_TRIM, add_signal_inputs, add_signal_options
from oclgenomics.sdtw import formats
from oclgenomics.sdtw.commands.options import add_align_options, add_decision_options, references_of, thresholds_of
from oclgenomics.sdtw.commands.reports import add_part_options, settle_format, write_parts


def add_parser(actions: Any) -> None:
    """Add `classify` to the actions of `sdtw`."""
    parser = actions.add_parser(
        "classify",
        help="decide which reads are of a target",
        description="Align prefixes of the signal of each read with references, the shortest one first. At each stage "
        "a read whose score is above the threshold is rejected, and the others go on; what is left after the last "
        "stage is accepted, and a read that ends before is undecided.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    add_signal_inputs(parser)
    add_decision_options(parser.add_argument_group("decisions"))
    group = parser.add_argument_group("signals and alignments")
    add_signal_options(group, default=THRESHOLDS_TRIM)
    add_align_options(group)
    group = add_part_options(parser)
    writes(group.add_argument(
        "--summary", metavar="FILE", help="write a table with a line for each stage: reads that came to it, decisions"
    ))  # fmt: skip
    add_device_options(parser)


def run(args: argparse.Namespace) -> int:
    """Classify reads and write what was decided.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    settle_format(args)
    thresholds = thresholds_of(args)
    oclgenomics.select_device(args.device)  # a device that is not there is told before anything is read
    targets, decoys, trim = references_of(args, thresholds)
    with open_engine(args) as engine:
        totals = write_parts(
            args,
            engine,
            "classifying",
            lambda run: sdtw.iter_classify(
                args.signals, targets, thresholds, decoys=decoys, starts=args.starts, trim=trim, engine=engine, run=run
            ),
        )
        report_profile(args, engine)
        if args.summary:
            with text_output(args.summary) as stream:
                stream.write(formats.summary_text(totals, thresholds.prefixes, provenance(args, engine)))
    say(args, ", ".join(f"{number:,} {word}" for word, number in totals.decisions.items()))
    say_written(args)
    return 0
