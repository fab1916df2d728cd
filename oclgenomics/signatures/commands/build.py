"""`oclgenomics signatures build`: signatures and their table in a file that opens at once."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics import signatures
from oclgenomics.app.commands import add_command, add_message_options, count, say, started_progress
from oclgenomics.app.files import reads, writes
from oclgenomics.notices import number_of
from oclgenomics.signatures.options import STRANDS

SIGNATURES = "FASTA or FASTQ, uncompressed or compressed (gzip, bzip2, xz, zstd), or a panel of `signatures build`"


def add_parser(actions: Any) -> None:
    """Add `build` to the actions of `signatures`."""
    parser = add_command(
        actions, run, "build", "keep signatures in a file that opens at once",
        "Write signatures, and the table that scans look samples up in, to a file that `scan` takes in "
        "their place. Scans with the same --strand and --max-mismatch use the table; others find the same as without "
        "it.",
    )  # fmt: skip
    help = f"{SIGNATURES}, whose other tables are kept; - for standard input"
    reads(parser.add_argument("signatures", metavar="SIGNATURES", help=help))
    add_pattern_options(parser.add_argument_group("table"))
    group = parser.add_argument_group("output")
    output = group.add_argument("-o", "--output", required=True, metavar="PANEL", help="the file to write")
    writes(output, in_file=True)
    add_message_options(group)


def add_pattern_options(group: argparse._ArgumentGroup) -> None:
    """Add --strand and --max-mismatch, which `scan` has, too."""
    group.add_argument(
        "--strand", default="+", choices=STRANDS,
        help="signatures as they are, their reverse complements, or both (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--max-mismatch", dest="max_mismatches", type=count, default=0, metavar="M",
        help="bases of a match that need not match, 0 to 7 (default: %(default)s)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Build a panel.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    progress = started_progress(args, "reading signatures")
    strand, most = args.strand, args.max_mismatches
    told = signatures.Run(progress=progress.update)
    panel, table = signatures.build_panel(args.signatures, args.output, strand=strand, max_mismatches=most, run=told)
    progress.clear()
    say(args, f"{number_of(len(panel), 'signature')} of {len(panel.sets):,} bp; wrote {args.output}")
    if len(table.unseeded):
        unseeded = f"{len(table.unseeded):,} of {len(panel) * (1 + (strand == 'both')):,} patterns"
        say(args, f"{unseeded} have no seeds: too short, too few A, C, G and T in a row, or too many", level=1)
    return 0
