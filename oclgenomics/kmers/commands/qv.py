"""`oclgenomics kmers qv`: the quality of assemblies by the k-mers of reads."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import Any

from oclgenomics import kmers
from oclgenomics.app.commands import (
    PACKED,
    add_command,
    add_device_options,
    add_output_options,
    begin_engine,
    count,
    provenance,
    say,
    say_written,
    text_output,
)  # fmt: skip
from oclgenomics.app.files import reads, writes
from oclgenomics.kmers import formats, plots
from oclgenomics.kmers.commands.reading import BYTES, KMERS, add_folder_option, at_work

STAGES = {"count": ("counting k-mers", *BYTES), "merge": ("merging k-mers", *KMERS), "look up": ("looking up", *BYTES)}


def add_parser(actions: Any) -> None:
    """Add `qv` to the actions of `kmers`."""
    parser = add_command(
        actions, run, "qv", "quality (QV) and completeness of an assembly by the k-mers of reads, as Merqury",
        "Write a line for each assembly: its k-mers in no read (assembly_only), all its k-mers, QV and error rate, the "
        "solid k-mers of the reads that it has, all solid k-mers, and completeness in per cent. With two assemblies, "
        "such as haplotypes, a third line is for both together. The definitions are those of Merqury.",
    )  # fmt: skip
    reads(parser.add_argument(
        "assemblies", nargs="+", metavar="ASSEMBLY",
        help="a FASTA file, or two (haplotypes, or primary and alternate contigs), uncompressed or compressed; - for "
        "standard input",
    ))  # fmt: skip
    reads(parser.add_argument(
        "database", metavar="DB", help="database of `kmers count` of the reads, with all their k-mers"
    ))  # fmt: skip
    group = parser.add_argument_group("assessment")
    group.add_argument(
        "--min-solid", type=count, metavar="N",
        help="k-mers of the reads with at least this count are solid (default: those behind the first valley of the "
        "reads' spectrum)",
    )  # fmt: skip
    group.add_argument(
        "--lower-bound", action="store_true",
        help="take a database that was counted with --min-count or --max-count, too; QVs are lower bounds then",
    )  # fmt: skip
    add_folder_option(group)
    _add_more_outputs(parser)
    add_device_options(parser)
    add_output_options(parser)


def _add_more_outputs(parser: argparse.ArgumentParser) -> None:
    """Add tables, a figure and tracks."""
    group = parser.add_argument_group("more outputs")
    tables = (
        ("--per-sequence", f"the same numbers, without completeness, for each sequence, {PACKED}"),
        ("--hist", "the k-mers of the reads by copies in the assembly and counts (both assemblies together), as "
         f"Merqury's spectra-cn.hist, {PACKED}"),
        ("--plot", "draw the spectrum by copies in the assembly; .png, .svg or .pdf"),
    )  # fmt: skip
    for name, text in tables:
        writes(group.add_argument(name, metavar="FILE", help=text))
    tracks = (
        ("--bed", "BED of the k-mers in no read, a line for each of them"),
        ("--wig", "wiggle track of how many k-mers in no read cover a base"),
    )
    for name, text in tracks:
        track = group.add_argument(
            name, metavar="FILE",
            help=f"{text}, {PACKED}; # in the name becomes _1 and _2 for two assemblies, which else follow each other",
        )  # fmt: skip
        writes(track, lambda args, given: formats.track_names(given, len(args.assemblies)))


def run(args: argparse.Namespace) -> int:
    """Write the quality of assemblies.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    if args.plot:
        plots.plot_format(args.plot)
    options = kmers.QualityOptions(args.min_solid, args.lower_bound)
    kmers.CountOptions.check_reading(None, args.tmp_dir)
    with kmers.KmerDatabase.open(args.database):
        pass  # before a device is opened
    begin_engine(args, draws="plot_copies")
    importlib.import_module("oclgenomics.kmers.device.counting")  # before the engine, which waits for libraries
    with at_work(args, STAGES["count"][0]) as work:
        report = kmers.qv(
            args.assemblies, args.database, options, bed=args.bed, wig=args.wig, engine=work.engine, run=work.run,
            tmp_dir=args.tmp_dir, on_stage=lambda name: work.stage(*STAGES[name]),
        )  # fmt: skip
    about = provenance(args, work.engine)
    with text_output(args.output) as stream:
        stream.write((formats.quality_json if args.json else formats.quality_table)(report, about))
    if args.per_sequence:
        with text_output(args.per_sequence) as stream:
            stream.write(formats.sequence_table(report, about))
    if args.hist:
        with text_output(args.hist) as stream:
            stream.write(formats.copy_table(report.whole))
    if args.plot:
        names = " and ".join("standard input" if name == "-" else Path(name).name for name in args.assemblies)
        plots.draw_figure(args.plot, plots, "plot_copies", report.whole, title=names)
    for line in formats.quality_lines(report):
        say(args, line)
    say_written(args)
    return 0
