"""`oclgenomics kmers info`: what a database holds."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from oclgenomics.app.commands import add_output_options, write_facts
from oclgenomics.app.files import reads

if TYPE_CHECKING:
    from oclgenomics.kmers.database.reader import KmerDatabase

__all__ = ["add_parser", "run"]


def add_parser(actions: Any) -> None:
    """Add `info` to the actions of `kmers`."""
    parser = actions.add_parser(
        "info",
        help="what a database holds: k, strands, numbers of k-mers, bounds of counts",
        description="Write what a database holds, one fact on each line.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    reads(parser.add_argument("database", metavar="DB", help="database of `kmers count`"))
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Describe a database.

    Raises
    ------
    InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.kmers.database.reader import KmerDatabase

    with KmerDatabase.open(args.database) as database:
        facts = _facts(args.database, database)
    write_facts(args, facts, _shown(facts))
    return 0


def _facts(path: str, database: KmerDatabase) -> dict[str, Any]:
    from oclgenomics.kmers.analysis.histogram import histogram

    tally = histogram(database)
    options = database.options
    return {
        "k": database.k,
        "canonical": database.canonical,
        "distinct": database.distinct,
        "total": database.total,
        "once": int(tally.kmers[tally.counts == 1].sum()),
        "largest_count": tally.largest,
        "min_count": options.min_count,
        "max_count": options.max_count,
        "counter_max": options.counter_max,
        "sections": database.sections,
        "bytes": os.path.getsize(path),
        "program": database.program,
    }


def _shown(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: "yes" if value is True else "no" if value is False else value for name, value in facts.items()}
