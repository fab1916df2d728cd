"""`oclgenomics omega threshold`: how large an omega neutral data reach, and how often sweeps exceed that."""

from __future__ import annotations

import argparse
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from oclgenomics.cli.omega.options import add_method_options, add_site_options, add_window_options, scan_options
from oclgenomics.cli.options import (
    add_device_options,
    add_output_options,
    count,
    open_engine,
    report_profile,
)
from oclgenomics.cli.output import OutputOptions, provenance, say, say_written
from oclgenomics.cli.progress import Progress
from oclgenomics.cli.read_options import add_reading_options, read_options, say_unphased
from oclgenomics.cli.simulate.omega import add_population_options, neutral_region
from oclgenomics.commandkit.files import reads
from oclgenomics.errors import UsageError
from oclgenomics.io.threads import usable_cores

if TYPE_CHECKING:
    from oclgenomics.omega.device.scanner import OmegaScanner
    from oclgenomics.omega.options import ScanOptions
    from oclgenomics.omega.reports.reading import OmegaReport
    from oclgenomics.omega.result import Scan
    from oclgenomics.omega.significance.threshold_file import Significance, SweepResults
    from oclgenomics.omega.significance.thresholds import Maxima, Threshold
    from oclgenomics.variation.alignment import Alignment

__all__ = ["add_parser", "run"]

FORMATS = ("tsv", "json")
DEFAULT_REPLICATES = 1_000
SHOWN_ALIGNMENTS = 20  # of which unphased calls are told without -v
SIMULATION_OPTIONS = (
    "samples", "replicates", "sites", "population_size", "mutation_rate", "recombination_rate", "theta", "rho",
    "engine", "growth_rate", "jobs",
)  # fmt: skip


def add_parser(actions: Any) -> None:
    """Add `threshold` to the actions of `omega`."""
    parser = actions.add_parser(
        "threshold",
        help="omega thresholds and p-values from neutral replicates; detection rate on simulated sweeps",
        description="Scan neutral replicates, read from a file or simulated, and give the omega that a neutral "
        "alignment exceeds with a given probability, p-values for the peaks of a scan, and the detection rate on "
        "replicates with a sweep. Take the options of the scan whose peaks are judged.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    replicates = parser.add_argument(
        "input", metavar="INPUT", nargs="?",
        help="neutral replicates (ms, or any other format); - for standard input (default: they are simulated)",
    )  # fmt: skip
    reads(replicates)
    add_window_options(parser)
    add_reading_options(parser.add_argument_group("input and region"))
    _add_simulation_options(parser)
    add_site_options(parser, "seed of the simulation and of the draws, 1 or more")
    add_method_options(parser)
    _add_question_options(parser)
    add_output_options(parser)
    add_device_options(parser)


def _add_simulation_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("simulation (without INPUT; needs --length, --samples and --seed)")
    group.add_argument("--samples", type=int, metavar="N", help="haplotypes, as many as in the data")
    group.add_argument(
        "--replicates", type=count, metavar="N", help=f"neutral alignments (default: {DEFAULT_REPLICATES})"
    )
    group.add_argument(
        "--sites", type=int, metavar="N", help="exact number of segregating sites (default: by the mutation rate)"
    )
    group.add_argument("--jobs", type=count, metavar="N", help="processes that simulate (default: one per CPU)")
    add_population_options(parser, "neutral population (without INPUT)")
    group.add_argument(
        "--growth-rate", type=float, metavar="G",
        help="exponential growth per generation, up to today's N; needs --engine msprime (default: 0)",
    )  # fmt: skip


def _add_question_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("questions")
    group.add_argument(
        "--fpr", default="0.05", metavar="F,F,...", help="false-positive rates per replicate (default: %(default)s)"
    )
    report = group.add_argument(
        "--scan", metavar="REPORT", help="tsv or json report of `omega scan` whose peaks get p-values"
    )
    reads(report)
    group.add_argument(
        "--peaks", type=count, default=20, metavar="N",
        help="how many peaks of --scan, the highest whose windows do not overlap (default: %(default)s)",
    )  # fmt: skip
    sweeps = group.add_argument(
        "--sweeps", metavar="FILE", help="replicates with a sweep, of the same length; needs --site"
    )
    reads(sweeps)
    group.add_argument("--site", type=count, metavar="BP", help="true position of the selected site in --sweeps")
    group.add_argument(
        "--within", type=count, metavar="BP",
        help="count detections at most so far from --site, too (default: those anywhere only)",
    )  # fmt: skip
    group.add_argument("--format", metavar="tsv|json", help="format of the results (default: tsv)")


