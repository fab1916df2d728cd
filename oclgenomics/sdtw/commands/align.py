"""`oclgenomics sdtw align`: costs and places of the beginnings of reads."""

from __future__ import annotations

import argparse
from typing import Any

import oclgenomics
from oclgenomics import sdtw
from oclgenomics.app import commands as app
from oclgenomics.app.files import reads
from oclgenomics.app.inputs import add_signal_inputs, add_signal_options, trim_of
from oclgenomics.app.spread import add_spread_options, is_combined, work_of, write_shard
from oclgenomics.sdtw.commands.options import add_align_options, align_options, prefix_lengths
from oclgenomics.sdtw.commands.reports import add_part_options, settle_format, write_parts


def add_parser(actions: Any) -> None:
    """Add `align` to the actions of `sdtw`."""
    parser = app.add_command(
        actions, run, "align",
        help="align the beginnings of reads with references",
        description="Align prefixes of the signal of each read with references, anywhere in them, and report the cost "
        "of the best alignment and where it ends.",
    )  # fmt: skip
    add_signal_inputs(parser)
    group = parser.add_argument_group("signals and alignments")
    reads(group.add_argument(
        "--reference", dest="references", action="append", required=True, metavar="FILE",
        help="a reference by `sdtw index`; may be given more than once",
    ))  # fmt: skip
    group.add_argument(
        "--prefixes", type=prefix_lengths, default=(1000, 2000), metavar="N,N,...",
        help="how many samples of each read are aligned, ascending (default: 1000,2000)",
    )  # fmt: skip
    add_signal_options(group)
    add_align_options(group)
    add_part_options(parser)
    add_spread_options(parser)
    app.add_device_options(parser, threads=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Align reads and write what was found.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    combined = is_combined(args)
    if not combined:
        app.begin_engine(args)
    settle_format(args)
    options = align_options(args)
    options.check_prefixes(args.prefixes)
    job = sdtw.AlignJob(tuple(args.signals), tuple(args.references), options, args.prefixes, args.starts, trim_of(args))
    if not combined:
        oclgenomics.select_device(args.device)  # a device that is not there is reported before anything is read
    job.open()
    if args.shard is not None:
        return write_shard(args, job, "aligning")
    with work_of(args) as work:
        write_parts(args, work.provenance(), "aligning", lambda run: work.parts(job, run))
        work.report_profile()
    app.say_written(args)
    return 0
