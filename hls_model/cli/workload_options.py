"""Which scan: SNPs spread evenly, or positions from a list."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from hls_model.files import read_positions
from hls_model.workload import Workload
from oclgenomics.app.files import reads

__all__ = ["add_window_options", "add_workload_options", "number", "numbers", "workload"]

UNITS = {"": 1, "k": 1_000, "m": 1_000_000}


def number(text: str) -> int:
    """Read a whole number, also with thousands as in 13k or 1M."""
    match = re.fullmatch(r"(\d+)([kKmM]?)", text.replace("_", ""))
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number; write 13000 or 13k")
    return int(match[1]) * UNITS[match[2].lower()]


def numbers(text: str) -> list[int]:
    """Read whole numbers between commas; FROM:TO:STEP is a range with both ends."""
    found: list[int] = []
    for part in text.split(","):
        if ":" not in part:
            found.append(number(part))
            continue
        ends = [number(end) for end in part.split(":")]
        if len(ends) not in (2, 3) or ends[-1] < 1 or ends[1] < ends[0]:
            raise argparse.ArgumentTypeError(f"{part!r} is no range; write FROM:TO:STEP, such as 8:256:8")
        found += range(ends[0], ends[1] + 1, ends[2] if len(ends) == 3 else 1)
    return found


def add_workload_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a scan; `workload` reads them."""
    group = parser.add_argument_group("workload")
    group.add_argument("--snps", type=number, default=13_000, metavar="N", help="SNPs, spread evenly (default: 13000)")
    group.add_argument("--samples", type=number, default=0, metavar="N", help="haplotypes, for LD (default: no LD)")
    group.add_argument(
        "--length", type=number, default=100_000, metavar="BP", help="length of the region (default: 100000)"
    )
    positions = group.add_argument(
        "--positions",
        metavar="FILE",
        help="list of SNP positions, one per line, instead of --snps and --length",
    )
    reads(positions)
    add_window_options(group)


def add_window_options(group: argparse._ArgumentGroup) -> None:
    """Add the grid and the windows; the defaults are those that we infer for the paper's data sets."""
    group.add_argument("--grid", type=number, default=1000, metavar="N", help="grid positions (default: 1000)")
    group.add_argument(
        "--minwin",
        type=number,
        default=1_000,
        metavar="BP",
        help="smallest distance of a window's borders from its position (default: 1000)",
    )
    group.add_argument(
        "--maxwin",
        type=number,
        default=20_000,
        metavar="BP",
        help="largest distance of a window's borders from its position (default: 20000)",
    )


def workload(args: argparse.Namespace) -> Workload:
    """Return the scan that the options describe.

    Raises
    ------
    ModelError
        A value outside its range.
    ModelInputError
        A list of positions that cannot be used.
    """
    windows = {"grid": args.grid, "minwin": args.minwin, "maxwin": args.maxwin, "samples": args.samples}
    if args.positions is None:
        return Workload.uniform(args.snps, length=args.length, **windows)
    return Workload.from_positions(read_positions(args.positions), name=Path(args.positions).name, **windows)
