"""`oclgenomics signatures scan`: every signature in every sample, exactly."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any

import oclgenomics
from oclgenomics import signatures
from oclgenomics.app.commands import (
    OutputOptions,
    add_command,
    add_device_options,
    add_output_options,
    begin_engine,
    count,
    open_engine,
    report_profile,
    say,
    say_written,
    started_progress,
    text_output,
)
from oclgenomics.app.files import writes
from oclgenomics.app.html_output import add_html_option, elsewhere, input_title, write_page
from oclgenomics.app.inputs import add_reference_option, reads_sequences, with_reference
from oclgenomics.app.multiqc import add_multiqc_options, sample_name, write_content
from oclgenomics.app.samples import MakeSample, SheetUse, add_sheet_option, has_sheet, run_sheet
from oclgenomics.app.spread import Work, add_spread_options, has_pieces, is_combined, work_of, work_on, write_shard
from oclgenomics.errors import UsageError
from oclgenomics.lazy_names import late
from oclgenomics.notices import number_of
from oclgenomics.signatures import formats, plots
from oclgenomics.signatures.commands.build import add_pattern_options
from oclgenomics.signatures.commands.patterns import add_signatures, patterns_of, take_signatures
from oclgenomics.signatures.options import FORMATS, METHODS, OVERHANGS_AT, REPORTS

if TYPE_CHECKING:
    from oclgenomics.signatures import Panel, ScanOptions, ScanTotals
    from oclgenomics.signatures.formats import ScanReport


jobs = late("oclgenomics.app.jobs")

STANDARD = "-"
FOREIGN = {  # options of seqkit locate
    "-f|--pattern-file": "name the file of patterns last",
    "-m": "use --max-mismatch M",
    "-P|--only-positive-strand": "use --strand +",
    "-i|--ignore-case|--degenerate": "not needed; lower case counts as upper case, and IUPAC codes match",
    "--bed": "use --format bed",
}


def add_parser(actions: Any) -> None:
    """Add `scan` to the actions of `signatures`."""
    parser = add_command(
        actions, run, "scan", "find signatures in samples",
        "Find every place of every sample at which a signature matches: each of its bases has a "
        "nucleotide in common with the sample's (IUPAC; N matches all). The score of a match is the mean quality of "
        "the sample's bases under the whole signature.",
        FOREIGN,
    )  # fmt: skip
    samples = parser.add_argument(
        "samples", nargs="+", metavar="SAMPLES",
        help="FASTA or FASTQ files, uncompressed or compressed (gzip, bzip2, xz, zstd), or BAM, CRAM or SAM, in any "
        "mix; - for standard input; @LIST for the files that a text file names, one a line",
    )  # fmt: skip
    reads_sequences(samples)
    add_reference_option(parser)
    panel = add_signatures(parser)
    add_sheet_option(parser, parser, samples, panel)
    add_matching_options(parser)
    add_report_options(parser)
    add_spread_options(parser)
    add_device_options(parser)


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Add all outputs: the matches in a format, tables of samples and of certainty, the figure."""
    group = add_output_options(parser, formats=FORMATS, what="matches")
    for name, text in (
        ("--summary", "write a table with a line for each sample: length, shares of N, quality, hash, warnings"),
        ("--sample-report", "write a table of how sure each match is: informative share, expected errors, chance"),
        ("--plot", "draw the samples and the signatures in them; .png, .svg or .pdf"),
    ):
        writes(group.add_argument(name, metavar="FILE", help=text))
    add_html_option(group, "the samples and the signatures in them")
    add_multiqc_options(group, "what was found")


