"""`oclgenomics sdtw classify`: which reads are of the target."""

from __future__ import annotations

import argparse
from typing import Any

import oclgenomics
from oclgenomics import sdtw
from oclgenomics.app import commands as app
from oclgenomics.app.files import writes
from oclgenomics.app.inputs import THRESHOLDS_TRIM, add_signal_inputs, add_signal_options
from oclgenomics.sdtw import formats
from oclgenomics.sdtw.commands.options import add_align_options, add_decision_options, references_of, thresholds_of
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
    group = add_part_options(parser)
    writes(group.add_argument(
        "--summary", metavar="FILE", help="write a table with a line for each stage: reads that came to it, decisions"
    ))  # fmt: skip
    app.add_device_options(parser, threads=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Classify reads and write what was decided.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    settle_format(args)
    thresholds = thresholds_of(args)
    oclgenomics.select_device(args.device)  # a device that is not there is reported before anything is read
    targets, decoys, trim = references_of(args, thresholds)
    with app.open_engine(args) as engine:
        how: dict[str, Any] = {"starts": args.starts, "trim": trim, "engine": engine}
        totals = write_parts(args, engine, "classifying", lambda run: sdtw.iter_classify(
            args.signals, targets, thresholds, decoys=decoys, run=run, **how
        ))  # fmt: skip
        app.report_profile(args, engine)
        if args.summary:
            with app.text_output(args.summary) as stream:
                stream.write(formats.summary_text(totals, thresholds.prefixes, app.provenance(args, engine)))
    app.say(args, ", ".join(f"{number:,} {word}" for word, number in totals.decisions.items()))
    app.say_written(args)
    return 0
