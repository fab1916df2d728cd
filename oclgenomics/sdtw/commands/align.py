"""`oclgenomics sdtw align`: costs and places of the beginnings of reads."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics.app.commands import add_device_options, open_engine, report_profile, say_written
from oclgenomics.app.files import reads
from oclgenomics.app.inputs import add_signal_inputs, add_signal_options, trim_of
from oclgenomics.sdtw.commands.align_options import add_align_options, align_options, prefix_lengths
from oclgenomics.sdtw.commands.part_reports import add_part_options, settle_format, write_parts

__all__ = ["add_parser", "run"]


def add_parser(actions: Any) -> None:
    """Add `align` to the actions of `sdtw`."""
    parser = actions.add_parser(
        "align",
        help="align the beginnings of reads with references",
        description="Align prefixes of the signal of each read with references, anywhere in them, and tell the cost of "
        "the best alignment and where it ends.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
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
    add_device_options(parser)


def run(args: argparse.Namespace) -> int:
    """Align reads and write what was found.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.runtime import select_device
    from oclgenomics.sdtw.api import align_parts, checked_prefixes
    from oclgenomics.sdtw.sources import open_references
    from oclgenomics.sdtw.totals import Totals

    settle_format(args)
    options = align_options(args)
    prefixes = checked_prefixes(args.prefixes, options)
    select_device(args.device)  # a device that is not there is told before anything is read
    references = open_references(args.references, "references")
    with open_engine(args) as engine:
        write_parts(
            args,
            engine,
            Totals(),
            "aligning",
            lambda progress: align_parts(
                args.signals, references, options, prefixes=prefixes, starts=args.starts, trim=trim_of(args),
                engine=engine, progress=progress,
            ),
        )  # fmt: skip
        report_profile(args, engine)
    say_written(args)
    return 0
