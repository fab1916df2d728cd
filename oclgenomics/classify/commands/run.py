"""`oclgenomics classify run`: reads to taxa by references of which no database is kept."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics import classify
from oclgenomics.app.commands import open_engine, report_profile, say_written
from oclgenomics.classify.commands.build import add_feature_options, add_sketch_options, build_options, built
from oclgenomics.classify.commands.query import add_query_options, classify_reads
from oclgenomics.classify.commands.query_options import add_read_options, query_inputs, query_options
from oclgenomics.classify.commands.reference_options import add_targets, add_taxon_options
from oclgenomics.classify.commands.report_files import checked_format


def add_parser(actions: Any) -> None:
    """Add `run` to the actions of `classify`."""
    parser = actions.add_parser(
        "run",
        help="build a database and classify reads at once",
        description="Build a database of references on the device, and classify reads by it; nothing of it is written. "
        "Name the reads before --targets.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    add_read_options(parser)
    add_targets(parser)
    add_taxon_options(parser)
    add_sketch_options(parser)
    add_feature_options(parser)
    add_query_options(parser, sketches=False)


def run(args: argparse.Namespace) -> int:
    """Build a database, classify reads and write the reports.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    options, inputs, kept = query_options(args, sketches=False), query_inputs(args), build_options(args)
    checked_format(args)
    with open_engine(args) as engine:
        with classify.Index(built(args, kept, engine, "building"), engine=engine) as index:
            classify_reads(args, index, inputs, options)
        report_profile(args, engine)
    say_written(args)
    return 0
