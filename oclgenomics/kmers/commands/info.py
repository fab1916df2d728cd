"""`oclgenomics kmers info`: what a database holds."""

from __future__ import annotations

import argparse
import os
from typing import Any

from oclgenomics import kmers
from oclgenomics.app.commands import add_info, write_facts


def add_parser(actions: Any) -> None:
    """Add `info` to the actions of `kmers`."""
    holds = "k, strands, numbers of k-mers, bounds of counts"
    add_info(actions, run, "a database", holds, "DATABASE", "database of `kmers count`")


def run(args: argparse.Namespace) -> int:
    """Describe a database.

    Raises
    ------
    InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    with kmers.KmerDatabase.open(args.database) as database:
        tally, options = kmers.histogram(database), database.options
        facts = {
            "k": database.k,
            "canonical": database.canonical,
            "compressed": database.compressed,
            "distinct": database.distinct,
            "total": database.total,
            "once": int(tally.kmers[tally.counts == 1].sum()),
            "largest_count": tally.largest,
            "min_count": options.min_count,
            "max_count": options.max_count,
            "counter_max": options.counter_max,
            "sections": database.sections,
            "bytes": os.path.getsize(args.database),
            "program": database.program,
        }
    shown = {name: ("yes" if value else "no") if isinstance(value, bool) else value for name, value in facts.items()}
    write_facts(args, facts, shown)
    return 0
