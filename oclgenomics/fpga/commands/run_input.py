"""What `oclgenomics fpga run` does: the run of the input, as a summary, a table or JSON, and a figure."""

from __future__ import annotations

import argparse
from contextlib import closing
from typing import Any

from hls_model.cli import common as model_common
from hls_model.resources import check_fits
from oclgenomics.app.commands import (
    binary_output,
    open_engine,
    provenance,
    report_profile,
    say,
    say_written,
    text_output,
)
from oclgenomics.app.figures import plot_format, save_plot
from oclgenomics.app.inputs import read_options, say_unphased
from oclgenomics.app.progress import Progress
from oclgenomics.fpga import ScanRun, run_scan
from oclgenomics.fpga.commands.run_report import run_record, run_table, run_text
from oclgenomics.io.plain_json import json_text
from oclgenomics.omega.commands.options import scan_options
from oclgenomics.omega.sources import first_read, open_alignments
from oclgenomics.runtime import select_device
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.bed import read_bed

__all__ = ["run_input"]


def run_input(args: argparse.Namespace) -> int:
    """Run the command; see `oclgenomics.fpga.commands.run.run`."""
    options, reading, config = scan_options(args), read_options(args, args.samples), model_common.design(args)
    check_fits(config)
    if args.plot:
        plot_format(args.plot)
    exclude = read_bed(args.exclude) if args.exclude else None
    select_device(args.device)  # a device that is not there is told before any reading
    progress = Progress(enabled=not args.quiet)

    def begin(alignment: Alignment) -> None:
        progress.clear()
        say_unphased(args, alignment)
        progress.stage(f"computing {alignment.name}", "positions")

    with closing(open_alignments(args.input, reading, threads=args.threads)) as read:
        alignments = first_read(read, args.input)
        with open_engine(args) as engine:
            found = run_scan(
                alignments, options, config, matrix=args.matrix, exclude=exclude, on_alignment=begin, engine=engine,
                threads=args.threads, progress=progress.update,
            )  # fmt: skip
            progress.clear()
            report_profile(args, engine)
            made = provenance(args, engine)
    _warn(args, found)
    _write(args, found, made)
    say_written(args)
    return 0


def _warn(args: argparse.Namespace, found: ScanRun) -> None:
    """Name the alignments without any window."""
    for one in found.alignments:
        if not one.omegas:
            left_out = ", ".join(f"{count:,} {reason}" for reason, count in one.discarded.items() if count) or "none"
            sites = f"{one.scan.sites:,} sites (left out: {left_out})"
            say(args, f"warning: {one.scan.name}: no window holds enough of its {sites}")


def _write(args: argparse.Namespace, found: ScanRun, made: dict[str, Any]) -> None:
    """Write the figure, the table or JSON, and the summary where standard output is free for it."""
    if args.plot:
        with binary_output(args.plot) as stream:
            save_plot(found.plot(), stream, plot_format(args.plot))
    output = args.output or ("-" if args.json else None)
    if output is not None:
        table = json_text(run_record(found, made), indent=2) + "\n" if args.json else run_table(found, made)
        with text_output(output) as stream:
            stream.write(table)
    if output != "-":
        with text_output("-") as stream:
            stream.write(run_text(found) + "\n")
