"""`oclgenomics omega peaks`: regions of high omega from the report of a scan."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics import omega
from oclgenomics.app import commands as app
from oclgenomics.app.files import reads
from oclgenomics.errors import UsageError
from oclgenomics.omega import formats
from oclgenomics.omega.commands.options import given_threshold, say_compared, threshold_files

FORMATS: tuple[formats.PeakFormat, ...] = ("bed", "tsv", "json")


def add_parser(actions: Any) -> None:
    """Add `peaks` to the actions of `omega`."""
    parser = app.add_command(
        actions, run, "peaks",
        help="regions of high omega, as BED, from the report of a scan",
        description="Merge the windows of neighbouring grid positions whose omega is above a threshold, and write "
        "the regions sorted by chromosome and start.",
    )  # fmt: skip
    reads(parser.add_argument(
        "report", metavar="REPORT", help="tsv or json report of `omega scan`; - for standard input"
    ))  # fmt: skip
    group = parser.add_argument_group("which positions (give one)")
    threshold = group.add_argument(
        "--threshold", metavar="OMEGA|FILE",
        help="those with a larger omega; a file of `omega threshold --json -o FILE` also gives p-values",
    )  # fmt: skip
    reads(threshold, threshold_files)
    group.add_argument("--top", type=app.count, metavar="N", help="the N highest, before they are merged")
    group.add_argument("--quantile", type=float, metavar="Q", help="those above this quantile of all, such as 0.995")
    group = parser.add_argument_group("regions")
    group.add_argument(
        "--fpr", type=float, metavar="F",
        help="false-positive rate, with a threshold file (default: the file's first)",
    )  # fmt: skip
    group.add_argument(
        "--merge", type=app.count, default=0, metavar="BP",
        help="merge windows at most BP apart; 0: those that overlap or touch (default: %(default)s)",
    )  # fmt: skip
    app.add_output_options(parser, formats=FORMATS, what="regions")


def run(args: argparse.Namespace) -> int:
    """Write the regions of a report.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    output = app.OutputOptions.resolve(args, FORMATS)
    _check(args)
    report = omega.read_report(args.report)
    found = omega.find_peaks(
        report, threshold=_threshold(args), top=args.top, quantile=args.quantile, fpr=args.fpr,
        merge=args.merge,
    )  # fmt: skip
    output.write(formats.write_peaks(found, output.format, app.provenance(args, None)))
    if found.compared is not None:
        say_compared(args, found.compared)
    merged = sum(peak.positions for peak in found.peaks)
    app.say(args, f"{len(found):,} regions of {merged:,} positions with omega above {found.threshold:,.6g}")
    if not merged:
        rows = sum(len(track.positions) for track in report)
        app.say(args, f"warning: nothing was found: none of the {rows:,} positions of {args.report} is above that")
    app.say_written(args)
    return 0


def _check(args: argparse.Namespace) -> None:
    given = [name for name in ("threshold", "top", "quantile") if getattr(args, name) is not None]
    if len(given) != 1:
        raise UsageError("nothing says which positions are high; give one of --threshold, --top and --quantile")
    if args.fpr is not None and args.threshold is None:
        raise UsageError("--fpr has no effect without --threshold FILE")


def _threshold(args: argparse.Namespace) -> float | omega.Significance | None:
    """The omega to exceed, or what neutral replicates say."""
    if args.threshold is None:
        return None
    given = given_threshold(args.threshold)
    if isinstance(given, float) and args.fpr is not None:
        raise UsageError(f"--fpr has no effect with --threshold {args.threshold}; it needs a file")
    return given
