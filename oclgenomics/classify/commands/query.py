"""`oclgenomics classify query`: reads to taxa, by a database."""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack, closing, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from oclgenomics import classify
from oclgenomics.app.commands import (
    OutputOptions,
    add_command,
    begin_engine,
    open_engine,
    provenance,
    report_profile,
    say,
    say_written,
    started_progress,
)
from oclgenomics.app.files import option_of, reads
from oclgenomics.app.reports import write_reports
from oclgenomics.app.samples import MakeSample, SheetUse, add_sheet_option, has_sheet, run_sheet
from oclgenomics.app.spread import add_spread_options, has_pieces, is_combined, work_of, write_shard
from oclgenomics.classify.commands.query_options import (
    KRAKEN,
    add_mapping_option,
    add_query_options,
    add_read_options,
    query_inputs,
    query_options,
)
from oclgenomics.classify.commands.report_files import (
    LINES,
    NEED_FEATURES,
    ReportFiles,
    check_format,
    check_shares,
    check_texts,
    line_form,
    needs_features,
)
from oclgenomics.classify.options import Wanted
from oclgenomics.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from oclgenomics.classify.formats.tally import Tally
    from oclgenomics.classify.index import Index
    from oclgenomics.classify.jobs import QueryJob
    from oclgenomics.classify.options import QueryOptions
    from oclgenomics.classify.result import ClassifiedReads
    from oclgenomics.runtime import Engine

TEXTS = ("classified_out", "unclassified_out")  # outputs of reads themselves
NEED_TEXTS = (*TEXTS, "ground_truth", "precision")
NEED_HITS = ("allhits",)
ENDINGS = {"native": "txt", "json": "jsonl"}  # of the names of files, where these are not the format's


def add_parser(actions: Any) -> None:
    """Add `query` to the actions of `classify`."""
    parser = add_command(
        actions, run, "query", "classify reads by a database",
        "Sketch reads, look their features up, and call each read the lowest taxon that its best candidates have in "
        "common.",
        KRAKEN | {"--db": "name the database before the reads"},
    )  # fmt: skip
    reads(parser.add_argument("database", metavar="DB", help="database of `classify build`"))
    add_mapping_option(parser, default="for few reads, and for")
    add_sheet_option(parser, parser, add_read_options(parser))
    add_query_options(parser, sketches=True)
    add_spread_options(parser)