def run(args: argparse.Namespace) -> int:
    """Scan neutral replicates, and sweeps if there are any, and write what they say.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.omega.device.scanner import OmegaScanner
    from oclgenomics.omega.sources import first_read
    from oclgenomics.runtime import select_device

    options = scan_options(args)
    output = OutputOptions.resolve(args, FORMATS)
    rates = _check(args)
    report = _report_to_judge(args, options)
    select_device(args.device)  # a device that is not there is told before the work
    progress = Progress(enabled=not args.quiet)
    neutral = first_read(_neutral(args), args.input or "the simulation")
    with open_engine(args) as engine:
        scanner = OmegaScanner(engine)
        found = _significance(args, options, rates, _Scans(neutral, options, scanner, progress))
        if args.sweeps:
            alignments = first_read(_read(args, args.sweeps), args.sweeps)
            found.sweeps = _sweeps(args, found, _Scans(alignments, options, scanner, progress))
        made = provenance(args, engine)
        report_profile(args, engine)
    if report is not None:
        _judge(args, found, report)
    _write(output, found, made)
    say_written(args)
    return 0


def _check(args: argparse.Namespace) -> list[float]:
    """Refuse options that contradict each other; the false-positive rates."""

    if (args.site is None) != (args.sweeps is None):
        raise UsageError("--sweeps FILE and --site BP belong together: replicates, and where their sweep was")
    if args.within is not None and args.sweeps is None:
        raise UsageError("--within has no effect without --sweeps")
    if args.site is not None and args.length is not None and args.site > args.length:
        raise UsageError(f"--site {args.site} lies beyond --length {args.length}")
    _check_source(args)
    rates = _rates(args.fpr)
    if args.input is None:
        _check_replicates(args.replicates, rates)
    return rates


def _check_source(args: argparse.Namespace) -> None:
    """The replicates are read or simulated, not both."""
    if args.input is not None:
        for name in SIMULATION_OPTIONS:
            if getattr(args, name) is not None:
                raise UsageError(
                    f"--{name.replace('_', '-')} has no effect: the replicates of {args.input} are read, not simulated"
                )
        return
    for name in ("length", "samples", "seed"):
        if getattr(args, name) is None:
            raise UsageError(f"give neutral replicates as INPUT, or --{name} and the others to simulate them")
    if args.replicates is None:
        args.replicates = DEFAULT_REPLICATES
    if args.growth_rate and args.engine != "msprime":
        raise UsageError("--growth-rate needs --engine msprime; the own simulator keeps the population constant")


def _rates(text: str) -> list[float]:
    try:
        rates = [float(word) for word in text.split(",")]
    except ValueError:
        raise UsageError(f"--fpr {text}: give rates such as 0.05 or 0.05,0.01") from None
    for rate in rates:
        if not 0 < rate < 1:
            raise UsageError(f"--fpr {rate:g}: a false-positive rate lies between 0 and 1")
    return rates


def _check_replicates(replicates: int, rates: list[float]) -> None:
    """Refuse before the work what `thresholds` would refuse after it."""
    import numpy as np

    from oclgenomics.omega.significance.thresholds import thresholds

    thresholds(np.zeros(replicates), rates)


def _report_to_judge(args: argparse.Namespace, options: ScanOptions) -> OmegaReport | None:
    from oclgenomics.omega.reports.reading import read_report
    from oclgenomics.omega.significance.threshold_file import ThresholdFile, check_comparable
    from oclgenomics.omega.significance.thresholds import Maxima

    if args.scan is None:
        return None
    import numpy as np

    report = read_report(args.scan)
    ours = ThresholdFile("", [], Maxima(np.zeros(0), np.zeros(0)), asdict(options), args.length)
    check_comparable(ours, report.parameters, args.scan, "omega threshold")
    return report


def _neutral(args: argparse.Namespace) -> Iterator[Alignment]:
    from oclgenomics.simulate.replicates import neutral_alignments

    if args.input is not None:
        return _read(args, args.input)
    region = neutral_region(args)
    return neutral_alignments(
        region, args.seed, args.replicates, engine=args.engine, growth_rate=args.growth_rate or 0.0,
        processes=usable_cores() if args.jobs is None else args.jobs,
    )  # fmt: skip


def _read(args: argparse.Namespace, path: str) -> Iterator[Alignment]:
    from oclgenomics.variation import PREFETCH_BYTES, read_alignments

    reading = read_alignments(path, read_options(args), threads=args.threads, prefetch=PREFETCH_BYTES)
    for number, alignment in enumerate(reading):
        if number < SHOWN_ALIGNMENTS or args.verbose:
            say_unphased(args, alignment)
        yield alignment
        del alignment  # before the next one is read


class _Scans:
    """Scans of alignments as they come; counts them."""

    def __init__(
        self, alignments: Iterator[Alignment], options: ScanOptions, scanner: OmegaScanner, progress: Progress
    ) -> None:
        self._alignments, self._options, self._scanner, self._progress = alignments, options, scanner, progress
        self.count = self.sites = self.haplotypes = 0

    def each(self, label: str, total: int | None) -> Generator[Scan, None, None]:
        from oclgenomics.omega.batch import batches
        from oclgenomics.omega.scan import scan_alignments

        self._progress.stage(label, "replicates")
        for batch in batches(self._shown(total)):
            for scan in scan_alignments(batch, self._options, self._scanner):
                self.count += 1
                self.sites += scan.sites
                self.haplotypes = max(self.haplotypes, scan.haplotypes)
                yield scan
        self._progress.clear()

    def _shown(self, total: int | None) -> Iterator[Alignment]:
        for number, alignment in enumerate(self._alignments, start=1):
            self._progress.update(number, total)
            yield alignment


def _significance(args: argparse.Namespace, options: ScanOptions, rates: list[float], scans: _Scans) -> Significance:
    """Thresholds from the neutral replicates."""
    from oclgenomics.omega.significance.threshold_file import Significance
    from oclgenomics.omega.significance.thresholds import Maxima, thresholds

    with closing(scans.each("neutral", args.replicates)) as each:
        maxima = Maxima.of(each)
    found = thresholds(maxima.omega, rates)
    _say_neutral(args, maxima, found, scans)
    shown = {name: sorted(v) if isinstance(v, frozenset) else v for name, v in asdict(options).items()}
    return Significance(shown, args.length, scans.haplotypes, scans.sites / scans.count, maxima, found)


def _say_neutral(args: argparse.Namespace, maxima: Maxima, found: list[Threshold], scans: _Scans) -> None:
    import numpy as np

    from oclgenomics.omega.significance.thresholds import FEW_MAXIMA, replicates_for

    say(
        args,
        f"{len(maxima):,} neutral replicates, {scans.haplotypes:,} haplotypes, {scans.sites / scans.count:,.0f} sites "
        f"on average; largest omega: median {np.median(maxima.omega):,.6g}, highest {maxima.omega.max():,.6g}",
    )
    nothing = int((maxima.omega == 0).sum())
    if nothing:
        say(args, f"warning: {nothing:,} replicates have no omega above 0 and count as 0")
    for one in found:
        say(
            args,
            f"false-positive rate {one.fpr:g}: omega above {one.omega:,.6g} (rank {one.rank:,} of {one.replicates:,} "
            f"maxima; expected rate {one.expected_fpr:.4f}, standard deviation {one.fpr_error:.4f})",
        )
        if one.rank < FEW_MAXIMA:
            enough = replicates_for(one.fpr, FEW_MAXIMA)
            say(args, f"warning: --fpr {one.fpr:g} rests on few maxima; take {enough:,} replicates or more")


def _sweeps(args: argparse.Namespace, found: Significance, scans: _Scans) -> SweepResults:
    """Detection of the sweep replicates, told on the way."""
    from oclgenomics.omega.significance.threshold_file import SweepResults
    from oclgenomics.omega.significance.thresholds import Maxima, detection, localisation

    with closing(scans.each("sweeps", None)) as each:
        maxima = Maxima.of(each)
    if scans.haplotypes != found.haplotypes:
        say(
            args, f"warning: {scans.haplotypes:,} haplotypes in {args.sweeps}, {found.haplotypes:,} in the neutral data"
        )
    counted = detection(maxima, found.thresholds, args.site, args.within)
    distance = localisation(maxima, args.site, args.within)
    for one in counted:
        near = "" if one.detected_within is None else f", {one.detected_within:,} within {args.within:,} bp of the site"
        say(
            args,
            f"false-positive rate {one.threshold.fpr:g}: {one.detected:,} of {one.replicates:,} sweeps detected "
            f"({one.rate:.1%}){near}",
        )
    if distance.mean is not None and distance.median is not None:
        say(
            args, f"distance from the site: mean {distance.mean:,.0f} bp, median {distance.median:,.0f} bp, "
            f"95 % within {distance.quantiles[0.95]:,.0f} bp",
        )  # fmt: skip
    return SweepResults(maxima, args.site, counted, distance)


def _judge(args: argparse.Namespace, found: Significance, report: OmegaReport) -> None:
    """P-values for the highest peaks of a scan."""
    from oclgenomics.omega.peaks import best_windows
    from oclgenomics.omega.significance.threshold_file import ThresholdFile, comparison_warnings
    from oclgenomics.omega.significance.thresholds import p_values

    found.peaks = best_windows(report.tracks, args.peaks)
    ours = ThresholdFile("", found.thresholds, found.maxima, found.scan, found.length)
    for warning in comparison_warnings(ours, report):
        say(args, f"warning: {warning}")
    for peak in found.peaks[:3]:
        p = float(p_values(peak.omega, found.maxima.omega))
        say(args, f"{peak.chromosome}: omega {peak.omega:,.6g} at {peak.position:,.0f} bp, p = {p:.3g}")
    if not found.peaks:
        say(args, f"{args.scan} holds no omega above 0")


def _write(output: OutputOptions, found: Significance, made: dict[str, Any]) -> None:
    from oclgenomics.omega.reports.scans import provenance_lines
    from oclgenomics.omega.significance.threshold_file import as_json, as_tsv

    output.write(as_json(found, made) if output.format == "json" else as_tsv(found, made, provenance_lines(made)))
