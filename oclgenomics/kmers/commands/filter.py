"""`oclgenomics kmers filter`: reads by how many of their k-mers a database holds."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from oclgenomics import kmers
from oclgenomics.app.commands import add_command, add_device_options, count, provenance, say, say_written
from oclgenomics.app.files import reads
from oclgenomics.app.filtering import (
    add_filtered_reads,
    add_kept_reads,
    add_pair_rule,
    check_kept_reads,
    reads_and_mates,
)
from oclgenomics.io.json_text import json_text
from oclgenomics.kmers.commands.reading import add_count_bounds, at_work


def add_parser(actions: Any) -> None:
    """Add `filter` to the actions of `kmers`."""
    parser = add_command(
        actions, run, "filter", "keep reads by how many of their k-mers a database holds",
        "Write the reads that pass, as they stand in the input and in its order. A read passes if it is "
        "within all bounds that are given; without any it has to have one k-mer of the database. In a canonical "
        "database, either strand of a k-mer counts.",
    )  # fmt: skip
    reads(parser.add_argument("database", metavar="DB", help="database of `kmers count`"))
    add_filtered_reads(parser)
    _add_bounds(parser)
    add_device_options(parser)
    add_kept_reads(parser)


def _add_bounds(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which reads pass")
    for name, kind, metavar, text in (
        ("min-kmers", count, "N", "k-mers of the database that a read has at least, each place counted"),
        ("max-kmers", count, "N", "at most"),
        ("min-fraction", float, "F", "their share of the read's k-mers at least, 0 to 1; 0 for a read without k-mers"),
        ("max-fraction", float, "F", "at most"),
    ):
        group.add_argument(f"--{name}", type=kind, metavar=metavar, help=f"{text} (default: no limit)")
    add_count_bounds(
        group, "k-mers of the database with a lower count are as if they were not there", "with a higher count"
    )
    add_pair_rule(group)


def run(args: argparse.Namespace) -> int:
    """Filter reads.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    check_kept_reads(args)
    options = kmers.FilterOptions(
        args.min_kmers, args.max_kmers, args.min_fraction, args.max_fraction, args.min_count, args.max_count,
        args.pairs, args.drop,
    )  # fmt: skip
    singles, pairs = reads_and_mates(args)
    with at_work(args, "filtering reads") as work:
        summary = kmers.filter_reads(
            args.database, singles, args.output, options, rest=args.rest, paired=pairs,
            interleaved=args.interleaved, any_mates=args.any_mates, engine=work.engine, run=work.run,
        )  # fmt: skip
    if args.json:
        result = asdict(summary) | {"seconds": work.seconds}
        print(json_text(provenance(args, work.engine) | {"result": result}, indent=1))
    _say_summary(args, summary, work.seconds)
    say_written(args)
    return 0


def _say_summary(args: argparse.Namespace, summary: kmers.FilterSummary, seconds: float) -> None:
    share = summary.found / max(summary.kmers, 1)
    say(
        args,
        f"kept {summary.kept:,} of {summary.reads:,} reads; the database has {summary.found:,} of their "
        f"{summary.kmers:,} k-mers ({100 * share:.1f} %); {seconds:.2f} s "
        f"({summary.kmers / max(seconds, 1e-9) / 1e6:.1f} million k-mers a second)",
    )
