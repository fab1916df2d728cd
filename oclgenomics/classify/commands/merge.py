"""`oclgenomics classify merge`: results of the same reads, or databases, made one."""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from oclgenomics import classify
from oclgenomics.app.commands import (
    add_command,
    add_device_choice,
    chosen_engine,
    provenance,
    say_written,
    started_progress,
)
from oclgenomics.app.files import reads
from oclgenomics.app.reports import write_reports
from oclgenomics.classify import database
from oclgenomics.classify.commands.query import say_totals
from oclgenomics.classify.commands.query_options import add_calling_options, query_options
from oclgenomics.classify.commands.reference_options import reads_taxonomy, write_built
from oclgenomics.classify.commands.report_files import ReportFiles, add_report_options, check_format
from oclgenomics.classify.options import SketchOptions
from oclgenomics.errors import UsageError

if TYPE_CHECKING:
    from oclgenomics.classify.database.database import Database


def add_parser(actions: Any) -> None:
    """Add `merge` to the actions of `classify`."""
    parser = add_command(
        actions, run, "merge", "merge results of the same reads, or databases",
        "Merge results of the same reads in several databases: text of --format native --queryids --tophits --lowest "
        "species, or MetaCache's. Each read is called anew by its best candidates. Or merge databases into one, which "
        "-o names.",
    )  # fmt: skip
    said = "results, uncompressed or compressed (gzip, bzip2, xz, zstd); or databases"
    reads(parser.add_argument("results", nargs="+", metavar="RESULT", help=said))
    taxonomy = parser.add_argument(
        "--taxonomy", metavar="DIR", help="folder of the databases' taxonomy; results need it, databases have it"
    )
    reads_taxonomy(taxonomy)
    add_calling_options(parser, hitmin="5", lowest="species")
    add_device_choice(parser, "none; the host packs and counts features of databases, which takes longer")
    add_report_options(parser, merged=True)


def run(args: argparse.Namespace) -> int:
    """Merge results and write the reports, or merge databases.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    databases = [database.is_database(path) for path in args.results]
    if all(databases):
        return _merge_databases(args)
    if any(databases):
        raise UsageError(f"{args.results[databases.index(True)]} is a database, and others are not; merge either")
    return _merge_results(args)


def _merge_databases(args: argparse.Namespace) -> int:
    if args.output == "-":
        raise UsageError("name a file for the database with -o")
    start = time.perf_counter()
    progress = started_progress(args, "reading", "databases", 1)
    parts: list[Database] = []
    for path in args.results:
        progress.update(len(parts), len(args.results))
        parts.append(classify.read_database(path))
    progress.clear()
    made = replace(classify.merge_databases(parts), provenance=provenance(args, None))
    with chosen_engine(args) as engine:
        write_built(args, made, args.output, start, engine)
    return 0


def _merge_results(args: argparse.Namespace) -> int:
    if args.taxonomy is None:
        raise UsageError("--taxonomy is missing: the folder of the taxonomy that the databases were built with")
    if args.device is not None:
        raise UsageError("--device is for databases; results are merged without one, so leave it out")
    options = query_options(args)
    check_format(args)
    start = time.perf_counter()
    made = provenance(args, None)
    result = classify.merge(args.results, args.taxonomy, options)
    files = ReportFiles(args, result.lineages, options, SketchOptions(), candidates=False, made=made)
    with ExitStack() as stack:
        write_reports(result.parts, files.open(stack), on_part=files.on_part)
        files.write_summaries()
    say_totals(args, files.tally, time.perf_counter() - start, pairs=False)
    say_written(args)
    return 0
