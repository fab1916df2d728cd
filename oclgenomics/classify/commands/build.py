"""`oclgenomics classify build`: reference genomes into a database."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from oclgenomics import classify
from oclgenomics.app.commands import (
    add_command,
    add_options,
    begin_engine,
    count,
    open_engine,
    report_profile,
    started_progress,
)
from oclgenomics.app.files import writes
from oclgenomics.app.spread import add_spread_options, has_pieces, is_combined, work_of, write_shard
from oclgenomics.classify import database
from oclgenomics.classify.commands.query_options import chosen
from oclgenomics.classify.commands.reference_options import add_building_options, built, with_manifest, write_built
from oclgenomics.classify.options import BuildOptions, SketchOptions
from oclgenomics.errors import UsageError

if TYPE_CHECKING:
    from oclgenomics.classify.jobs import BuildJob


def add_parser(actions: Any) -> None:
    """Add `build` to the actions of `classify`."""
    parser = add_command(
        actions, run, "build", "build a database of reference genomes",
        "Sketch reference genomes window by window, and write where each feature of the sketches lies. Each record is "
        "a target.",
    )  # fmt: skip
    output = parser.add_argument("database", metavar="DB", help="the database to write")
    writes(output, with_manifest, in_file=True)
    add_sketch_options(parser)
    add_feature_options(parser)
    add_building_options(parser)
    add_spread_options(parser)


def add_sketch_options(parser: argparse.ArgumentParser) -> None:
    """Add how sequences become features."""
    group = parser.add_argument_group("sketches")
    sizes = {
        "kmerlen": "bases of a k-mer, 4 to 16 (default: %(default)s)",
        "sketchlen": "features of a window at most, 1 to 64 (default: %(default)s)",
        "winlen": "bases of a window; MetaCache has 127 (default: %(default)s)",
        "winstride": "bases from a window to the next one (default: winlen - kmerlen + 1)",
        "min_triplets": "mask k-mers of low complexity, which are those with fewer different triplets of bases, in "
        "references and reads; 0 masks none, as in MetaCache (default: 9 for k-mers of 16)",
    }
    add_options(group, count, "N", sizes, SketchOptions)
    group.add_argument("--soft-masked", action="store_true", help="mask lower case in references")


def add_feature_options(parser: argparse.ArgumentParser) -> None:
    """Add which features and locations are kept, and how targets are named."""
    group = parser.add_argument_group("features")
    group.add_argument(
        "--max-locations-per-feature", dest="max_locations", type=count, default=254, metavar="N",
        help="locations of a feature that are kept: the first ones (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--remove-overpopulated-features", dest="remove_overpopulated", action="store_true",
        help="drop features that have as many locations, or more",
    )  # fmt: skip
    group.add_argument(
        "--remove-ambig-features", dest="remove_ambiguous", metavar="RANK",
        help="drop features that are in more taxa of this rank than --max-ambig-per-feature says (default: keep them)",
    )  # fmt: skip
    group.add_argument(
        "--max-ambig-per-feature", dest="max_ambiguous", type=count, default=1, metavar="N",
        help="with --remove-ambig-features: taxa that a feature may be in (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--sequence-id-format", default="smart", metavar="NAME",
        help="what names a target: smart (accession, else gi, else file name), ncbi, gi, filename or leadingword "
        "(default: %(default)s)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Build a database.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    options = build_options(args)
    if args.shard or args.scheduler or args.workers:
        args.output = args.database
    combined = is_combined(args)
    if not combined:
        begin_engine(args)
    if args.shard is not None:
        return write_shard(args, _job(args, options), "reading")
    if combined:
        return _combine(args, options)
    with open_engine(args) as engine:
        start = time.perf_counter()
        write_built(args, built(args, engine, "reading", options, held=True), args.database, start, engine)
        report_profile(args, engine)
    return 0


def _combine(args: argparse.Namespace, options: BuildOptions) -> int:
    """Make a database of pieces that are there, or of those that workers make."""
    if args.output == "-":
        raise UsageError("name the file of the database with -o")
    start, job = time.perf_counter(), _job(args, options)
    progress = started_progress(args, "merging" if has_pieces(args) else "reading")
    with work_of(args) as work:
        with work.engine() as opened:
            made = job.database(work.parts(job, classify.Run(args.threads, progress.update)))
            progress.clear()
            write_built(args, replace(made, provenance=work.provenance()), args.output, start, opened())
        work.report_profile()
    return 0


def _job(args: argparse.Namespace, options: BuildOptions) -> BuildJob:
    """The build of all references; pieces know their names."""
    if has_pieces(args):
        record = args.pieces[0].record
        files = [mark.name for mark in record.inputs[: record.parameters["references"]]]
    else:
        files = database.reference_files(classify.file_names(args.references))
    taxa = database.TaxonSources(args.taxonomy, args.taxpostmap, args.reset_taxa)
    return classify.BuildJob(tuple(files), options, taxa)


def build_options(args: argparse.Namespace) -> BuildOptions:
    """Return what a database keeps.

    Raises
    ------
    UsageError
        A value is out of range, or means nothing without another one.
    """
    if args.remove_ambiguous is None and args.max_ambiguous != 1:
        raise UsageError("--max-ambig-per-feature needs --remove-ambig-features RANK, whose taxa it counts")
    return replace(chosen(BuildOptions, args), sketch=chosen(SketchOptions, args))
