"""What `oclgenomics omega scan` does: checks, then alignments through the scanner into the report and the figure."""

from __future__ import annotations

import argparse
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oclgenomics.cli.omega.options import given_threshold, scan_options
from oclgenomics.cli.omega.report_names import ReportNames
from oclgenomics.cli.options import first_read, open_engine, report_profile
from oclgenomics.cli.output import OutputOptions, atomic_output, provenance, say, say_written
from oclgenomics.cli.progress import Progress
from oclgenomics.cli.read_options import read_options, say_unphased
from oclgenomics.commandkit.files import FileConflictError, named_files
from oclgenomics.errors import UsageError
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.plots.scans import plot_scans
from oclgenomics.omega.reports.scans import FORMATS, Report, make_report, summary_line
from oclgenomics.omega.result import Scan
from oclgenomics.plot_style import plot_format, save_plot

if TYPE_CHECKING:
    from oclgenomics.runtime import Engine
    from oclgenomics.variation.alignment import Alignment
    from oclgenomics.variation.bed import BedRegions

__all__ = ["check_outputs", "scan_input"]

SHOWN_ALIGNMENTS = 20  # summaries on standard error without -v


@dataclass
class Tally:
    """What the whole scan came to; scans are kept for the figure alone."""

    alignments: int = 0
    positions: int = 0
    scores: int = 0
    without_omega: int = 0
    seconds: float = 0.0
    names: set[str] = field(default_factory=set)
    replicates: bool = False
    kept: list[Scan] = field(default_factory=list)

    def add(self, scan: Scan, seconds: float) -> None:
        """Count a scan that took so long."""
        self.alignments += 1
        self.positions += len(scan.positions)
        self.scores += scan.stats.scores
        self.without_omega += scan.best is None
        self.seconds += seconds
        self.names.add(scan.name)


def scan_input(args: argparse.Namespace) -> int:
    """Run the command; see `oclgenomics.cli.omega.run`."""
    from oclgenomics.runtime import select_device
    from oclgenomics.variation.bed import read_bed

    options = scan_options(args)
    check_outputs(args)
    lines = _threshold_lines(args, options)
    exclude = read_bed(args.exclude) if args.exclude else None
    select_device(args.device)  # a device that is not there is told before hours of reading
    progress = Progress(enabled=not args.quiet)
    tally = Tally()
    with closing(_alignments(args, progress)) as reading:
        alignments = first_read(reading, args.input)
        with open_engine(args) as engine:
            scans = _scans(args, options, alignments, engine, progress, tally, exclude)
            with closing(scans):
                _write_scans(args, scans, provenance(args, engine))
            _say_totals(args, tally)
            _say_excluded(args, tally, exclude)
            report_profile(args, engine)
    if args.plot:
        _write_plot(args, tally, lines)
    say_written(args)
    return 0


def check_outputs(args: argparse.Namespace) -> OutputOptions:
    """Settle the report's format, and refuse options that contradict each other.

    Raises
    ------
    UsageError
        They do.
    """
    output = OutputOptions.resolve(args, FORMATS)
    if args.no_separator and args.format != "omegaplus":
        raise UsageError("--no-separator has no effect without --format omegaplus")
    if args.reports and args.output == "-":
        raise UsageError("--reports writes several files; name them with -o")
    if args.plot:
        plot_format(args.plot)
    return output


def _alignments(args: argparse.Namespace, progress: Progress) -> Generator[Alignment, None, None]:
    """Alignments of the input; the reader's progress is shown while each is read."""
    from oclgenomics.variation import PREFETCH_BYTES, read_alignments

    reading = read_alignments(
        args.input,
        read_options(args, args.samples),
        threads=args.threads,
        prefetch=PREFETCH_BYTES,
        progress=progress.update,
    )
    progress.stage("reading", "MB", 1e6)
    with closing(reading):
        for number, alignment in enumerate(reading):
            progress.clear()
            if not number:
                _look_at_first(args, alignment)
            if number < SHOWN_ALIGNMENTS or args.verbose:
                say_unphased(args, alignment)
            yield alignment
            del alignment  # before the next one is read
            progress.stage("reading", "MB", 1e6)


def _look_at_first(args: argparse.Namespace, alignment: Alignment) -> None:
    """Refuse options that do not suit the input, and write the samples."""
    _check_samples(args, alignment)
    if args.samples_out:
        _write_samples(args, alignment)


def _check_samples(args: argparse.Namespace, alignment: Alignment) -> None:
    for option, name in (("--samples", args.samples), ("--samples-out", args.samples_out)):
        if name and not alignment.samples:
            raise UsageError(f"{option} {name}: this input does not name its samples; leave the option out")


def _write_samples(args: argparse.Namespace, alignment: Alignment) -> None:
    with atomic_output(args.samples_out) as stream:
        stream.writelines(f"{name}\n" for name in alignment.samples)


