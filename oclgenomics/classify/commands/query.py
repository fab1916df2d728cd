"""`oclgenomics classify query`: reads to taxa, by a database."""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

from oclgenomics.app.commands import add_device_options, open_engine, report_profile, say, say_written
from oclgenomics.app.files import reads
from oclgenomics.app.progress import Progress
from oclgenomics.classify.commands.query_options import (
    BY_CHANCE,
    add_calling_options,
    add_candidate_options,
    add_read_options,
    query_inputs,
    query_options,
    wanted_of,
)
from oclgenomics.classify.commands.report_files import ReportFiles
from oclgenomics.classify.commands.report_options import add_report_options, add_text_options, checked_format

if TYPE_CHECKING:
    from oclgenomics.classify.formats.tally import Tally
    from oclgenomics.classify.index import Index
    from oclgenomics.classify.options import QueryOptions
    from oclgenomics.classify.reading.inputs import Input

__all__ = ["add_parser", "add_query_options", "classify_reads", "run", "say_totals"]


def add_parser(actions: Any) -> None:
    """Add `query` to the actions of `classify`."""
    parser = actions.add_parser(
        "query",
        help="classify reads by a database",
        description="Sketch reads, look their features up, and call each read the lowest taxon that its best "
        "candidates have in common.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    reads(parser.add_argument("database", metavar="DB", help="database of `classify build`"))
    add_read_options(parser)
    add_query_options(parser, sketches=True)


def add_query_options(parser: argparse.ArgumentParser, *, sketches: bool) -> None:
    """Add how reads are classified, where, and what is written; `sketches` is that of `add_candidate_options`."""
    add_calling_options(parser, hitmin=BY_CHANCE)
    add_candidate_options(parser, sketches=sketches)
    add_report_options(parser)
    add_text_options(parser)
    add_device_options(parser)


def run(args: argparse.Namespace) -> int:
    """Classify reads and write the reports.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.classify.index import Index
    from oclgenomics.runtime import select_device

    options, inputs = query_options(args), query_inputs(args)
    checked_format(args)
    select_device(args.device)  # a device that is not there is told before anything is read
    with open_engine(args) as engine:
        with Index(args.database, engine=engine) as index:
            classify_reads(args, index, inputs, options)
        report_profile(args, engine)
    say_written(args)
    return 0


def classify_reads(args: argparse.Namespace, index: Index, inputs: list[Input], options: QueryOptions) -> None:
    """Classify reads by an index, write all outputs, and tell how many were classified."""
    from oclgenomics.classify.formats import write_reports

    if not len(index.database.taxonomy) and options.lowest != "sequence":
        say(
            args,
            "warning: the database has no taxonomy, so no read will be classified; --lowest sequence names targets",
        )
    progress = Progress(enabled=not args.quiet)
    progress.stage("classifying", "MB", 1e6)
    files = ReportFiles(args, index.lineages, options, index.database.options.sketch, index.engine)
    start = time.perf_counter()
    parts = index.parts(inputs, options, wanted_of(args), threads=args.threads, progress=progress.update)
    with closing(parts), ExitStack() as stack:
        write_reports(parts, files.open(stack), on_part=[lambda _: progress.clear(), *files.on_part])
        progress.clear()
        files.write_summaries()
    say_totals(
        args, files.tally, time.perf_counter() - start, pairs=any(one.mates or one.interleaved for one in inputs)
    )


def say_totals(args: argparse.Namespace, tally: Tally, seconds: float, *, pairs: bool) -> None:
    """Tell how many reads were classified, and how fast."""
    classified, what = tally.reads - tally.unclassified, "reads or pairs" if pairs else "reads"
    share = 100 * classified / max(tally.reads, 1)
    rate = tally.reads / max(seconds, 1e-9)
    say(args, f"{tally.reads:,} {what}, {share:.1f} % classified, in {seconds:.2f} s ({rate:,.0f} a second)")
