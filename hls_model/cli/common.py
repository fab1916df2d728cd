"""What the commands share: which design, and where results go."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.files import open_output
from hls_model.limits import check_possible
from hls_model.presets import PRESETS, change, load, parse_settings
from hls_model.timing import LEVELS
from oclgenomics.app.files import reads, writes
from oclgenomics.io.plain_json import json_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "BOARD",
    "add_design_options",
    "add_level_option",
    "add_output_options",
    "add_uncertainty_option",
    "design",
    "design_files",
    "write",
]


BOARD = "u200"


def add_design_options(parser: argparse.ArgumentParser, default: str = BOARD) -> None:
    """Add --board, --unroll and --set; `design` reads them."""
    group = parser.add_argument_group("design", "The design of --board; --unroll and --set change it and no other.")
    board = group.add_argument(
        "--board",
        default=default,
        metavar="NAME",
        help=f"{', '.join(PRESETS)}, or a .toml file (default: {default})",
    )
    reads(board, design_files)
    group.add_argument(
        "--unroll", type=int, metavar="U", help="right-side iterations at a time (default: those of --board)"
    )
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="settings",
        help="any other parameter, such as memory.latency_ns=200 or overlap_outer=true; may be repeated",
    )


def add_uncertainty_option(parser: argparse.ArgumentParser) -> None:
    """Add --uncertainty and --no-uncertainty."""
    parser.add_argument(
        "--uncertainty",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="give ranges over what no published number fixes: memory latency and efficiency, operator latencies, "
        "loop entry and exit, cost of a grid position; what the design sets is exact. Both ends are timed as well, so "
        "level L2 takes three times as long (default: yes)",
    )


def design_files(args: argparse.Namespace, name: str) -> list[str]:
    """Return the files that a design's name stands for: none for a preset."""
    return [] if name in PRESETS else [name]


def design(args: argparse.Namespace) -> Config:
    """Return the design that the options describe.

    Raises
    ------
    ModelError
        An unknown board or parameter, a value outside its range, or a design that no board can be.
    """
    table = parse_settings(args.settings)
    if args.unroll is not None:
        if "unroll" in table:
            raise ModelError(f"--unroll {args.unroll} and --set unroll={table['unroll']}: give one of them")
        table["unroll"] = args.unroll
    config = change(load(args.board), table)
    check_possible(config)
    return config


def add_level_option(parser: argparse.ArgumentParser) -> None:
    """Add --level."""
    parser.add_argument(
        "--level",
        choices=tuple(LEVELS),
        default="L1",
        help="timing by events (L1) or cycle by cycle (L2) (default: L1)",
    )


def add_output_options(parser: argparse.ArgumentParser, *, plot: bool = True) -> None:
    """Add -o/--output, --json, --plot and --debug; `write` reads them."""
    group = parser.add_argument_group("output")
    writes(
        group.add_argument(
            "-o",
            "--output",
            default="-",
            metavar="FILE",
            help="file for the results, packed if the name ends in .gz, .bz2, .xz or .zst (default: standard output)",
        )
    )
    group.add_argument("--json", action="store_true", help="write results as JSON (default: a table)")
    if plot:
        writes(group.add_argument("--plot", metavar="FILE", help="draw a figure: .png, .svg or .pdf"))
    group.add_argument("--debug", action="store_true", help="show the traceback of an error")


def write(
    args: argparse.Namespace, text: str, record: Mapping[str, Any], figure: Callable[[], Figure] | None = None
) -> None:
    """Write the text or, with --json, the record. Make and write the figure with --plot.

    Raises
    ------
    ModelOutputError
        A file that cannot be written.
    ModelError
        Matplotlib is missing, or does not know the format of the figure.
    """
    if figure is not None and args.plot:
        from hls_model.plots.style import save

        save(figure(), args.plot)
    with open_output(args.output) as stream:
        stream.write(json_text(record, indent=2) + "\n" if args.json else text.rstrip("\n") + "\n")
