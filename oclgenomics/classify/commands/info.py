"""`oclgenomics classify info`: what a database holds."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from oclgenomics.app.commands import add_output_options, text_output, write_facts
from oclgenomics.app.files import reads
from oclgenomics.errors import UsageError

if TYPE_CHECKING:
    from oclgenomics.classify.database.database import Database

__all__ = ["add_parser", "run"]

LISTS = ("targets", "lineages", "rank", "stat", "locations", "featurecounts")


def add_parser(actions: Any) -> None:
    """Add `info` to the actions of `classify`."""
    parser = actions.add_parser(
        "info",
        help="what a database holds: targets, lineages, features and where they are",
        description="Write what a database holds, one fact on each line; or a list, in the form of `metacache info`.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    reads(parser.add_argument("database", metavar="DB", help="database of `classify build`"))
    parser.add_argument(
        "list", nargs="?", choices=LISTS, metavar="LIST",
        help="targets: their files, windows and taxa; lineages: a table of their taxa by rank; rank: taxa of a rank "
        "and how many targets each has; stat: numbers; locations: features and where they are; featurecounts: features "
        "and how many locations each has",
    )  # fmt: skip
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="of `targets`: those to list (default: all); of `rank`: the rank"
    )
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Describe a database.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.classify.database.file import read_database
    from oclgenomics.classify.database.info import database_facts

    _check(args)
    database = read_database(args.database)
    if args.list is None:
        facts = database_facts(database) | {"bytes": os.path.getsize(args.database)}
        write_facts(args, facts, {name: _shown(value) for name, value in facts.items()})
        return 0
    with text_output(args.output) as stream:
        for text in _lines(args, database):
            stream.write(text)
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.list == "rank" and len(args.names) != 1:
        raise UsageError("rank: name one rank, as in `oclgenomics classify info DB rank species`")
    if args.list not in ("rank", "targets") and args.names:
        raise UsageError(f"{args.list} takes no names, so what is {args.names[0]}?")
    if args.list is not None and args.json:
        raise UsageError(f"--json is for facts, and {args.list} has a form of its own; leave one of them out")


def _lines(args: argparse.Namespace, database: Database) -> Iterator[str]:
    from oclgenomics.classify.database import listings
    from oclgenomics.classify.database.info import statistics_lines

    if args.list == "targets":
        return listings.target_lines(database, args.names)
    if args.list == "rank":
        return listings.rank_lines(database, args.names[0])
    made = {
        "lineages": listings.lineage_lines,
        "stat": statistics_lines,
        "locations": listings.location_lines,
        "featurecounts": listings.count_lines,
    }
    return made[args.list](database)


def _shown(value: Any) -> Any:
    return {True: "yes", False: "no", None: "-"}[value] if value is None or isinstance(value, bool) else value
