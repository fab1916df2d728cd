"""`oclgenomics classify info`: what a database holds."""

from __future__ import annotations

import argparse
import os
from typing import Any

from oclgenomics import classify
from oclgenomics.app.commands import add_info, text_output, write_facts
from oclgenomics.app.reports import MISSING
from oclgenomics.classify import database
from oclgenomics.errors import UsageError

LISTS = {  # the function that yields each
    "targets": "target_lines",
    "lineages": "lineage_lines",
    "rank": "rank_lines",
    "stat": "statistics_lines",
    "locations": "location_lines",
    "featurecounts": "count_lines",
}
OF_FEATURES = ("stat", "locations", "featurecounts")  # lists for which all features are read


def add_parser(actions: Any) -> None:
    """Add `info` to the actions of `classify`."""
    holds = "targets, lineages, features and where they are"
    parser = add_info(actions, run, "a database", holds, "database", "database of `classify build`")
    parser.description = (
        "Write what a database holds, one fact on each line; or a list, in the form of `metacache info`."
    )
    parser.add_argument(
        "list", nargs="?", choices=LISTS, metavar="LIST",
        help="targets: their files, windows and taxa; lineages: a table of their taxa by rank; rank: taxa of a rank "
        "and how many targets each has; stat: numbers; locations: features and where they are; featurecounts: features "
        "and how many locations each has",
    )  # fmt: skip
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="of `targets`: those to list (default: all); of `rank`: the rank"
    )


def run(args: argparse.Namespace) -> int:
    """Describe a database.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    _check(args)
    if args.list is None:
        with database.open_database(args.database) as (described, features):
            facts = database.database_facts(described, features) | {"bytes": os.path.getsize(args.database)}
        write_facts(args, facts, {name: _shown(value) for name, value in facts.items()})
        return 0
    known = (classify.read_database if args.list in OF_FEATURES else database.read_description)(args.database)
    names = {"targets": [args.names], "rank": args.names}.get(args.list, [])
    with text_output(args.output) as stream:
        for text in getattr(database, LISTS[args.list])(known, *names):
            stream.write(text)
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.list == "rank" and len(args.names) != 1:
        raise UsageError("rank: name one rank, as in `oclgenomics classify info DB rank species`")
    if args.list not in ("rank", "targets") and args.names:
        raise UsageError(f"{args.list} takes no names, so what is {args.names[0]}?")
    if args.list is not None and args.json:
        raise UsageError(f"--json is for facts, and {args.list} has a form of its own; leave one of them out")


def _shown(value: Any) -> Any:
    return {True: "yes", False: "no", None: MISSING}[value] if value is None or isinstance(value, bool) else value
