"""What the commands share: which design, which scan, tables as text, and where results go."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hls_model.choices import LEVELS
from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.presets import PRESETS, change, load, parse_settings
from oclgenomics.app.commands import OutputOptions, add_output_options, count, say
from oclgenomics.app.files import reads, writes
from oclgenomics.io.json_text import json_text
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hls_model.workload import Workload

figures = late("oclgenomics.app.figures")
limits = late("hls_model.limits")
resources = late("hls_model.resources")
workloads = late("hls_model.workload")


BOARD = "u200"
FORMATS = ("text", "json")
RowT = TypeVar("RowT")


def check_outputs(args: argparse.Namespace, formats: Sequence[str] = FORMATS) -> None:
    """Refuse, before anything is computed, formats that the outputs of a command cannot have.

    Raises
    ------
    UsageError
    """
    OutputOptions.resolve(args, formats)
    if getattr(args, "plot", None):
        figures.plot_format(args.plot)


def add_command(
    subparsers: Any,
    name: str,
    run: Callable[[argparse.Namespace], int],
    description: str | None = None,
    check: Callable[[argparse.Namespace], None] = check_outputs,
) -> argparse.ArgumentParser:
    """Add a command, which `check` checks before `run` runs it, and return its parser."""

    def checked(args: argparse.Namespace) -> int:
        check(args)
        return run(args)

    parser: argparse.ArgumentParser = subparsers.add_parser(name, description=description, allow_abbrev=False)
    parser.set_defaults(run=checked)
    return parser


def add_shared_options(
    parser: argparse.ArgumentParser, names: str, *, plot: str = "a figure"
) -> argparse._ArgumentGroup:
    """Add the options that many commands have; return the group of outputs.

    Parameters
    ----------
    parser : ArgumentParser
    names : str
        Of 'workload', 'level', 'design' and 'uncertainty' those that the command has, in the order of its help.
    plot : str
        What --plot draws; empty for a command that draws nothing.
    """
    for name in names.split():
        SHARED[name](parser)
    group = add_output_options(parser, formats=FORMATS)
    if plot:
        add_plot_option(group, plot)
    return group


def add_plot_option(group: argparse._ArgumentGroup, plot: str) -> None:
    """Add --plot, which draws `plot`."""
    writes(group.add_argument("--plot", metavar="FILE", help=f"draw {plot}: .png, .svg or .pdf"))


def add_count(group: Any, option: str, default: int, what: str, metavar: str = "N") -> None:
    """Add the option of a whole number, whose help ends with its default."""
    group.add_argument(option, type=count, default=default, metavar=metavar, help=f"{what} (default: {default})")


def add_design_options(parser: argparse.ArgumentParser) -> None:
    """Add --board, --unroll and --set; `design` reads them."""
    group = parser.add_argument_group("design", "The design of --board; --unroll and --set change it and no other.")
    board = group.add_argument(
        "--board", default=BOARD, metavar="NAME", help=f"{', '.join(PRESETS)}, or a .toml file (default: {BOARD})"
    )
    reads(board, design_files)
    group.add_argument(
        "--unroll", type=count, metavar="U", help="right-side iterations at a time (default: those of --board)"
    )
    add_set_option(group, "memory.latency_ns=200 or overlap_outer=true")


def add_set_option(group: argparse._ArgumentGroup, examples: str) -> None:
    """Add --set, whose values are in `settings`."""
    group.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", dest="settings",
        help=f"any other parameter, such as {examples}; may be repeated",
    )  # fmt: skip


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
    """Return the files behind a design's name: none for a preset."""
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
    limits.check_possible(config)
    return config


def fitting_design(args: argparse.Namespace) -> Config:
    """Return the design that the options describe, which fits its board.

    Raises
    ------
    ModelError
        As for `design`, or one that does not fit.
    """
    config: Config = resources.check_fits(design(args)).config
    return config


def add_level_option(parser: argparse.ArgumentParser) -> None:
    """Add --level."""
    parser.add_argument(
        "--level", choices=LEVELS, default="L1",
        help="timing by events (L1) or cycle by cycle (L2) (default: L1)",
    )  # fmt: skip


def write(
    args: argparse.Namespace, text: str, record: Mapping[str, Any], figure: Callable[[], Figure] | None = None
) -> int:
    """Write the text or, with --json, the record, make and write the figure with --plot, and return exit status 0.

    Raises
    ------
    OutputError
        A file that cannot be written.
    """
    if figure is not None and args.plot:
        figures.write_figure(args.plot, figure())
    output = OutputOptions.resolve(args, FORMATS)
    output.write(json_text(record, indent=2) + "\n" if output.format == "json" else text.rstrip("\n") + "\n")
    return 0


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
    """Add the options of a scan, which `workload` reads; the defaults are what we infer for the paper's data sets."""
    group = parser.add_argument_group("workload")
    add_count(group, "--snps", 13_000, "SNPs, spread evenly")
    group.add_argument("--samples", type=count, default=0, metavar="N", help="haplotypes, for LD (default: no LD)")
    add_count(group, "--length", 100_000, "length of the region", "BP")
    reads(group.add_argument(
        "--positions", metavar="FILE", help="list of SNP positions, one per line, instead of --snps and --length"
    ))  # fmt: skip
    add_count(group, "--grid", 1_000, "grid positions")
    add_count(group, "--minwin", 1_000, "smallest distance of a window's borders from its position", "BP")
    add_count(group, "--maxwin", 20_000, "largest distance of a window's borders from its position", "BP")


SHARED: Mapping[str, Callable[[argparse.ArgumentParser], None]] = {
    "workload": add_workload_options,
    "level": add_level_option,
    "design": add_design_options,
    "uncertainty": add_uncertainty_option,
}


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
    made: Workload
    if args.positions is None:
        made = workloads.Workload.uniform(args.snps, length=args.length, **windows)
    else:
        positions = workloads.read_positions(args.positions)
        made = workloads.Workload.from_positions(positions, name=Path(args.positions).name, **windows)
    return made


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows under a header, each column as wide as its widest entry."""
    lines = [header, *rows]
    first, *others = (max(map(len, column)) for column in zip(*lines, strict=True))

    def shown(name: str, *cells: str) -> str:
        return "  ".join([name.ljust(first), *map(str.rjust, cells, others)]).rstrip()

    return "\n".join(shown(*line) for line in lines)


def cells_of(row: RowT, columns: Mapping[str, Callable[[RowT], str]]) -> tuple[str, ...]:
    """Return the cells of a row."""
    return tuple(cell(row) for cell in columns.values())


def table_of(
    rows: Iterable[RowT], columns: Mapping[str, Callable[[RowT], str]], *, more: int = 0, last: Sequence[str] = ()
) -> str:
    """Return a table with a line for each row.

    Parameters
    ----------
    rows : iterable
    columns : mapping of str to callable
        Of each head, how a cell below it is made of a row.
    more : int
        Rows that are not shown, which a line counts.
    last : sequence of str
        The cells of the last line, such as totals; empty without one.
    """
    lines = [cells_of(row, columns) for row in rows]
    if more:
        lines.append((f"... {more:,} more", *[""] * (len(columns) - 1)))
    return table(tuple(columns), [*lines, last] if last else lines)
