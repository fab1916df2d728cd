"""`oclgenomics omega peaks`: regions of high omega from the report of a scan."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics import omega
from oclgenomics.app import commands as app
from oclgenomics.app.files import reads
from oclgenomics.app.peaks import add_peak_options, check_peak_options
from oclgenomics.lazy_names import late
from oclgenomics.notices import number_of
from oclgenomics.omega import formats
from oclgenomics.omega.commands.options import given_threshold, say_compared

significance = late("oclgenomics.app.significance")

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
    add_peak_options(
        parser, which="which positions", value="OMEGA",
        threshold="those with a larger omega; a file of `omega threshold --json -o FILE` also gives p-values",
        top="the N highest, before they are merged", quantile="those above this quantile of all, such as 0.995",
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
    check_peak_options(args, "which positions are high")
    report = omega.read_report(args.report)
    found = omega.find_peaks(
        report, threshold=_threshold(args), top=args.top, quantile=args.quantile, fpr=args.fpr,
        merge=args.merge,
    )  # fmt: skip
    output.write(formats.write_peaks(found, output.format, app.provenance(args, None)))
    if found.compared is not None:
        say_compared(args, found.compared)
    if args.fpr is not None and found.maxima is not None:
        few = significance.said_of_few(args.fpr, len(found.maxima))
        if few:
            app.say(args, f"warning: {few}")
    merged = sum(peak.positions for peak in found.peaks)
    regions, positions = number_of(len(found), "region"), number_of(merged, "position")
    app.say(args, f"{regions} of {positions} with omega above {found.threshold:,.6g}")
    if not merged:
        rows = sum(len(track.positions) for track in report)
        app.say(args, f"warning: nothing was found: none of the {rows:,} positions of {args.report} is above that")
    app.say_written(args)
    return 0


def _threshold(args: argparse.Namespace) -> float | omega.Significance | None:
    """The omega to exceed, or what neutral replicates say."""
    return None if args.threshold is None else given_threshold(args.threshold)
