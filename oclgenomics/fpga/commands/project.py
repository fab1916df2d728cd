"""`oclgenomics fpga project`: a scan on FPGA designs by the model, beside the same scan on this machine's device."""

from __future__ import annotations

import argparse
from typing import Any

from hls_model.cli import common as model_common
from hls_model.cli.prices import add_price_options
from hls_model.cli.project import add_compare_option
from oclgenomics.app.commands import add_device_options, add_output_options, count
from oclgenomics.app.files import reads, writes
from oclgenomics.app.inputs import add_reading_options
from oclgenomics.errors import UsageError
from oclgenomics.omega.commands.options import add_method_options, add_site_options, add_window_options

__all__ = ["add_parser", "run"]

# What we infer for the paper's data sets; for the scan of SNPs that are spread evenly.
EVEN_DEFAULTS = {"grid": 1_000, "minwin": 1_000, "maxwin": 20_000, "length": 100_000, "snps": 13_000}
RANDOM_SEED = 1


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "project",
        help="time of a scan on FPGA designs, beside the same scan on this machine's OpenCL device",
        description="Project a scan onto one or several designs, and time the same scan on this machine. INPUT and its "
        "options are those of `oclgenomics omega scan`; without INPUT the SNPs are spread evenly or come from "
        "--positions, and --samples N draws genotypes for the measurement.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    alignments = parser.add_argument(
        "input", metavar="INPUT", nargs="?",
        help="ms, MaCS, FASTA or VCF, plain or packed (gzip, bzip2, xz, zstd), - for standard input; "
        "a tree sequence or a VCF Zarr",
    )  # fmt: skip
    reads(alignments)
    add_window_options(parser, required=False)
    group = parser.add_argument_group("input")
    add_reading_options(group)
    samples = group.add_argument(
        "--samples", metavar="FILE|N",
        help="with INPUT: file of the samples to use, one per line; without: number of random haplotypes",
    )  # fmt: skip
    reads(samples, lambda args, given: [given] if args.input else [])
    regions = group.add_argument(
        "--exclude", metavar="BED", help="leave out the sites within these regions (default: none)"
    )
    reads(regions)
    group.add_argument("--snps", type=count, metavar="N", help="without INPUT: SNPs, spread evenly (default: 13000)")
    reads(group.add_argument("--positions", metavar="FILE", help="without INPUT: SNPs at these positions, one a line"))
    add_site_options(parser, "seed of the draws, and of random genotypes (for these 1 if not given)")
    add_method_options(parser)
    model_common.add_level_option(parser)
    model_common.add_design_options(parser)
    add_compare_option(parser)
    add_price_options(parser)
    parser.add_argument(
        "--no-measure", action="store_true", help="project only (default: also time the scan on this machine)"
    )
    add_output_options(parser)
    writes(parser.add_argument("--plot", metavar="FILE", help="draw where the time goes: .png, .svg or .pdf"))
    add_device_options(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    _check(args)
    from oclgenomics.fpga.commands.scan import project_input

    return project_input(args)


def _check(args: argparse.Namespace) -> None:
    """Refuse options that contradict each other, and fill in those that were not given."""
    if args.border >= 0:
        raise UsageError(f"--border {args.border}: the pipeline tries every pair of borders; leave the option out")
    if args.input is None:
        _check_made(args)
    else:
        _check_read(args)


def _check_read(args: argparse.Namespace) -> None:
    for name in ("grid", "minwin", "maxwin"):
        if getattr(args, name) is None:
            raise UsageError(f"--{name} is missing; a scan of INPUT needs --grid, --minwin and --maxwin")
    for name in ("snps", "positions"):
        if getattr(args, name) is not None:
            raise UsageError(f"--{name} makes SNPs and INPUT has its own; give one of them")


def _check_made(args: argparse.Namespace) -> None:
    if args.positions is not None and (args.snps is not None or args.length is not None):
        raise UsageError("--positions says where the SNPs are; leave out --snps and --length")
    for name in ("input_format", "exclude"):
        if getattr(args, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} is for an INPUT, and none is given")
    for name, value in EVEN_DEFAULTS.items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    try:
        args.samples = count(args.samples) if args.samples else 0
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"--samples {args.samples}: without INPUT it is a number of haplotypes") from error
    if args.samples == 1:
        raise UsageError("--samples 1: give 2 haplotypes or more")
    args.seed = RANDOM_SEED if args.seed is None else args.seed
