"""`run`: every omega of a scan as the hardware computes it, compared with the scan itself."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hls_model.choices import MATRICES
from oclgenomics import fpga, omega, runtime
from oclgenomics.app.commands import (
    OutputOptions,
    add_device_options,
    add_output_options,
    open_engine,
    provenance,
    report_profile,
    say_written,
)
from oclgenomics.app.files import reads
from oclgenomics.app.inputs import add_reading_options, read_options, say_unphased
from oclgenomics.app.progress import Progress
from oclgenomics.app.provenance import provenance_lines
from oclgenomics.app.reports import MISSING
from oclgenomics.errors import UsageError
from oclgenomics.fpga.commands import common
from oclgenomics.fpga.commands.common import cells_of, table_of
from oclgenomics.io.json_text import json_text
from oclgenomics.lazy_names import late
from oclgenomics.omega.commands.options import add_method_options, add_site_options, add_window_options, scan_options

if TYPE_CHECKING:
    from oclgenomics.variation.alignment import Alignment

bed = late("oclgenomics.variation.bed")
clock = late("hls_model.clock")
figures = late("oclgenomics.app.figures")
resources = late("hls_model.resources")
result = late("oclgenomics.omega.result")
sources = late("oclgenomics.variation.sources")

# What `omega scan` offers and the pipeline does not do: option, the value it has to have, and why.
UNMODELLED = (
    ("border", -1, "the pipeline tries every pair of borders"),
    ("ld", "RSQUARE", "the pipeline sums r2"),
    ("precision", "accurate", "the hardware is compared with the scan in accurate precision"),
)
FORMATS = ("text", "tsv", "json")
SHOWN = 30  # alignments; the table has all
MATRIX_TEXT = {
    "float32": "M by the recurrence of Eq. 3 in float32, so errors are those of M and of the lanes together",
    "exact": "M summed in float64 and rounded once to float32, so errors are those of the lanes alone",
}
COLUMNS: dict[str, Callable[[Mapping[str, Any]], str]] = {  # of a summary and the name of what it sums up
    "alignment": lambda row: row["name"],
    "positions": lambda row: f"{row['positions']:,}",
    "omegas": lambda row: f"{row['omegas']:,}",
    "median error": lambda row: _error(row["median_error"]),
    "largest error": lambda row: _error(row["largest_error"]),
    "other windows": lambda row: f"{row['other_windows']:,}",
    "ties": lambda row: f"{row['ties']:,}",
    "greatest loss": lambda row: _error(row["greatest_loss"]),
    "top kept": lambda row: f"{row['top_kept']} of {row['top']}",
    "same peak": lambda row: "yes" if row["same_peak"] else "no",
}


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = common.add_command(
        subparsers, "run", run,
        "Compute every omega of a scan as the hardware would (float32, the lane's order of operations, "
        "flush to zero, lanes and merge), and compare maxima and windows with those of `oclgenomics omega scan`, whose "
        "INPUT and options these are. The design decides which omegas the lanes and the remainder have.",
        _check_outputs,
    )  # fmt: skip
    common.add_input(parser)
    add_window_options(parser)
    group = parser.add_argument_group("input")
    add_reading_options(group)
    reads(group.add_argument("--samples", metavar="FILE", help="file of the samples to use, one per line"))
    reads(group.add_argument("--exclude", metavar="BED", help="leave out the sites within these regions"))
    add_site_options(parser)
    add_method_options(parser)
    common.add_design_options(parser)
    parser.add_argument(
        "--matrix", choices=MATRICES, default="float32",
        help="M by the recurrence in float32, as the host of the paper builds it, or exact: summed in float64 and "
        "rounded once to float32, which leaves the error of the lanes alone (default: %(default)s)",
    )  # fmt: skip
    group = add_output_options(
        parser, formats=FORMATS,
        note="text is a summary, tsv a table of the grid positions, json both; -o without a format writes tsv",
    )  # fmt: skip
    parser.set_defaults(output=None)  # tells `-o -` from no -o
    common.add_plot_option(group, "the error of the maxima")
    add_device_options(parser)


def _check_outputs(args: argparse.Namespace) -> None:
    """Settle the format: a file gets the table unless another format is asked for."""
    if args.output is not None and args.format is None and not args.json:
        args.format = "tsv"
    common.check_outputs(args, FORMATS)


def run(args: argparse.Namespace) -> int:
    """Run the command.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    for name, value, why in UNMODELLED:
        if getattr(args, name) != value:
            raise UsageError(f"--{name} {getattr(args, name)}: {why}; leave the option out")
    options, reading, config = scan_options(args), read_options(args, args.samples), common.design(args)
    resources.check_fits(config)
    exclude = bed.read_bed(args.exclude) if args.exclude else None
    runtime.select_device(args.device)  # a device that is not there is reported before any reading
    progress = Progress(enabled=not args.quiet)

    def begin(alignment: Alignment) -> None:
        progress.clear()
        say_unphased(args, alignment)
        progress.stage(f"computing {alignment.name}", "positions")

    with closing(sources.open_alignments(args.input, reading, threads=args.threads)) as read:
        alignments = sources.first_read(read, args.input)
        with open_engine(args) as engine:
            found = fpga.run_scan(
                alignments, options, config, matrix=args.matrix, exclude=exclude, on_alignment=begin, engine=engine,
                run=omega.Run(args.threads, progress.update),
            )  # fmt: skip
            progress.clear()
            report_profile(args, engine)
            made = provenance(args, engine)
    for one in found.alignments:
        if not one.omegas:
            common.say_empty(args, one.scan.name, one.scan.sites, one.discarded)
    _write(args, found, made)
    say_written(args)
    return 0


