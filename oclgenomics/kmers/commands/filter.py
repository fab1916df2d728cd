"""`oclgenomics kmers filter`: reads by how many of their k-mers a database holds."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from oclgenomics import kmers
from oclgenomics.app.commands import (
    PACKED,
    add_command,
    add_device_options,
    add_message_options,
    count,
    provenance,
    say,
    say_written,
)  # fmt: skip
from oclgenomics.app.files import reads, writes
from oclgenomics.app.inputs import add_reference_option, reads_sequences, with_reference
from oclgenomics.errors import UsageError
from oclgenomics.io.json_text import json_text
from oclgenomics.kmers import formats
from oclgenomics.kmers.commands.reading import add_count_bounds, at_work


def add_parser(actions: Any) -> None:
    """Add `filter` to the actions of `kmers`."""
    parser = add_command(
        actions, run, "filter", "keep reads by how many of their k-mers a database holds",
        "Write the reads that pass, as they stand in the input and in its order. A read passes if it is "
        "within all bounds that are given; without any it has to have one k-mer of the database. In a canonical "
        "database, either strand of a k-mer counts.",
    )  # fmt: skip
    reads(parser.add_argument("database", metavar="DB", help="database of `kmers count`"))
    _add_read_options(parser)
    _add_bounds(parser)
    add_device_options(parser)
    group = parser.add_argument_group("output")
    outputs = (("-o", "--output", "-", "the reads that are kept"), (None, "--rest", None, "all other reads"))
    for short, name, default, what in outputs:
        action = group.add_argument(
            *([name] if short is None else [short, name]), default=default, metavar="FILE",
            help=f"where {what} go: {PACKED}, - for standard output; # in the name becomes _1 "
            "and _2 for the mates of pairs, which else follow each other (default: "
            f"{'nowhere' if default is None else 'standard output'})",
        )  # fmt: skip
        writes(action, lambda _, given: formats.output_names(given))
    group.add_argument("--json", action="store_true", help="write a summary as JSON to standard output; needs -o")
    add_message_options(group)


def _add_read_options(parser: argparse.ArgumentParser) -> None:
    files = parser.add_argument(
        "reads", nargs="+", default=[], metavar="READS",
        help="files, all FASTA or all FASTQ, uncompressed or compressed (gzip, bzip2, xz, zstd); BAM, CRAM and SAM "
        "count as FASTQ; - for standard input; @LIST for the files that a text file names, one a line; none if "
        "--paired names all",
    )  # fmt: skip
    files.required = False  # with nargs="*", argparse takes reads that stand behind an option for unknown
    reads_sequences(files)
    group = parser.add_argument_group("reads")
    pairs = group.add_argument(
        "--paired", nargs=2, action="extend", default=[], metavar="FILE",
        help="two files of mates, or @LIST of first and @LIST of second ones: the n-th read of the one and of the "
        "other are a pair; may be given more than once",
    )  # fmt: skip
    reads_sequences(pairs)
    add_reference_option(group)
    group.add_argument("--interleaved", action="store_true", help="mates follow each other in READS")
    group.add_argument("--any-mates", action="store_true", help="take mates that have different names as pairs")


def _add_bounds(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which reads pass")
    for name, kind, metavar, text in (
        ("min-kmers", count, "N", "k-mers of the database that a read has at least, each place counted"),
        ("max-kmers", count, "N", "at most"),
        ("min-fraction", float, "F", "their share of the read's k-mers at least, 0 to 1; 0 for a read without k-mers"),
        ("max-fraction", float, "F", "at most"),
    ):
        group.add_argument(f"--{name}", type=kind, metavar=metavar, help=f"{text} (default: no limit)")
    add_count_bounds(
        group, "k-mers of the database with a lower count are as if they were not there", "with a higher count"
    )
    group.add_argument(
        "--pairs", choices=("either", "both"), default="either",
        help="a pair passes if either mate does, or both do; mates stay together (default: %(default)s)",
    )  # fmt: skip
    group.add_argument("--drop", action="store_true", help="keep the reads that do not pass")


def run(args: argparse.Namespace) -> int:
    """Filter reads.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    if args.json and "-" in (args.output, args.rest):
        raise UsageError("--json and the reads both go to standard output; name a file for the reads with -o")
    options = kmers.FilterOptions(
        args.min_kmers, args.max_kmers, args.min_fraction, args.max_fraction, args.min_count, args.max_count,
        args.pairs, args.drop,
    )  # fmt: skip
    pairs = formats.mate_files(zip(args.paired[::2], args.paired[1::2], strict=True))
    singles = with_reference(args, args.reads)
    firsts, seconds = (with_reference(args, names) for names in ([one for one, _ in pairs], [two for _, two in pairs]))
    pairs = list(zip(firsts, seconds, strict=True))
    formats.check_filter_inputs(singles, pairs)
    with at_work(args, "filtering reads") as work:
        summary = kmers.filter_reads(
            args.database, singles, args.output, options, rest=args.rest, paired=pairs,
            interleaved=args.interleaved, any_mates=args.any_mates, engine=work.engine, run=work.run,
        )  # fmt: skip
    if args.json:
        result = asdict(summary) | {"seconds": work.seconds}
        print(json_text(provenance(args, work.engine) | {"result": result}, indent=1))
    _say_summary(args, summary, work.seconds)
    say_written(args)
    return 0


def _say_summary(args: argparse.Namespace, summary: kmers.FilterSummary, seconds: float) -> None:
    share = summary.found / max(summary.kmers, 1)
    say(
        args,
        f"kept {summary.kept:,} of {summary.reads:,} reads; the database has {summary.found:,} of their "
        f"{summary.kmers:,} k-mers ({100 * share:.1f} %); {seconds:.2f} s "
        f"({summary.kmers / max(seconds, 1e-9) / 1e6:.1f} million k-mers a second)",
    )