def _scans(
    args: argparse.Namespace,
    options: ScanOptions,
    alignments: Iterator[Alignment],
    engine: Engine,
    progress: Progress,
    tally: Tally,
    exclude: BedRegions | None,
) -> Generator[Scan, None, None]:
    """Scan, and say in a line for each alignment what was found."""
    from oclgenomics.omega.batch import batches
    from oclgenomics.omega.device.scanner import OmegaScanner
    from oclgenomics.omega.scan import scan_alignments

    scanner = OmegaScanner(engine)
    for batch in batches(alignments):
        progress.stage(f"scanning {_batch_name(batch)}", "positions")
        began = time.perf_counter()
        found = scan_alignments(batch, options, scanner, progress.update, exclude=exclude)
        seconds = (time.perf_counter() - began) / len(batch)
        progress.clear()
        tally.replicates = batch[0].alphabet == "binary"  # simulated data: one region many times
        del batch  # before the next one is read
        for scan in found:
            tally.add(scan, seconds)
            if args.plot:
                tally.kept.append(scan)
            _say_scan(args, options, scan, seconds, level=0 if tally.alignments <= SHOWN_ALIGNMENTS else 1)
            yield scan


def _batch_name(batch: Sequence[Alignment]) -> str:
    """The names of the alignments at work, for the progress line."""
    return batch[0].name if len(batch) == 1 else f"{batch[0].name} to {batch[-1].name}"


def _say_scan(args: argparse.Namespace, options: ScanOptions, scan: Scan, seconds: float, level: int) -> None:
    warning = "warning: " * (scan.best is None)
    say(args, f"{warning}{summary_line(scan)}; {seconds:.2f} s", level)
    if scan.maxwin < options.maxwin:
        why = "compat precision allows 10,000 sites in a window"
        say(args, f"{scan.name}: --maxwin narrowed to {scan.maxwin:,} bp, as {why}", level)
    work = f"{scan.stats.pairs:,} pairs of sites, {scan.stats.scores:,} omegas"
    say(args, f"{scan.name}: {work}", max(level, 1))


def _say_totals(args: argparse.Namespace, tally: Tally) -> None:
    if tally.alignments > SHOWN_ALIGNMENTS and not args.verbose:
        say(args, f"... and {tally.alignments - SHOWN_ALIGNMENTS:,} more alignments (-v shows them)")
    if tally.without_omega:
        say(
            args,
            f"warning: {tally.without_omega:,} of {tally.alignments:,} alignments have no omega at all: fewer than 4 "
            "sites are left, or no window holds enough of them",
        )
    rate = tally.scores / tally.seconds / 1e6 if tally.seconds else 0.0
    say(
        args,
        f"{tally.alignments:,} alignment{'s' * (tally.alignments != 1)}, {tally.positions:,} positions, "
        f"{tally.scores:,} omegas in {tally.seconds:.2f} s ({rate:,.1f} million/s)",
    )


def _say_excluded(args: argparse.Namespace, tally: Tally, exclude: BedRegions | None) -> None:
    if exclude is not None and not tally.names & set(exclude.names):
        theirs = ", ".join(exclude.names[:3]) or "none"
        ours = ", ".join(sorted(tally.names)[:3])
        say(args, f"warning: --exclude {args.exclude}: no chromosome of the input ({ours}) is named there ({theirs})")


def _write_scans(args: argparse.Namespace, scans: Iterator[Scan], provenance: dict[str, Any]) -> None:
    """Write each scan as soon as it is there: into one report, or into one of its own."""
    if args.reports:
        names = ReportNames(args.output, named_files(args.parser, args))
        for scan in scans:
            with atomic_output(_report_name(names, scan)) as stream:
                report = _report(args, provenance)
                stream.write(report.head() + report.body(scan) + report.tail())
        return
    report = _report(args, provenance)
    with atomic_output(args.output) as stream:
        stream.write(report.head())
        for scan in scans:
            stream.write(report.body(scan))
        stream.write(report.tail())


def _report(args: argparse.Namespace, provenance: dict[str, Any]) -> Report:
    return make_report(args.format, provenance=provenance, all_columns=args.all, separator=not args.no_separator)


def _report_name(names: ReportNames, scan: Scan) -> str:
    try:
        return names.name(scan.name, scan.replicate)
    except FileConflictError as error:
        raise UsageError(str(error)) from None


def _threshold_lines(args: argparse.Namespace, options: ScanOptions) -> list[tuple[float, str]]:
    """Omega and label of each line that the figure shows."""
    from oclgenomics.omega.significance.threshold_file import check_comparable

    if args.threshold is None:
        return []
    if not args.plot:
        raise UsageError(f"--threshold {args.threshold}: it draws a line into the figure; give --plot FILE as well")
    given = given_threshold(args.threshold)
    if isinstance(given, float):
        return [(given, "threshold")]
    check_comparable(given, asdict(options), "this scan", f"--threshold {args.threshold}")
    return [(threshold.omega, f"{100 * threshold.fpr:g} % of neutral") for threshold in given.thresholds]


def _write_plot(args: argparse.Namespace, tally: Tally, lines: list[tuple[float, str]]) -> None:
    title = "standard input" if args.input == "-" else Path(args.input).name
    layout = "replicates" if tally.replicates else "chromosomes"
    figure = plot_scans(tally.kept, title=title, layout=layout, thresholds=lines)
    with atomic_output(args.plot, "wb") as stream:
        save_plot(figure, stream, plot_format(args.plot))