def _write(args: argparse.Namespace, found: fpga.ScanRun, made: dict[str, Any]) -> None:
    """Write the figure and the results; the summary goes to standard output as well where that is free for it."""
    if args.plot:
        figures.write_figure(args.plot, found.plot())
    output = OutputOptions(args.output or "-", args.format)
    if output.format == "json":
        output.write(json_text(_record(found, made), indent=2) + "\n")
    elif output.format == "tsv":
        output.write(_table(found, made))
    if output.format == "text" or output.path != "-":
        OutputOptions(output.path if output.format == "text" else "-", "text").write(_summary_text(found) + "\n")


def _summary_text(found: fpga.ScanRun) -> str:
    """Return what the comparison comes to, as text."""
    whole, config = found.summary(), found.config
    share = f"{whole['omegas'] - whole['software_omegas']:,} by {config.lanes} lanes"
    head = f"{_scanned(found.alignments)}, {whole['omegas']:,} omegas ({share}, {whole['software_omegas']:,} remainder)"
    rows = [{"name": one.scan.name} | one.summary() for one in found.alignments[:SHOWN]]
    last = cells_of({"name": "all"} | whole, COLUMNS) if len(found.alignments) > 1 else ()
    shown = table_of(rows, COLUMNS, more=len(found.alignments) - len(rows), last=last)
    parts = [f"{head}\n{config.name}: {MATRIX_TEXT[found.matrix]}", shown]
    asked = f"{clock.asked_text(config)}; no clock changes an omega"
    return "\n\n".join([*parts, "\n".join([*_sentences(whole), asked])])


def _record(found: fpga.ScanRun, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same for JSON: 'provenance', 'design', 'matrix', 'summary', 'alignments' and 'positions'."""
    return {
        "provenance": dict(provenance),
        "design": found.config.name,
        "lanes": found.config.lanes,
        **clock.clock_record(found.config),
        "matrix": found.matrix,
        "summary": found.summary(),
        "alignments": [one.summary() for one in found.alignments],
        "positions": found.records(),
    }


def _table(found: fpga.ScanRun, provenance: Mapping[str, Any]) -> str:
    """Return a row for each grid position under `RUN_COLUMNS`, after '#' lines that say what made them; NA is none."""
    rows = ("\t".join(_field(name, record[name]) for name in fpga.RUN_COLUMNS) + "\n" for record in found.records())
    return provenance_lines(provenance) + "\t".join(fpga.RUN_COLUMNS) + "\n" + "".join(rows)


def _field(name: str, value: Any) -> str:
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if name == "position":
            return f"{value:.2f}"
        return f"{value:.{result.COMPAT_DIGITS if name.endswith('omega') else 3}g}"
    return " ".join(str(value).split())


def _scanned(runs: Sequence[fpga.AlignmentRun]) -> str:
    positions = sum(len(one.omega) for one in runs)
    if len(runs) == 1:
        scan = runs[0].scan
        return f"{scan.name}: {scan.sites:,} sites, {scan.haplotypes:,} haplotypes, {positions:,} positions"
    return f"{len(runs):,} alignments, {sum(one.scan.sites for one in runs):,} sites, {positions:,} positions"


def _sentences(found: Mapping[str, Any]) -> list[str]:
    lines = []
    if found["largest_error_at"] is not None:
        lines.append(f"largest error at {_place(found['largest_error_at'])}")
    if found["greatest_loss_at"] is not None:
        lines.append(
            f"greatest loss at {_place(found['greatest_loss_at'])}: omega in float64 of the hardware's window is "
            f"{_error(found['greatest_loss'])} below the scan's maximum"
        )
    window = found["largest_window_error"]
    lines.append(
        f"against float64 sums of the same windows the hardware is off by {_error(window)} at most; the scan holds "
        "seven digits (1.5e-07)"
    )
    lines.append(f"{found['from_remainder']:,} of {found['positions']:,} maxima come from the remainder")
    return lines


def _place(place: tuple[str, int, float]) -> str:
    name, _, at = place
    return f"{name}:{at:,.0f}"


def _error(value: float) -> str:
    return "0" if value == 0 else f"{value:.1e}"
