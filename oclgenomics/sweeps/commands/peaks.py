"""`oclgenomics sweeps peaks`: regions in which a statistic is most like a sweep, from the report of a scan."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics import sweeps
from oclgenomics.app import commands as app
from oclgenomics.app.files import reads
from oclgenomics.errors import UsageError
from oclgenomics.sweeps import formats
from oclgenomics.sweeps.options import STATISTICS

FORMATS: tuple[formats.PeakFormat, ...] = ("bed", "tsv", "json")


def add_parser(actions: Any) -> None:
    """Add `peaks` to the actions of `sweeps`."""
    parser = app.add_command(
        actions, run, "peaks",
        help="regions that look like a sweep, as BED, from the report of a scan",
        description="Merge the windows of neighbouring rows in which a statistic passes a threshold, and write the "
        "regions sorted by chromosome and start. A sweep raises mu and lowers the others.",
    )  # fmt: skip
    reads(parser.add_argument(
        "report", metavar="REPORT", help="tsv or json report of `sweeps scan`; - for standard input"
    ))  # fmt: skip
    parser.add_argument(
        "--stat", "--statistic", dest="statistic", default="mu", metavar="NAME",
        help=f"one of {', '.join(STATISTICS)} (default: %(default)s)",
    )  # fmt: skip
    group = parser.add_argument_group("which rows (give one)")
    threshold = group.add_argument(
        "--threshold", metavar="VALUE|FILE",
        help="those beyond this value; a file of `sweeps threshold --json -o FILE` also gives p-values",
    )  # fmt: skip
    reads(threshold, threshold_files)
    group.add_argument("--top", type=app.count, metavar="N", help="the N that are most like a sweep")
    group.add_argument("--quantile", type=float, metavar="Q", help="those beyond this quantile of all, such as 0.995")
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


def threshold_files(args: argparse.Namespace, text: str) -> list[str]:
    """The files that an option's threshold names, as `oclgenomics.app.files.reads` asks for them."""
    try:
        float(text)
    except ValueError:
        return [text]
    return []


def run(args: argparse.Namespace) -> int:
    """Write the regions of a report.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    output = app.OutputOptions.resolve(args, FORMATS)
    if sum(getattr(args, name) is not None for name in ("threshold", "top", "quantile")) != 1:
        raise UsageError("nothing says which rows count; give one of --threshold, --top and --quantile")
    threshold = _threshold(args)
    if args.fpr is not None and not isinstance(threshold, sweeps.Significance):
        raise UsageError("--fpr has no effect without --threshold FILE")
    report = sweeps.read_report(args.report)
    found = sweeps.find_peaks(
        report, args.statistic, threshold=threshold, top=args.top, quantile=args.quantile, fpr=args.fpr,
        merge=args.merge,
    )  # fmt: skip
    output.write(formats.write_peaks(found, output.format, app.provenance(args, None)))
    if found.compared is not None:
        app.say(args, f"compared with the replicates: {found.compared}")
    merged = sum(peak.rows for peak in found.peaks)
    app.say(args, f"{len(found):,} regions of {merged:,} rows with {args.statistic} beyond {found.threshold:,.6g}")
    if not merged:
        rows = sum(len(scan.positions) for scan in report)
        app.say(args, f"warning: nothing was found: none of the {rows:,} rows of {args.report} is beyond that")
    app.say_written(args)
    return 0


def _threshold(args: argparse.Namespace) -> float | sweeps.Significance | None:
    """The value to pass, or what neutral replicates say."""
    if args.threshold is None:
        return None
    try:
        value = float(args.threshold)
    except ValueError:
        return sweeps.read_thresholds(args.threshold)
    if value != value:
        raise UsageError(f"--threshold {args.threshold}: give a number or a file")
    return value
