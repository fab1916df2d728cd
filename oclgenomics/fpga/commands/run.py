"""`oclgenomics fpga run`: every omega of a scan as the hardware computes it, beside the scan itself."""

from __future__ import annotations

import argparse
from typing import Any

from hls_model.cli import common as model_common
from oclgenomics.app.commands import add_device_options, add_message_options
from oclgenomics.app.files import reads, writes
from oclgenomics.app.inputs import add_reading_options
from oclgenomics.errors import UsageError
from oclgenomics.omega.commands.options import add_method_options, add_site_options, add_window_options

__all__ = ["add_parser", "run"]

MATRICES = ("float32", "exact")  # of oclgenomics.fpga.run, which --help does without
# What `omega scan` offers and the pipeline does not do: option, the value it has to have, and why.
UNMODELLED = (
    ("border", -1, "the pipeline tries every pair of borders"),
    ("ld", "RSQUARE", "the pipeline sums r2"),
    ("precision", "accurate", "the hardware is compared with the scan in accurate precision"),
)


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "run",
        help="every omega of a scan in the hardware's arithmetic, and the error of its maxima",
        description="Compute every omega of a scan as the hardware would (float32, the lane's order of operations, "
        "flush to zero, lanes and merge), and compare maxima and windows with those of `oclgenomics omega scan`, whose "
        "INPUT and options these are. The design decides which omegas the lanes and the remainder have.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    alignments = parser.add_argument(
        "input", metavar="INPUT",
        help="ms, MaCS, FASTA or VCF, plain or packed (gzip, bzip2, xz, zstd), - for standard input; "
        "a tree sequence or a VCF Zarr",
    )  # fmt: skip
    reads(alignments)
    add_window_options(parser)
    group = parser.add_argument_group("input")
    add_reading_options(group)
    reads(group.add_argument("--samples", metavar="FILE", help="file of the samples to use, one per line"))
    reads(group.add_argument("--exclude", metavar="BED", help="leave out the sites within these regions"))
    add_site_options(parser)
    add_method_options(parser)
    model_common.add_design_options(parser)
    parser.add_argument(
        "--matrix", choices=MATRICES, default="float32",
        help="M by the recurrence in float32, as the host of the paper builds it, or exact: summed in float64 and "
        "rounded once to float32, which leaves the error of the lanes alone (default: %(default)s)",
    )  # fmt: skip
    _add_outputs(parser)
    add_device_options(parser)


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    writes(
        group.add_argument(
            "-o", "--output", metavar="FILE", help="write a table of the grid positions: tsv, or JSON with --json"
        )
    )
    group.add_argument("--json", action="store_true", help="write summary and positions as JSON (default: a summary)")
    writes(group.add_argument("--plot", metavar="FILE", help="draw the error of the maxima: .png, .svg or .pdf"))
    add_message_options(group)


def run(args: argparse.Namespace) -> int:
    """Run the command.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    for name, value, why in UNMODELLED:
        if getattr(args, name) != value:
            raise UsageError(f"--{name} {getattr(args, name)}: {why}; leave the option out")
    from oclgenomics.fpga.commands.run_input import run_input

    return run_input(args)
