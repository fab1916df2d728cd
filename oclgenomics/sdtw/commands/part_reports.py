"""What `sdtw align` and `sdtw classify` have in common: options of the output, and writing it part by part."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Generator
from contextlib import closing
from typing import TYPE_CHECKING, Any

from oclgenomics.app.commands import PACKED, add_message_options, provenance, say, text_output
from oclgenomics.app.files import writes
from oclgenomics.app.progress import Progress
from oclgenomics.errors import UsageError

if TYPE_CHECKING:
    from oclgenomics.runtime import Engine
    from oclgenomics.sdtw.totals import Totals

__all__ = ["add_part_options", "settle_format", "write_parts"]

FORMATS = ("tsv", "jsonl", "paf")


def add_part_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add -o, --format, --json, --starts and options of messages; return their group."""
    group = parser.add_argument_group("output")
    writes(group.add_argument(
        "-o", "--output", default="-", metavar="FILE", help=f"file for the results, {PACKED} (default: standard output)"
    ))  # fmt: skip
    group.add_argument(
        "--format", choices=FORMATS,
        help="format of the results; PAF has a line for the best place of each read (default: tsv)",
    )  # fmt: skip
    group.add_argument("--json", action="store_true", help="short for --format jsonl")
    group.add_argument(
        "--starts", action="store_true", help="tell where alignments start, too; always so with --format paf"
    )
    add_message_options(group)
    return group


def settle_format(args: argparse.Namespace) -> None:
    """Settle what --format, --json and --starts ask for.

    Raises
    ------
    UsageError
        --json and --format contradict each other.
    """
    if args.json and args.format not in (None, "jsonl"):
        raise UsageError(f"--json and --format {args.format} contradict each other; give one of them")
    args.format = args.format or ("jsonl" if args.json else "tsv")
    args.starts = args.starts or args.format == "paf"


def write_parts(
    args: argparse.Namespace,
    engine: Engine,
    totals: Totals,
    label: str,
    make_parts: Callable[[Callable[[int, int | None], None]], Generator[Any, None, None]],
) -> None:
    """Write the report of parts as they come, and say what it was.

    Parameters
    ----------
    args : Namespace
    engine : Engine
    totals : Totals
        To which the parts are added.
    label : str
        Of the progress.
    make_parts : callable
        Takes a progress and gives the parts.

    Raises
    ------
    InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.sdtw.formats import PafReport, make_report, write_report

    progress = Progress(enabled=not args.quiet)
    progress.stage(label, "MB", 1e6)

    def see(part: Any) -> None:
        progress.clear()
        totals.add(part)

    start = time.perf_counter()
    report = make_report(args.format, provenance=provenance(args, engine))
    with closing(make_parts(progress.update)) as parts, text_output(args.output) as stream:
        write_report(parts, stream, report, on_part=see)
    seconds = max(time.perf_counter() - start, 1e-9)
    say(
        args,
        f"{totals.reads:,} reads, {totals.samples:,} samples aligned; {seconds:.2f} s ({totals.reads / seconds:,.1f} "
        f"reads/s, {totals.samples / seconds:,.0f} samples/s, {totals.cells / seconds / 1e9:,.2f} billion cells/s)",
    )
    if totals.short:
        say(args, f"{totals.short:,} reads are shorter than the first prefix")
    if isinstance(report, PafReport) and report.left_out:
        say(args, f"{report.left_out:,} reads have no place and are not in the PAF")
