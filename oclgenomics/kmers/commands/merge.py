"""`oclgenomics kmers merge`: union, intersection and difference of databases."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics import kmers
from oclgenomics.app.commands import add_command, add_message_options, say
from oclgenomics.app.files import reads, writes
from oclgenomics.kmers.commands.reading import KMERS, showing_progress

OPERATIONS = ("union", "intersect", "subtract")


def add_parser(actions: Any) -> None:
    """Add `merge` to the actions of `kmers`."""
    parser = add_command(
        actions, run, "merge", "union, intersection or difference of databases",
        "Make one database of several with the same k. The inputs are read side by side and are never in "
        "memory as a whole.",
    )  # fmt: skip
    reads(parser.add_argument("databases", nargs="+", metavar="DB", help="databases of `kmers count`, two or more"))
    parser.add_argument(
        "--operation", default="union", metavar="|".join(OPERATIONS),
        help="union: add the counts; intersect: k-mers in all databases, with the least count; subtract: k-mers of the "
        "first database in none of the others (default: %(default)s)",
    )  # fmt: skip
    group = parser.add_argument_group("output")
    writes(group.add_argument("-o", "--output", required=True, metavar="DB", help="the database to write"))
    add_message_options(group)


def run(args: argparse.Namespace) -> int:
    """Merge databases.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    with showing_progress(args, "merging k-mers", KMERS) as (shown, _):
        summary = kmers.merge_databases(args.databases, args.output, args.operation, run=kmers.Run(None, shown.update))
    say(args, f"{summary.distinct:,} {summary.k}-mers; wrote {args.output}")
    return 0
