"""`oclgenomics classify build`: reference genomes into a database."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from oclgenomics import classify
from oclgenomics.app.commands import (
    add_device_options,
    add_message_options,
    count,
    open_engine,
    provenance,
    report_profile,
    started_progress,
)
from oclgenomics.app.files import writes
from oclgenomics.classify.commands.reference_options import (
    add_manifest_option,
    add_reading_options,
    add_references,
    add_taxon_options,
    check_threads,
    say_summary,
    with_manifest,
)
from oclgenomics.classify.options import BuildOptions, SketchOptions
from oclgenomics.errors import UsageError

if TYPE_CHECKING:
    from oclgenomics.classify.database.database import Database
    from oclgenomics.runtime import Engine


def add_parser(actions: Any) -> None:
    """Add `build` to the actions of `classify`."""
    parser = actions.add_parser(
        "build",
        help="build a database of reference genomes",
        description="Sketch reference genomes window by window, and write where each feature of the sketches lies. "
        "Each record is a target.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    writes(parser.add_argument("database", metavar="DB", help="the database to write"), with_manifest)
    add_references(parser)
    add_sketch_options(parser)
    add_feature_options(parser)
    add_taxon_options(parser)
    add_reading_options(parser)
    add_device_options(parser)
    group = parser.add_argument_group("output")
    add_manifest_option(group)
    add_message_options(group)


def add_sketch_options(parser: argparse.ArgumentParser) -> None:
    """Add how sequences become features."""
    group = parser.add_argument_group("sketches")
    for name, default, text in (
        ("kmerlen", 16, "letters of a k-mer, 4 to 16 (default: %(default)s)"),
        ("sketchlen", 16, "features of a window at most, 1 to 64 (default: %(default)s)"),
        ("winlen", 91, "letters of a window; MetaCache has 127 (default: %(default)s)"),
        ("winstride", 0, "letters from a window to the next one (default: winlen - kmerlen + 1)"),
    ):
        group.add_argument(f"--{name}", type=count, default=default, metavar="N", help=text)
    group.add_argument(
        "--min-triplets", type=count, default=-1, metavar="N",
        help="mask k-mers of low complexity, which are those with fewer different triplets of bases, in references and "
        "reads; 0 masks none, as in MetaCache (default: 9 for k-mers of 16)",
    )  # fmt: skip
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
    check_threads(args)
    options = build_options(args)
    with open_engine(args) as engine:
        start = time.perf_counter()
        database = built(args, options, engine, "reading")
        classify.write_database(args.database, database, manifest=args.manifest)
        seconds = time.perf_counter() - start
        report_profile(args, engine)
    say_summary(args, database, args.database, int(database.targets.letters.sum()), seconds)
    return 0


def built(args: argparse.Namespace, options: BuildOptions, engine: Engine, label: str) -> Database:
    """Build a database of the references, under a line of progress."""
    progress = started_progress(args, label)
    database = classify.build(
        args.references, options, taxonomy=args.taxonomy, taxpostmap=args.taxpostmap, reset_taxa=args.reset_taxa,
        engine=engine, run=classify.Run(args.threads, progress.update),
    )  # fmt: skip
    progress.clear()
    return replace(database, provenance=provenance(args, engine))


def build_options(args: argparse.Namespace) -> BuildOptions:
    """Return what a database keeps.

    Raises
    ------
    UsageError
        A value is out of range, or means nothing without another one.
    """
    if args.remove_ambiguous is None and args.max_ambiguous != 1:
        raise UsageError("--max-ambig-per-feature needs --remove-ambig-features RANK, whose taxa it counts")
    return BuildOptions(
        SketchOptions(args.kmerlen, args.sketchlen, args.winlen, args.winstride, args.min_triplets, args.soft_masked),
        args.max_locations,
        args.remove_overpopulated,
        args.remove_ambiguous,
        args.max_ambiguous,
        args.sequence_id_format,
    )
