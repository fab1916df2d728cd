"""`oclgenomics kmers merge`: union, intersection and difference of databases."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics import kmers
from oclgenomics.app.commands import add_command, add_message_options, say
from oclgenomics.app.files import reads, writes
from oclgenomics.kmers.commands.reading import KMERS, add_count_bounds, showing_progress

OPERATIONS = ("union", "intersect", "subtract", "subtract-counts", "symmetric-difference")
MODES = ("sum", "min", "max", "left", "right", "diff", "number")
FOREIGN = {  # options of KMC's tools
    r"-oc(min|max|sum|diff|left|right)": "use --counts MODE",
    r"-ci\d+": "use --min-count N, for the result",
    r"-cx\d+": "use --max-count N, for the result",
    r"-t\d+": "use OCLGENOMICS_THREADS=N",
}


def add_parser(actions: Any) -> None:
    """Add `merge` to the actions of `kmers`."""
    parser = add_command(
        actions, run, "merge", "union, intersection or difference of databases",
        "Make one database of several with the same k. The inputs are read side by side and are never in "
        "memory as a whole.",
        FOREIGN,
    )  # fmt: skip
    reads(parser.add_argument("databases", nargs="+", metavar="DB", help="databases of `kmers count`, two or more"))
    parser.add_argument(
        "--operation", default="union", metavar="|".join(OPERATIONS),
        help="union: k-mers of all databases; intersect: those that every one has; subtract: those that only the first "
        "has; subtract-counts: those of the first, less their counts in the others, where something is left; "
        "symmetric-difference: those that one database alone has (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--counts", metavar="|".join(MODES),
        help="count in the result, of those in the databases that have the k-mer: sum (default of union), least "
        "(default of intersect), greatest, first, last, the first less all others, or how many databases there are; "
        "for union and intersect",
    )  # fmt: skip
    add_count_bounds(
        parser, "leave out k-mers with lower counts in the result", "leave out k-mers with higher counts in the result"
    )
    group = parser.add_argument_group("output")
    output = group.add_argument("-o", "--output", required=True, metavar="DB", help="the database to write")
    writes(output, in_file=True)
    add_message_options(group)


def run(args: argparse.Namespace) -> int:
    """Merge databases.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    with showing_progress(args, "merging k-mers", KMERS) as (shown, _):
        options = kmers.MergeOptions(args.operation, args.counts, args.min_count, args.max_count)
        summary = kmers.merge_databases(args.databases, args.output, options, run=kmers.Run(None, shown.update))
    say(args, f"{summary.distinct:,} {summary.k}-mers; wrote {args.output}")
    return 0
