"""`oclgenomics kmers dump`: the k-mers of a database in other formats."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from oclgenomics import kmers
from oclgenomics.app.commands import PACKED, add_command, add_message_options, say_written
from oclgenomics.app.files import reads, writes
from oclgenomics.errors import UsageError
from oclgenomics.kmers import formats
from oclgenomics.kmers.commands.reading import KMERS, add_count_bounds, showing_progress

FORMATS = ("tsv", "jellyfish", "fasta", "npz", "kmc", "fastk", "parquet")
BINARY = ("npz", "parquet")


def add_parser(actions: Any) -> None:
    """Add `dump` to the actions of `kmers`."""
    parser = add_command(
        actions, run, "dump", "write the k-mers of a database as text, arrays or Parquet, for KMC or FastK",
        "Write k-mers and their counts in ascending order. The database is never in memory as a whole.",
    )  # fmt: skip
    reads(parser.add_argument("database", metavar="DB", help="database of `kmers count`"))
    parser.add_argument(
        "--format", default="tsv", metavar="|".join(FORMATS),
        help="tsv: k-mer, tab, count; jellyfish: k-mer, blank, count; fasta: >count and the k-mer; npz: arrays for "
        "NumPy; kmc: a database of KMC, files OUT.kmc_pre and OUT.kmc_suf; fastk: a k-mer "
        "table of FastK, OUT.ktab and .OUT.ktab.1; parquet: a table, needs the extra `parquet` "
        "(default: %(default)s)",
    )  # fmt: skip
    add_count_bounds(parser, "leave out rarer k-mers", "leave out more common k-mers")
    group = parser.add_argument_group("output")
    output = group.add_argument(
        "-o", "--output", default="-", metavar="OUT",
        help=f"file for the k-mers; kmc and fastk need it; text is {PACKED} (default: standard output)",
    )  # fmt: skip
    writes(output, lambda args, given: formats.dump_names(given, args.format))
    add_message_options(group)


def run(args: argparse.Namespace) -> int:
    """Write the k-mers.

    Raises
    ------
    UsageError, InputError, MissingDependencyError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    if args.output == "-":
        _check_standard_output(args.format)
    with showing_progress(args, "writing k-mers", KMERS) as (shown, _):
        kmers.dump(
            args.database, args.output, args.format, min_count=args.min_count, max_count=args.max_count,
            run=kmers.Run(progress=shown.update),
        )  # fmt: skip
    say_written(args)
    return 0


def _check_standard_output(format: str) -> None:
    if format == "kmc":
        raise UsageError("--format kmc writes two files; name them: -o OUT makes OUT.kmc_pre and OUT.kmc_suf")
    if format == "fastk":
        raise UsageError("--format fastk writes two files; name them: -o OUT makes OUT.ktab and .OUT.ktab.1")
    if format in BINARY and sys.stdout.isatty():
        raise UsageError(f"--format {format} is not for terminals; give -o FILE")
