"""`oclgenomics classify query`: reads to taxa, by a database."""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

from oclgenomics import classify
from oclgenomics.app.commands import add_command, open_engine, report_profile, say, say_written, started_progress
from oclgenomics.app.files import reads
from oclgenomics.app.reports import write_reports
from oclgenomics.classify.commands.query_options import add_query_options, add_read_options, query_inputs, query_options
from oclgenomics.classify.commands.report_files import ReportFiles, check_format
from oclgenomics.classify.options import Wanted

if TYPE_CHECKING:
    from oclgenomics.classify.api import Index
    from oclgenomics.classify.formats.tally import Tally
    from oclgenomics.classify.options import Input, QueryOptions


def add_parser(actions: Any) -> None:
    """Add `query` to the actions of `classify`."""
    parser = add_command(
        actions, run, "query", "classify reads by a database",
        "Sketch reads, look their features up, and call each read the lowest taxon that its best candidates have in "
        "common.",
    )  # fmt: skip
    reads(parser.add_argument("database", metavar="DB", help="database of `classify build`"))
    add_read_options(parser)
    add_query_options(parser, sketches=True)


def run(args: argparse.Namespace) -> int:
    """Classify reads and write the reports.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    options, inputs = query_options(args), query_inputs(args)
    check_format(args)
    with open_engine(args) as engine:
        with classify.Index(args.database, engine=engine) as index:
            classify_reads(args, index, inputs, options)
        report_profile(args, engine)
    say_written(args)
    return 0


def classify_reads(args: argparse.Namespace, index: Index, inputs: list[Input], options: QueryOptions) -> None:
    """Classify reads by an index, write all outputs, and tell how many were classified."""
    if not len(index.database.taxonomy) and options.lowest != "sequence":
        why = "the database has no taxonomy, so no read will be classified"
        say(args, f"warning: {why}; --lowest sequence names targets")
    progress = started_progress(args, "classifying")
    files = ReportFiles(args, index.lineages, options, index.database.options.sketch, index.engine)
    start = time.perf_counter()
    texts = bool(args.classified_out or args.unclassified_out or args.ground_truth or args.precision)
    wanted = Wanted(texts, args.allhits, args.any_mates, args.limit)
    parts = index.iter_query(inputs, options, wanted, run=classify.Run(args.threads, progress.update))
    with closing(parts), ExitStack() as stack:
        write_reports(parts, files.open(stack), on_part=[lambda _: progress.clear(), *files.on_part])
        progress.clear()
        files.write_summaries()
    pairs = any(one.mates or one.interleaved for one in inputs)
    say_totals(args, files.tally, time.perf_counter() - start, pairs=pairs)


def say_totals(args: argparse.Namespace, tally: Tally, seconds: float, *, pairs: bool) -> None:
    """Tell how many reads were classified, and how fast."""
    classified, what = tally.reads - tally.unclassified, "reads or pairs" if pairs else "reads"
    share = 100 * classified / max(tally.reads, 1)
    rate = tally.reads / max(seconds, 1e-9)
    say(args, f"{tally.reads:,} {what}, {share:.1f} % classified, in {seconds:.2f} s ({rate:,.0f} a second)")