def run(args: argparse.Namespace) -> int:
    """Classify reads and write the reports.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    if has_sheet(args):
        OutputOptions.resolve(args, LINES)
        return run_sheet(args, SHEET, _querying_samples)
    combined = is_combined(args)
    if not combined:
        begin_engine(args, draws="plot_sample")
    options, inputs, wanted = query_options(args), query_inputs(args), wanted_of(args)
    check_format(args)
    if not combined or not has_pieces(args):
        check_texts(args)
    if args.shard is None and not combined:
        with open_engine(args) as engine:
            with classify.Index(args.database, engine=engine, memory_mapping=args.memory_mapping) as index:
                query, made = partial(index.iter_query, inputs, options, wanted), provenance(args, engine)
                classify_reads(args, index, query, options, engine, made=made)
            report_profile(args, engine)
        say_written(args)
        return 0
    lines = line_form(args, options, alone=combined and not has_pieces(args))
    job = classify.QueryJob(tuple(inputs), args.database, options, wanted, lines, args.memory_mapping)
    if not combined:
        return write_shard(args, job, "classifying", kept=(*TEXTS, "evidence"))
    _check_kept(args)
    with work_of(args) as work, nullcontext() if job.brings_lines else work.engine() as opened:
        classify_reads(args, job, partial(work.parts, job), job.options, opened, made=work.provenance())
        work.report_profile()
    say_written(args)
    return 0


def _ending(args: argparse.Namespace) -> str:
    return f".reads.{ENDINGS.get(args.format, args.format)}"


def _check_samples(args: argparse.Namespace) -> None:
    """Refuse options that no sample of a sheet could be classified with."""
    if args.pairfiles:
        raise UsageError("--pairfiles: the sheet says which files are of mates; leave the option out")
    check_format(args)
    query_options(args)
    query_inputs(args)


SHEET = SheetUse("reads", _ending, "paired", check=_check_samples)


@contextmanager
def _querying_samples(args: argparse.Namespace) -> Iterator[MakeSample]:
    """Open the device and the database, and lend what classifies the reads of a sample."""
    begin_engine(args, draws="plot_sample")
    options, wanted = query_options(args), wanted_of(args)
    with open_engine(args) as engine:
        with classify.Index(args.database, engine=engine, memory_mapping=args.memory_mapping) as index:

            def make(sample: argparse.Namespace) -> None:
                query = partial(index.iter_query, query_inputs(sample), options, wanted)
                classify_reads(sample, index, query, options, engine, made=provenance(sample, engine))

            yield make
        report_profile(args, engine)


def wanted_of(args: argparse.Namespace) -> Wanted:
    """Return what the outputs need of a query."""
    texts, hits = (any(getattr(args, name) for name in names) for names in (NEED_TEXTS, NEED_HITS))
    return Wanted(texts, hits, args.any_mates, args.limit, needs_features(args))


def _check_kept(args: argparse.Namespace) -> None:
    """Refuse outputs that need what pieces do not have.

    Raises
    ------
    UsageError
        There is such an option.
    """
    if not has_pieces(args):  # workers are told
        return
    known = args.pieces[0].record.parameters
    for names, what, kept in (
        (NEED_TEXTS, "texts of reads", "texts"),
        (NEED_HITS, "windows that were hit", "all_hits"),
        (NEED_FEATURES, "features of reads", "features"),
    ):
        asked = [name for name in names if getattr(args, name)]
        if asked and not known[kept]:
            option = option_of(args.parser, args)[asked[0]]
            raise UsageError(f"{option}: the pieces have no {what}; give this option with --shard, too")


def classify_reads(
    args: argparse.Namespace,
    known: Index | QueryJob,
    query: Callable[..., Generator[ClassifiedReads, None, None]],
    options: QueryOptions,
    engine: Engine | Callable[[], Engine | None] | None = None,
    *,
    made: Mapping[str, Any],
) -> None:
    """Write all outputs of a query, and tell how many reads were classified.

    Parameters
    ----------
    args : Namespace
    known : Index or QueryJob
        What knows the database.
    query : callable
        Gives the parts, with a `Run` as `run`.
    options : QueryOptions
    engine : Engine or callable, optional
        Joins lines; see `formats.make_report`.
    made : mapping
        The provenance of what is written.
    """
    options = classify.options_for(known.database, options)
    check_shares(args, options)
    if not len(known.database.taxonomy) and options.lowest != "sequence":
        why = "the database has no taxonomy, so no read will be classified"
        say(args, f"warning: {why}; --lowest sequence names targets")
    progress = started_progress(args, "classifying")
    more: dict[str, Any] = {"made": made, "known_features": known.known_features}
    files = ReportFiles(args, known.lineages, options, known.database.options.sketch, engine, **more)
    start = time.perf_counter()
    parts = query(run=classify.Run(args.threads, progress.update))
    with closing(parts), ExitStack() as stack:
        write_reports(parts, files.open(stack), on_part=[lambda _: progress.clear(), *files.on_part])
        progress.clear()
        files.write_summaries()
    pairs = bool(args.paired or args.interleaved or args.pairfiles)
    say_totals(args, files.tally, time.perf_counter() - start, pairs=pairs)


def say_totals(args: argparse.Namespace, tally: Tally, seconds: float, *, pairs: bool) -> None:
    """Tell how many reads were classified, and how fast."""
    classified, what = tally.reads - tally.unclassified, "reads or pairs" if pairs else "reads"
    share = 100 * classified / max(tally.reads, 1)
    rate = tally.reads / max(seconds, 1e-9)
    say(args, f"{tally.reads:,} {what}, {share:.1f} % classified, in {seconds:.2f} s ({rate:,.0f} a second)")
