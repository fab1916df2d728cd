"""`oclgenomics kmers merge`: union, intersection and difference of databases."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import Any

from oclgenomics.cli import options as common
from oclgenomics.commandkit.files import reads, writes
from oclgenomics.errors import UsageError

__all__ = ["add_parser", "run"]

OPERATIONS = ("union", "intersect", "subtract")


def add_parser(actions: Any) -> None:
    """Add `merge` to the actions of `kmers`."""
    parser = actions.add_parser(
        "merge",
        help="union, intersection or difference of databases",
        description="Make one database of several of the same k. The inputs are read side by side and never whole in "
        "memory.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    reads(parser.add_argument("databases", nargs="+", metavar="DB", help="databases of `kmers count`, two or more"))
    parser.add_argument(
        "--operation", default="union", metavar="|".join(OPERATIONS),
        help="union: counts are added; intersect: k-mers in all, with the least of their counts; subtract: those of "
        "the first in none of the others (default: %(default)s)",
    )  # fmt: skip
    group = parser.add_argument_group("output")
    writes(group.add_argument("-o", "--output", required=True, metavar="DB", help="the database to write"))
    common.add_message_options(group)


def run(args: argparse.Namespace) -> int:
    """Merge databases.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.kmers.database.reader import KmerDatabase
    from oclgenomics.kmers.database.writer import DatabaseWriter
    from oclgenomics.kmers.options import CountOptions
    from oclgenomics.kmers.sets import algebra

    _check(args)
    with ExitStack() as files:
        sets = [files.enter_context(KmerDatabase.open(path)) for path in args.databases]
        operations = {"union": algebra.union, "intersect": algebra.intersect, "subtract": algebra.subtract}
        merged = operations[args.operation](sets)
        distinct = 0
        with DatabaseWriter(args.output, CountOptions(sets[0].k, sets[0].canonical)) as writer:
            for block in merged:
                writer.append(block)
                distinct += len(block)
    common.say(args, f"{distinct:,} {sets[0].k}-mers; wrote {args.output}")
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.operation not in OPERATIONS:
        raise UsageError(f"--operation {args.operation}: choose one of {', '.join(OPERATIONS)}")
    if len(args.databases) < 2:
        raise UsageError("there is nothing to merge: name two databases or more")
