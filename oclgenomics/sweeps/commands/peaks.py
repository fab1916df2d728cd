"""`oclgenomics sweeps peaks`: regions in which a statistic is most like a sweep, from the report of a scan."""

from __future__ import annotations

import argparse
import math
from typing import Any

from oclgenomics import sweeps
from oclgenomics.app import commands as app
from oclgenomics.app.files import reads
from oclgenomics.app.peaks import add_peak_options, check_peak_options, given_threshold
from oclgenomics.notices import number_of
from oclgenomics.sweeps import formats
from oclgenomics.sweeps.options import JUDGED, LOW

FORMATS: tuple[formats.PeakFormat, ...] = ("bed", "tsv", "json")


def add_parser(actions: Any) -> None:
    """Add `peaks` to the actions of `sweeps`."""
    parser = app.add_command(
        actions, run, "peaks",
        help="regions that look like a sweep, as BED, from the report of a scan",
        description="Merge the windows of neighbouring rows in which a statistic passes a threshold, and write the "
        f"regions sorted by chromosome and start. A sweep lowers {', '.join(LOW)} and raises the others.",
    )  # fmt: skip
    reads(parser.add_argument(
        "report", metavar="REPORT", help="tsv or json report of `sweeps scan`; - for standard input"
    ))  # fmt: skip
    parser.add_argument(
        "--stat", "--statistic", dest="statistic", default="mu", metavar="NAME",
        help=f"one of {', '.join(JUDGED)} (default: %(default)s)",
    )  # fmt: skip
    add_peak_options(
        parser, which="which rows", value="VALUE",
        threshold="those beyond this value; a file of `sweeps threshold --json -o FILE` also gives p-values",
        top="the N that are most like a sweep", quantile="those beyond this quantile of all, such as 0.995",
    )  # fmt: skip
    group = app.add_output_options(parser, formats=FORMATS, what="regions")
    reads(group.add_argument(
        "--genes", metavar="FILE",
        help="add the genes that overlap each region, and the nearest one; GFF3, GTF or BED",
    ))  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Write the regions of a report.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    output = app.OutputOptions.resolve(args, FORMATS)
    check_peak_options(args, "which rows count")
    report = sweeps.read_report(args.report)
    found = sweeps.find_peaks(
        report, args.statistic, threshold=_threshold(args), top=args.top, quantile=args.quantile, fpr=args.fpr,
        merge=args.merge, genes=args.genes,
    )  # fmt: skip
    output.write(formats.write_peaks(found, output.format, app.provenance(args, None)))
    if found.compared is not None:
        app.say(args, f"compared with the replicates: {found.compared}")
    lost = {peak.chromosome for peak in found.peaks if found.genes is not None and not found.genes.has(peak.chromosome)}
    if lost:
        app.say(args, f"warning: --genes {args.genes} has no gene on {', '.join(sorted(lost)[:5])}")
    merged = sum(peak.rows for peak in found.peaks)
    regions, rows = number_of(len(found), "region"), number_of(merged, "row")
    beyond = f"beyond {found.threshold:,.6g}" if math.isfinite(found.threshold) else "of any value"
    app.say(args, f"{regions} of {rows} with {args.statistic} {beyond}")
    if not merged:
        every = sum(len(scan.positions) for scan in report)
        none = f"none of the {every:,} rows of {args.report} is beyond that" if every else f"{args.report} has no row"
        app.say(args, f"warning: nothing was found: {none}")
    app.say_written(args)
    return 0


def _threshold(args: argparse.Namespace) -> float | sweeps.Significance | None:
    """The value to pass, or what neutral replicates say."""
    if args.threshold is None:
        return None
    return given_threshold(args.threshold, sweeps.read_thresholds, value="give a number or a file")
