"""`oclgenomics classify run`: reads to taxa by references of which no database is kept."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from oclgenomics import classify
from oclgenomics.app.commands import add_command, begin_engine, open_engine, provenance, report_profile, say_written
from oclgenomics.classify.commands.build import add_feature_options, add_sketch_options, build_options
from oclgenomics.classify.commands.query import classify_reads, wanted_of
from oclgenomics.classify.commands.query_options import (
    KRAKEN,
    add_query_options,
    add_read_options,
    query_inputs,
    query_options,
)
from oclgenomics.classify.commands.reference_options import add_references, add_taxon_options, built
from oclgenomics.classify.commands.report_files import check_format, check_texts


def add_parser(actions: Any) -> None:
    """Add `run` to the actions of `classify`."""
    parser = add_command(
        actions, run, "run", "build a database and classify reads at once",
        "Build a database of references on the device, and classify reads by it; nothing of it is written. Name the "
        "reads before --targets.",
        KRAKEN
        | {
            "--db": "give --targets REF and --taxonomy DIR, or use `classify query` with a database",
            "--memory-mapping": "not needed; no database is opened",
        },
    )  # fmt: skip
    add_read_options(parser)
    add_references(parser, option=True)
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
    begin_engine(args, draws="plot_sample")
    options, inputs, kept = query_options(args, sketches=False), query_inputs(args), build_options(args)
    check_format(args)
    check_texts(args)
    with open_engine(args) as engine:
        with classify.Index(built(args, engine, "building", kept), engine=engine) as index:
            query = partial(index.iter_query, inputs, options, wanted_of(args))
            classify_reads(args, index, query, options, engine, made=provenance(args, engine))
        report_profile(args, engine)
    say_written(args)
    return 0
