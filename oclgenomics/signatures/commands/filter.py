"""`oclgenomics signatures filter`: reads that signatures match, as they are or cut at the match."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from oclgenomics import signatures
from oclgenomics.app.commands import (
    add_command,
    add_device_options,
    begin_engine,
    open_engine,
    provenance,
    report_profile,
    say,
    say_written,
    started_progress,
)
from oclgenomics.app.filtering import (
    add_filtered_reads,
    add_kept_reads,
    add_pair_rule,
    check_kept_reads,
    reads_and_mates,
)
from oclgenomics.io.json_text import json_text
from oclgenomics.signatures.commands.patterns import add_signatures, panel_of, take_signatures
from oclgenomics.signatures.commands.scan import add_matching_options
from oclgenomics.signatures.options import TRIMS

if TYPE_CHECKING:
    from oclgenomics.signatures import FilterSummary

FOREIGN = {  # options of cutadapt and of seqkit grep
    "-g|--front": "give the adapter with --pattern, and --trim before",
    "-a|--adapter": "give the adapter with --pattern, and --trim after",
    "-O|--overlap": "use --overhang MIN",
    "-e|--error-rate": "use --max-edits E, or --max-mismatch M",
    "--discard-trimmed|--discard|--invert-match": "use --drop",
    "--untrimmed-output": "use --rest FILE",
}


def add_parser(actions: Any) -> None:
    """Add `filter` to the actions of `signatures`."""
    parser = add_command(
        actions, run, "filter", "keep reads that signatures match, or cut them at the match",
        "Write the reads that any signature matches, as they stand in the input and in its order, or with --trim "
        "without their best match and what lies before or after it. The best match of a read is that of "
        "`scan --report read`.",
        FOREIGN,
    )  # fmt: skip
    add_filtered_reads(parser)
    add_signatures(parser)
    add_matching_options(parser, report=False)
    group = parser.add_argument_group("which reads are kept, and what of them")
    add_pair_rule(group)
    group.add_argument(
        "--trim", choices=TRIMS,
        help="cut the best match of each read and all before it (a primer at the read's beginning), or all after it "
        "(an adapter at its end) (default: reads stay as they are)",
    )  # fmt: skip
    group.add_argument(
        "--label", action="store_true",
        help="append signature=NAME to the header of each read that is kept, the signature of its best match, and "
        "ties=N if N others match as well",
    )  # fmt: skip
    add_device_options(parser)
    add_kept_reads(parser)


def run(args: argparse.Namespace) -> int:
    """Filter reads.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    take_signatures(args, "reads", 0 if args.paired else 1)
    check_kept_reads(args)
    begin_engine(args)
    scan = signatures.ScanOptions(
        "read", args.strand, args.method, args.max_mismatches, args.min_informative, args.min_score, args.max_edits,
        overhang=args.overhang, overhang_at=args.overhang_at,
    )  # fmt: skip
    options = signatures.FilterOptions(scan, args.pairs, args.drop, args.trim, args.label)
    singles, pairs = reads_and_mates(args)
    panel = panel_of(args)
    progress = started_progress(args, "filtering reads")
    with open_engine(args) as engine:
        start = time.perf_counter()
        summary = signatures.filter_reads(
            singles, panel, args.output, options, rest=args.rest, paired=pairs, interleaved=args.interleaved,
            any_mates=args.any_mates, engine=engine, run=signatures.Run(args.threads, progress.update),
        )  # fmt: skip
        progress.clear()
        seconds = time.perf_counter() - start
        report_profile(args, engine)
    if args.json:
        result = asdict(summary) | {"seconds": seconds}
        print(json_text(provenance(args, engine) | {"result": result}, indent=1))
    _say_summary(args, summary, seconds)
    say_written(args)
    return 0


def _say_summary(args: argparse.Namespace, summary: FilterSummary, seconds: float) -> None:
    cut = f" and {summary.kept_bases:,} of {summary.bases:,} bp" if args.trim else ""
    ties = f", {summary.ambiguous:,} by several signatures equally well" if summary.ambiguous else ""
    none = f"; trimming left no base of {summary.empty:,}" if summary.empty else ""
    share = 100 * summary.matching / max(summary.reads, 1)
    say(
        args,
        f"kept {summary.kept:,} of {summary.reads:,} reads{cut}; signatures match {summary.matching:,} of them "
        f"({share:.1f} %){ties}{none}; {seconds:.2f} s ({summary.bases / max(seconds, 1e-9) / 1e6:,.1f} Mbp/s)",
    )
