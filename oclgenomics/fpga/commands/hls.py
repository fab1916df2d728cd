"""`hls`: the C++ kernel of a design with a test bench and the vendor's scripts, as a folder."""

from __future__ import annotations

import argparse

from hls_model.choices import OPERANDS
from hls_model.errors import ModelError
from oclgenomics.app.files import works_in
from oclgenomics.fpga.commands import common
from oclgenomics.lazy_names import late

source = late("hls_model.extras.hls.source")
stimulus = late("hls_model.rtl.stimulus")

LEFT, RIGHT = 8, 1024  # a position that a cosimulation does in minutes
MOST_OMEGAS = 1 << 24  # a word of the stimulus each
LARGEST_SEED = (1 << 32) - 1


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = common.add_command(
        subparsers, "hls", run,
        "Write a project for high-level synthesis into a new or empty folder: the kernel of the design, its test bench "
        "with stimulus and expected results, run_hls.tcl (Vivado HLS, Vitis HLS) and hls_config.cfg (v++ --mode hls).",
    )  # fmt: skip
    works_in(parser.add_argument("--folder", required=True, metavar="FOLDER", help="where the project goes"))
    group = parser.add_argument_group("stimulus")
    common.add_count(group, "--left", LEFT, "left borders")
    common.add_count(group, "--right", RIGHT, "right borders")
    common.add_count(group, "--positions", 1, "grid positions")
    common.add_count(group, "--seed", 1, "seed of the operands")
    group.add_argument(
        "--operands", choices=OPERANDS, default="plain",
        help="as an alignment has them, with ties, near the smallest numbers, or any bits (default: plain)",
    )  # fmt: skip
    common.add_shared_options(parser, "design", plot="")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    config = common.fitting_design(args)
    if not 1 <= args.positions <= 1000:
        raise ModelError(f"--positions is {args.positions}; it has to be 1 to 1000")
    if args.seed + args.positions - 1 > LARGEST_SEED:
        raise ModelError(f"--seed is {args.seed}; with the positions it has to stay below 2**32")
    if args.positions * args.left * args.right > MOST_OMEGAS:
        raise ModelError(
            f"{args.positions} x {args.left} x {args.right} omegas; a stimulus has {MOST_OMEGAS:,} at most"
        )
    seeds = range(args.seed, args.seed + args.positions)
    made = [stimulus.operands(args.left, args.right, seed, args.operands) for seed in seeds]
    files = source.write_project(config, made, args.folder)
    text = f"{args.folder}: {config.name}, {config.lanes} lanes at {config.clock_mhz:g} MHz, "
    text += f"{args.positions} x {args.left} x {args.right}\n" + "\n".join(files)
    return common.write(args, text, {"design": config.name, "folder": args.folder, "files": files})
