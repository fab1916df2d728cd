"""`oclgenomics signatures build`: signatures and their seed table in a file that opens at once."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics.app.commands import add_message_options, say
from oclgenomics.app.files import reads, writes
from oclgenomics.signatures.commands.pattern_options import add_pattern_options

__all__ = ["add_parser", "run"]


def add_parser(actions: Any) -> None:
    """Add `build` to the actions of `signatures`."""
    parser = actions.add_parser(
        "build",
        help="keep signatures in a file that opens at once",
        description="Write signatures, and the table that scans look samples up in, to a file that `scan` takes in "
        "their place. Scans with the same --strand and --max-mismatch use the table; others find the same as without "
        "it.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    signatures = parser.add_argument(
        "signatures", metavar="SIGNATURES",
        help="FASTA or FASTQ, plain or packed (gzip, bzip2, xz, zstd), - for standard input; or a "
        "panel, whose other tables are kept",
    )  # fmt: skip
    reads(signatures)
    group = parser.add_argument_group("table")
    add_pattern_options(group)
    group = parser.add_argument_group("output")
    writes(group.add_argument("-o", "--output", required=True, metavar="PANEL", help="the file to write"))
    add_message_options(group)


def run(args: argparse.Namespace) -> int:
    """Build a panel.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.signatures.build import build_panel

    panel, table = build_panel(args.signatures, args.output, strand=args.strand, max_mismatches=args.max_mismatches)
    letters = len(panel.sets)
    say(args, f"{len(panel):,} signatures of {letters:,} letters; wrote {args.output}")
    if len(table.unseeded):
        unseeded = f"{len(table.unseeded):,} of {len(panel) * (1 + (args.strand == 'both')):,} patterns"
        say(args, f"{unseeded} have no seeds: too short, too few A, C, G and T in a row, or too many", level=1)
    return 0
