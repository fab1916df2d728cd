"""What the commands share: which design, which scan, tables as text, and where results go."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.files import read_positions
from hls_model.limits import check_possible
from hls_model.presets import PRESETS, change, load, parse_settings
from hls_model.timing import LEVELS
from hls_model.workload import Workload
from oclgenomics.app.commands import OutputOptions, add_output_options, count, say
from oclgenomics.app.figures import plot_format, write_figure
from oclgenomics.app.files import reads, writes
from oclgenomics.io.json_text import json_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


BOARD = "u200"
FORMATS = ("text", "json")


def add_design_options(parser: argparse.ArgumentParser, default: str = BOARD) -> None:
    """Add --board, --unroll and --set; `design` reads them."""
    group = parser.add_argument_group("design", "The design of --board; --unroll and --set change it and no other.")
    board = group.add_argument(
        "--board", default=default, metavar="NAME", help=f"{', '.join(PRESETS)}, or a .toml file (default: {default})"
    )
    reads(board, design_files)
    group.add_argument(
        "--unroll", type=count, metavar="U", help="right-side iterations at a time (default: those of --board)"
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


def add_input(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """Add INPUT, the alignments of a scan."""
    reads(parser.add_argument(
        "input", metavar="INPUT", nargs=nargs,
        help="ms, MaCS, FASTA or VCF, uncompressed or compressed (gzip, bzip2, xz, zstd), - for standard input; "
        "a tree sequence or a VCF Zarr",
    ))  # fmt: skip


def say_empty(args: argparse.Namespace, name: str, sites: int, discarded: Mapping[str, int]) -> None:
    """Warn of an alignment without any window."""
    left_out = ", ".join(f"{number:,} {reason}" for reason, number in discarded.items() if number) or "none"
    say(args, f"warning: {name}: no window holds enough of its {sites:,} sites (left out: {left_out})")


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


def add_outputs(parser: argparse.ArgumentParser, *, plot: str = "a figure") -> None:
    """Add -o, --format, --json and, unless it draws nothing, --plot, which `write` reads, and options of messages."""
    group = add_output_options(parser, formats=FORMATS)
    if plot:
        writes(group.add_argument("--plot", metavar="FILE", help=f"draw {plot}: .png, .svg or .pdf"))


def check_outputs(args: argparse.Namespace) -> None:
    """Refuse formats that there are not before anything is computed.

    Raises
    ------
    UsageError
    """
    if "format" in args:
        OutputOptions.resolve(args, FORMATS)
    if getattr(args, "plot", None):
        plot_format(args.plot)


def write(
    args: argparse.Namespace, text: str, record: Mapping[str, Any], figure: Callable[[], Figure] | None = None
) -> None:
    """Write the text or, with --json, the record. Make and write the figure with --plot.

    Raises
    ------
    OutputError
        A file that cannot be written.
    """
    if figure is not None and args.plot:
        write_figure(args.plot, figure())
    output = OutputOptions.resolve(args, FORMATS)
    output.write(json_text(record, indent=2) + "\n" if output.format == "json" else text.rstrip("\n") + "\n")


def counts(text: str) -> list[int]:
    """Read whole numbers between commas; FROM:TO:STEP is a range with both ends."""
    found: list[int] = []
    for part in text.split(","):
        if ":" not in part:
            found.append(count(part))
            continue
        ends = [count(end) for end in part.split(":")]
        if len(ends) not in (2, 3) or ends[-1] < 1 or ends[1] < ends[0]:
            raise argparse.ArgumentTypeError(f"{part!r} is no range; write FROM:TO:STEP, such as 8:256:8")
        found += range(ends[0], ends[1] + 1, ends[2] if len(ends) == 3 else 1)
    return found


def add_workload_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a scan; `workload` reads them."""
    group = parser.add_argument_group("workload")
    group.add_argument("--snps", type=count, default=13_000, metavar="N", help="SNPs, spread evenly (default: 13000)")
    group.add_argument("--samples", type=count, default=0, metavar="N", help="haplotypes, for LD (default: no LD)")
    group.add_argument(
        "--length", type=count, default=100_000, metavar="BP", help="length of the region (default: 100000)"
    )
    positions = group.add_argument(
        "--positions", metavar="FILE", help="list of SNP positions, one per line, instead of --snps and --length"
    )
    reads(positions)
    add_window_options(group)


def add_window_options(group: argparse._ArgumentGroup) -> None:
    """Add the grid and the windows; the defaults are those that we infer for the paper's data sets."""
    group.add_argument("--grid", type=count, default=1000, metavar="N", help="grid positions (default: 1000)")
    group.add_argument(
        "--minwin",
        type=count,
        default=1_000,
        metavar="BP",
        help="smallest distance of a window's borders from its position (default: 1000)",
    )
    group.add_argument(
        "--maxwin",
        type=count,
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


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows under a header, each column as wide as its widest entry."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            entry.rjust(width) if column else entry.ljust(width)
            for column, (entry, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
