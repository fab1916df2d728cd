"""`oclgenomics signatures scan`: every signature in every sample, exactly."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oclgenomics.app.commands import (
    PACKED,
    add_device_options,
    add_message_options,
    binary_output,
    count,
    open_engine,
    provenance,
    report_profile,
    say,
    say_written,
    text_output,
)
from oclgenomics.app.files import reads, writes
from oclgenomics.app.inputs import reads_sequences
from oclgenomics.app.progress import Progress
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.signatures.commands.pattern_options import add_pattern_options

if TYPE_CHECKING:
    from oclgenomics.signatures.formats.matches import Report
    from oclgenomics.signatures.options import ScanOptions
    from oclgenomics.signatures.panel import Panel
    from oclgenomics.signatures.plots.choice import ChosenSamples
    from oclgenomics.signatures.totals import ScanTotals

__all__ = ["add_parser", "run"]

STANDARD = "-"


def add_parser(actions: Any) -> None:
    """Add `scan` to the actions of `signatures`."""
    parser = actions.add_parser(
        "scan",
        help="find signatures in samples",
        description="Find every place of every sample at which a signature matches: each of its letters has a "
        "nucleotide in common with the sample's (IUPAC; N matches all). The score of a match is the mean quality of "
        "the sample's letters under the whole signature.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    samples = parser.add_argument(
        "samples", nargs="+", metavar="SAMPLES",
        help="FASTA or FASTQ files, plain or packed (gzip, bzip2, xz, zstd), in any mix; - for standard input; @LIST "
        "for the files that a text file names, one a line",
    )  # fmt: skip
    reads_sequences(samples)
    signatures = parser.add_argument(
        "signatures",
        metavar="SIGNATURES",
        help="the last file: signatures, FASTA or FASTQ, plain or packed (gzip, bzip2, xz, zstd), or a "
        "panel of `signatures build`",
    )
    reads(signatures)
    _add_matching_options(parser)
    _add_report_options(parser)
    add_device_options(parser)


def _add_matching_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("matches")
    add_pattern_options(group)
    group.add_argument(
        "--max-edits", type=int, default=0, metavar="E",
        help="substitutions, insertions and deletions that a match may have, 0 to 4, instead of --max-mismatch; "
        "neighbouring ends of matches are one match (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--min-informative", type=float, default=0.0, metavar="SHARE",
        help="least share of positions, 0 to 1, at which both letters are a single nucleotide (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--min-score", type=float, default=0.0, metavar="Q",
        help="least mean quality of a match; samples need qualities unless it is 0 (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--report", default="best", choices=("best", "first", "all"),
        help="of a sample and a signature on a strand: the match of the fewest mismatches, then of the highest score, "
        "then the leftmost; the leftmost one; or all (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--method", default="auto", choices=("auto", "index", "planes", "brute"),
        help="how matches are found; all methods find the same ones (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--threads", type=count, metavar="N", help="host threads that decompress the input (default: at most 4)"
    )


def _add_report_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    output = group.add_argument(
        "-o", "--output", default="-", metavar="FILE", help=f"file for the matches, {PACKED} (default: standard output)"
    )
    writes(output)
    group.add_argument(
        "--format", choices=("tsv", "course", "bed", "jsonl"), help="format of the matches (default: tsv)"
    )
    group.add_argument("--json", action="store_true", help="short for --format jsonl")
    for name, text in (
        ("--summary", "write a table with a line for each sample: length, shares of N, quality, hash, warnings"),
        ("--sample-report", "write a table of how sure each match is: informative share, expected errors, chance"),
        ("--plot", "draw the samples and the signatures in them; .png, .svg or .pdf"),
    ):
        writes(group.add_argument(name, metavar="FILE", help=text))
    add_message_options(group)


def run(args: argparse.Namespace) -> int:
    """Scan samples and write the reports and the figure.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.runtime import select_device
    from oclgenomics.signatures.api import scan_parts
    from oclgenomics.signatures.formats.writing import write_reports
    from oclgenomics.signatures.plots.choice import ChosenSamples
    from oclgenomics.signatures.source import read_panel
    from oclgenomics.signatures.totals import ScanTotals

    options = _checked_options(args)
    select_device(args.device)  # a device that is not there is told before anything is read
    panel = read_panel(args.signatures)
    totals, chosen = ScanTotals(panel), ChosenSamples(panel, options)
    progress = Progress(enabled=not args.quiet)
    progress.stage("scanning", "MB", 1e6)
    seen = [lambda _: progress.clear(), totals.add, *([chosen.add] if args.plot else [])]
    with open_engine(args) as engine:
        start = time.perf_counter()
        parts = scan_parts(
            args.samples, panel, options, engine=engine, threads=args.threads, progress=progress.update
        )  # fmt: skip
        with closing(parts), ExitStack() as stack:
            reports = [
                (stack.enter_context(text_output(path)), report)
                for path, report in _reports(args, panel, options, provenance(args, engine))
            ]
            write_reports(parts, reports, on_part=seen, flush=STANDARD in args.samples)
        seconds = time.perf_counter() - start
        report_profile(args, engine)
    if args.plot:
        _write_plot(args, chosen)
    _say_totals(args, totals, seconds)
    say_written(args)
    return 0