def add_matching_options(parser: argparse.ArgumentParser, *, report: bool = True) -> None:
    """Add what counts as a match, and which matches are reported unless `report` is false."""
    group = parser.add_argument_group("matches")
    add_pattern_options(group)
    group.add_argument(
        "-k", "--max-edits", type=count, default=0, metavar="E",
        help="substitutions, insertions and deletions that a match may have, 0 to 1000, instead of --max-mismatch; "
        "neighbouring ends of matches are one match (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--overhang", type=count, default=0, metavar="MIN",
        help="let signatures run past the start or the end of a sample, with MIN bases or more inside; a match then "
        "has at most its share of the mismatches or edits (default: whole signatures only)",
    )  # fmt: skip
    group.add_argument(
        "--overhang-at", choices=OVERHANGS_AT,
        help="which end of a sample --overhang is for (default: both"
        + ("" if report else "; with --trim before start, with --trim after end") + ")",
    )  # fmt: skip
    group.add_argument(
        "--min-informative", type=float, default=0.0, metavar="SHARE",
        help="least share of positions, 0 to 1, at which both bases are a single nucleotide (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--min-score", type=float, default=0.0, metavar="Q",
        help="least mean quality of a match; samples need qualities unless it is 0 (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--method", default="auto", choices=METHODS,
        help="how matches are found; all methods find the same ones (default: %(default)s). planes is without "
        "--max-edits, lanes is with it",
    )  # fmt: skip
    if not report:
        return
    group.add_argument(
        "--report", default="best", choices=REPORTS,
        help="of a sample and a signature on a strand: the match of the fewest mismatches, then of the highest score, "
        "then the leftmost; the leftmost one; or all; read: one row per sample, the best match of all signatures on "
        "all strands, and whether others match as well (default: %(default)s)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Scan samples and write the reports and the figure.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    if has_sheet(args):
        OutputOptions.resolve(args, FORMATS)
        take_signatures(args, None)
        return run_sheet(args, SHEET, _scanning_samples)
    take_signatures(args, "samples")
    combined = is_combined(args)
    if not combined:
        begin_engine(args, draws="plot_samples")
    options = _checked_options(args)
    samples = tuple(with_reference(args, args.samples))
    job = signatures.ScanJob(samples, args.signatures, options, patterns_of(args))
    if not combined:
        oclgenomics.select_device(args.device)  # a missing device is reported before anything is read
    if args.shard is not None:
        return write_shard(args, job, "scanning")
    job.open()
    with work_of(args) as work:
        _scan(args, job, work)
        work.report_profile()
    say_written(args)
    return 0


@contextmanager
def _scanning_samples(args: argparse.Namespace) -> Iterator[MakeSample]:
    """Read the signatures, open the device, and lend what scans a sample."""
    begin_engine(args, draws="plot_samples")
    every = signatures.ScanJob((), args.signatures, _options(args), patterns_of(args))
    oclgenomics.select_device(args.device)
    every.open()
    with open_engine(args) as engine, jobs.keeping(engine):

        def make(sample: argparse.Namespace) -> None:
            _scan(sample, every.of(with_reference(sample, sample.samples)), work_on(sample, engine))

        yield make
        report_profile(args, engine)


def _scan(args: argparse.Namespace, job: signatures.ScanJob, work: Work) -> None:
    """Write all outputs of a scan, and say what was found."""
    progress = started_progress(args, "scanning")
    panel, options = job.signatures, job.options
    totals, chosen = signatures.ScanTotals(panel), signatures.ChosenSamples(panel, options)
    seen = [lambda _: progress.clear(), totals.add, *([chosen.add] if args.plot or args.html else [])]
    start, made = time.perf_counter(), work.provenance()
    parts = work.parts(job, signatures.Run(args.threads, progress.update))
    with closing(parts), ExitStack() as stack:
        reports = [
            (stack.enter_context(text_output(path, "wb")), report)
            for path, report in _reports(args, panel, options, made)
        ]
        signatures.write_reports(parts, reports, on_part=seen, flush=STANDARD in args.samples)
    seconds = time.perf_counter() - start
    title = input_title(args.samples)
    if args.plot:
        plots.draw_figure(args.plot, plots, "plot_samples", chosen, title=title)
    if args.html:
        write_page(args, plots.scan_page(chosen, title=title, more=elsewhere(args)).text(made))
    if args.multiqc:
        write_content(args, formats.totals_content(sample_name(args, args.samples), totals))
    _say_totals(args, totals, seconds)


def _options(args: argparse.Namespace) -> ScanOptions:
    return signatures.ScanOptions(
        args.report, args.strand, args.method, args.max_mismatches, args.min_informative, args.min_score,
        args.max_edits, args.format in formats.ALIGNED_FORMATS, args.overhang, args.overhang_at,
    )  # fmt: skip


def _checked_options(args: argparse.Namespace) -> ScanOptions:
    """Refuse options that contradict each other, before a device starts."""
    OutputOptions.resolve(args, FORMATS)
    options = _options(args)
    if options.alignments and has_pieces(args) and not args.pieces[0].record.parameters["alignments"]:
        raise UsageError(f"--format {args.format}: the pieces have no alignments; give this option with --shard, too")
    if [*args.samples, args.signatures].count(STANDARD) > 1:
        raise UsageError("standard input (-) can be read once; name files for the others")
    formats.check_format(args.format, options)
    if args.sample_report:
        formats.check_certainty(options)
    if args.plot:
        plots.plot_format(args.plot)
    return options


def _ending(args: argparse.Namespace) -> str:
    return f".matches.{'txt' if args.format == 'course' else args.format}"


SHEET = SheetUse("samples", _ending, check=_checked_options)


def _reports(
    args: argparse.Namespace, panel: Panel, options: ScanOptions, made: dict[str, Any]
) -> Iterator[tuple[str, ScanReport]]:
    """The files to write, and what goes into them."""
    yield args.output, formats.make_report(args.format, panel, options, provenance=made)
    if args.summary:
        yield args.summary, formats.SummaryReport(panel, made)
    if args.sample_report:
        yield args.sample_report, formats.CertaintyReport(panel, options, made)


def _say_totals(args: argparse.Namespace, totals: ScanTotals, seconds: float) -> None:
    rate = totals.letters / max(seconds, 1e-9) / 1e6
    matches = number_of(totals.hits, "match", "matches")
    say(
        args,
        f"{number_of(totals.samples, 'sample')}, {totals.letters:,} bp; {matches} of "
        f"{number_of(totals.signatures, 'signature')} in {number_of(totals.matching_samples, 'sample')}; "
        f"{seconds:.2f} s ({rate:,.1f} Mbp/s)",
    )
    for warning in totals.warnings():
        say(args, f"warning: {warning}")