def _checked_options(args: argparse.Namespace) -> ScanOptions:
    """Refuse options that contradict each other, before a device starts."""
    from oclgenomics.app.figures import plot_format
    from oclgenomics.signatures.formats.matches import check_format
    from oclgenomics.signatures.formats.samples import check_certainty
    from oclgenomics.signatures.options import ScanOptions

    if args.json and args.format not in (None, "jsonl"):
        raise UsageError(f"--json and --format {args.format} contradict each other; give one of them")
    args.format = args.format or ("jsonl" if args.json else "tsv")
    if args.threads is not None and args.threads < 1:
        raise ParameterError("threads", "give 1 or more", args.threads)
    if [*args.samples, args.signatures].count(STANDARD) > 1:
        raise UsageError("standard input (-) can be read once; name files for the others")
    options = ScanOptions(
        args.report, args.strand, args.method, args.max_mismatches, args.min_informative, args.min_score, args.max_edits
    )
    check_format(args.format, options)
    if args.sample_report:
        check_certainty(options)
    if args.plot:
        plot_format(args.plot)
    return options


def _reports(
    args: argparse.Namespace, panel: Panel, options: ScanOptions, made: dict[str, Any]
) -> Iterator[tuple[str, Report]]:
    """The files to write, and what goes into them."""
    from oclgenomics.signatures.formats.matches import make_report
    from oclgenomics.signatures.formats.samples import CertaintyReport, SummaryReport

    yield args.output, make_report(args.format, panel, options, provenance=made)
    if args.summary:
        yield args.summary, SummaryReport(panel, made)
    if args.sample_report:
        yield args.sample_report, CertaintyReport(panel, options, made)


def _write_plot(args: argparse.Namespace, chosen: ChosenSamples) -> None:
    from oclgenomics.app.figures import plot_format, save_plot
    from oclgenomics.signatures.plots.samples import plot_samples

    first, *others = args.samples
    title = "standard input" if first == STANDARD else Path(first).name
    title += f" and {len(others):,} more" if others else ""
    figure = plot_samples(chosen, title=title)
    with binary_output(args.plot) as stream:
        save_plot(figure, stream, plot_format(args.plot))


def _say_totals(args: argparse.Namespace, totals: ScanTotals, seconds: float) -> None:
    rate = totals.letters / max(seconds, 1e-9) / 1e6
    say(
        args,
        f"{totals.samples:,} samples, {totals.letters:,} letters; {totals.signatures:,} signatures match in "
        f"{totals.matching_samples:,} samples, {totals.hits:,} matches; {seconds:.2f} s "
        f"({rate:,.1f} million letters/s)",
    )
    for warning in totals.warnings():
        say(args, f"warning: {warning}")
