"""`oclgenomics omega threshold`: how large an omega neutral data reach, and how often sweeps exceed that."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import oclgenomics
from oclgenomics import omega
from oclgenomics.app import commands as app
from oclgenomics.app.files import reads
from oclgenomics.app.inputs import add_reading_options, add_region_to_read, read_options, say_unphased
from oclgenomics.app.spread import add_spread_options, has_pieces, is_combined, work_of, write_shard
from oclgenomics.errors import UsageError
from oclgenomics.lazy_names import late
from oclgenomics.notices import number_of
from oclgenomics.omega import formats, significance, sites
from oclgenomics.omega.commands import options as shared
from oclgenomics.omega.commands.null_data import add_data_options, settle_defaults
from oclgenomics.simulate.commands.neutral import add_simulation_options, check_simulation, neutral_replicates

if TYPE_CHECKING:
    from oclgenomics.variation import Alignment, ReadOptions


shared_significance = late("oclgenomics.app.significance")

FORMATS = ("tsv", "json")
SHOWN_ALIGNMENTS = 20  # of which unphased calls are reported without -v
SHOWN_PEAKS = 3


def add_parser(actions: Any) -> None:
    """Add `threshold` to the actions of `omega`."""
    parser = app.add_command(
        actions, run, "threshold",
        help="omega thresholds and p-values from neutral replicates; detection rate on simulated sweeps",
        description="Scan neutral replicates, read from a file or simulated, and give the omega that a neutral "
        "alignment exceeds with a given probability, p-values for the peaks of a scan, and the detection rate on "
        "replicates with a sweep. Use the options of the scan whose peaks are judged.",
    )  # fmt: skip
    replicates = parser.add_argument(
        "input", metavar="INPUT", nargs="?",
        help="neutral replicates (ms, or any other format); - for standard input (default: they are simulated)",
    )  # fmt: skip
    reads(replicates)
    shared.add_window_options(parser, required=False)
    group = parser.add_argument_group("input and region")
    add_reading_options(group)
    add_region_to_read(group)
    add_simulation_options(parser)
    shared.add_site_options(parser, "seed of the simulation and of the draws, 1 or more")
    shared.add_method_options(parser)
    add_data_options(parser)
    _add_question_options(parser)
    app.add_output_options(parser, formats=FORMATS)
    add_spread_options(parser)
    app.add_device_options(parser)


def _add_question_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("questions")
    group.add_argument(
        "--fpr", default="0.05", metavar="F,F,...", help="false-positive rates per replicate (default: %(default)s)"
    )
    report = group.add_argument(
        "--scan",
        metavar="REPORT",
        help="tsv or json report of `omega scan` whose peaks get p-values, and whose options and data the replicates "
        "are made after",
    )
    reads(report)
    group.add_argument(
        "--peaks", type=app.count, default=20, metavar="N",
        help="number of peaks of --scan, the highest whose windows do not overlap (default: %(default)s)",
    )  # fmt: skip
    sweeps = group.add_argument(
        "--sweeps", metavar="FILE", help="replicates with a sweep, of the same length; needs --site"
    )
    reads(sweeps)
    group.add_argument("--site", type=app.count, metavar="BP", help="true position of the selected site in --sweeps")
    group.add_argument(
        "--within", type=app.count, metavar="BP",
        help="also count the detections at most BP from --site (default: count all, wherever they are)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Scan neutral replicates, and sweeps if there are any, and write what they say.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    output = app.OutputOptions.resolve(args, FORMATS)
    report = None if args.scan is None else omega.read_report(args.scan)
    given = settle_defaults(args, report)
    options, reading = shared.scan_options(args), read_options(args, region=getattr(args, "region", None))
    rates = _check_questions(args)
    if report is not None:
        significance.check_options(omega.scan_parameters(options), report.parameters, args.scan, "omega threshold")
    combined = is_combined(args)
    job = omega.ThresholdJob(
        () if has_pieces(args) else neutral_replicates(args), options, reading, args.exclude, sweeps=args.sweeps,
        observation=given.observation, report=args.scan,
        expected=None if given.haplotypes is None else (given.haplotypes, args.scan),
        questions={name: getattr(args, name) for name in ("fpr", "peaks", "site", "within")},
    )  # fmt: skip
    if not combined:
        oclgenomics.select_device(args.device)  # a device that is not there is reported before the work
    with ExitStack() as stack:
        swept = None if has_pieces(args) else _sweep_replicates(args, reading, stack)
        if args.shard is not None:
            return write_shard(args, job, "scanning", unit=("replicates", 1))
        messages = SignificanceMessages(args)
        how = omega.Run()
        if not combined:
            how = omega.Run(progress=messages.progress)
            job = _begun(replace(job, exclude=given.exclude, sweeps=swept), args)
        work = stack.enter_context(work_of(args))
        parts = stack.enter_context(closing(work.parts(job, how)))
        found = _judged(args, parts, options, rates, given.observation, messages)
        made = work.provenance()
        work.report_profile()
    if report is not None:
        compared = significance.compare(found, report, args.scan, "omega threshold")
        found = replace(found, peaks=tuple(significance.best_windows(report, args.peaks)), compared=compared)
        messages.peaks(found)
    output.write(formats.as_json(found, made) if output.format == "json" else formats.as_tsv(found, made))
    app.say_written(args)
    return 0


def _sweep_replicates(args: argparse.Namespace, reading: ReadOptions, stack: ExitStack) -> Iterator[Alignment] | None:
    """The replicates with a sweep, if any are asked for; what is wrong with the first one is reported before the work.

    Raises
    ------
    InputError
        The file cannot be read, or holds no alignment.
    UsageError
        The first one has another number of haplotypes than those that are simulated.
    """
    if not args.sweeps:
        return None

    def check(first: Alignment) -> None:
        if args.samples not in (None, first.haplotypes):
            raise UsageError(
                f"--sweeps {args.sweeps}: {first.haplotypes:,} haplotypes, {args.samples:,} in the neutral data, for "
                "which thresholds are others; make both of the same number"
            )

    read = stack.enter_context(closing(sites.open_alignments(args.sweeps, reading, threads=args.threads)))
    return sites.first_read(read, args.sweeps, check)


def _begun(job: omega.ThresholdJob, args: argparse.Namespace) -> omega.ThresholdJob:
    """The same job for this process: the first neutral replicate is there, or what is wrong with it is reported."""
    neutral = job.observed(sites.open_alignments(job.neutral, job.reading, threads=args.threads))
    return replace(
        job, neutral=sites.first_read(neutral, args.input or "the simulation"), observation=None, expected=None,
        sweeps=None if job.sweeps is None else job.observed(sites.open_alignments(job.sweeps), swept=True),
    )  # fmt: skip


def _judged(
    args: argparse.Namespace, parts: Iterator[Any], options: omega.ScanOptions, rates: Sequence[float],
    observation: significance.Observation, messages: SignificanceMessages,
) -> omega.Significance:  # fmt: skip
    """What the replicates say of omegas, and the detection of those with a sweep, if there are any."""

    def together(scans: Iterator[Any]) -> significance.Replicates:
        return significance.Replicates.of(messages.seen(scans))

    kinds = itertools.groupby(parts, key=lambda part: part.swept)
    messages.begin("neutral", args.replicates)
    found = together(next(kinds)[1]).significance(options, rates, args.length)
    messages.thresholds(found)
    if not args.sweeps:
        return found
    messages.begin("sweeps", None)
    site = args.site + observation.first - 1 if observation.chromosome else args.site
    sweeps = together(next(kinds)[1]).sweep_results(found.thresholds, site, args.within)
    if found.data is not None and sweeps.data is not None:
        unlike = significance.check_sweeps(found.data, sweeps.data, f"--sweeps {args.sweeps}")
        if unlike is not None:
            app.say(args, f"warning: {unlike}")
    found = replace(found, sweeps=sweeps)
    messages.sweeps(found)
    return found


def _check_questions(args: argparse.Namespace) -> list[float]:
    """Refuse options that contradict each other; return the false-positive rates.

    Raises
    ------
    UsageError
        They do, or a rate is none, or needs more replicates than are simulated.
    """
    if (args.site is None) != (args.sweeps is None):
        raise UsageError("--sweeps FILE and --site BP belong together: replicates, and where their sweep was")
    if args.within is not None and args.sweeps is None:
        raise UsageError("--within has no effect without --sweeps")
    if args.site is not None and args.length is not None and args.site > args.length:
        raise UsageError(f"--site {args.site} lies beyond --length {args.length}")
    if not has_pieces(args):  # of which the options are settled
        check_simulation(args)
    rates: list[float] = shared_significance.rates_of(args.fpr)
    if args.input is None:
        omega.thresholds([0.0] * args.replicates, rates)  # refuses before the work what it would refuse after it
    return rates


class SignificanceMessages:
    """Tells how the replicates are scanned and what they say.

    Parameters
    ----------
    args : Namespace
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self._args, self._say = args, partial(app.say, args)
        self._progress = app.started_progress(args, "neutral", "replicates", 1)
        self._total: int | None = None
        self._scanned = 0

    def begin(self, label: str, total: int | None) -> None:
        """Begin with other replicates, so many of them, if that is known."""
        self._progress.stage(label, "replicates")
        self._total, self._scanned = total, 0

    def progress(self, done: int, _total: int | None) -> None:
        """Show how many replicates have come."""
        self._progress.update(done, self._total)

    def seen(self, scans: Iterator[Any]) -> Iterator[Any]:
        """Give the same scans, and tell what is odd about their replicates, if they were not made so."""
        for scan in scans:
            self._scanned += 1
            shown = self._scanned <= SHOWN_ALIGNMENTS or self._args.verbose
            if shown and scan.read.unphased_calls and not self._args.genotypes:
                self._progress.clear()
                say_unphased(self._args, scan.read)
            yield scan

    def thresholds(self, found: omega.Significance) -> None:
        """Tell what the neutral replicates came to."""
        self._progress.clear()
        maxima = found.maxima
        self._say(
            f"{number_of(len(maxima), 'neutral replicate')}, {found.haplotypes:,} haplotypes, "
            f"{found.mean_sites:,.0f} sites on average; largest omega: "
            f"median {maxima.median:,.6g}, highest {maxima.omega.max():,.6g}",
        )
        nothing = int((maxima.omega == 0).sum())
        if nothing:
            self._say(f"warning: {number_of(nothing, 'replicate')} without any omega above 0, counted as 0")
        for one in found.thresholds:
            self._say(
                f"false-positive rate {one.fpr:g}: omega above {one.omega:,.6g} (rank {one.rank:,} of "
                f"{one.replicates:,} maxima; expected rate {one.expected_fpr:.4f}, standard deviation "
                f"{one.fpr_error:.4f})",
            )
            few = shared_significance.said_of_few(one.fpr, one.replicates)
            if few:
                self._say(f"warning: {few}")

    def sweeps(self, found: omega.Significance) -> None:
        """Tell how many sweeps are detected, and where."""
        self._progress.clear()
        sweeps = found.sweeps
        assert sweeps is not None
        for one in sweeps.detection:
            close = one.detected_within
            near = "" if close is None else f", {close:,} within {self._args.within:,} bp of the site"
            detected = f"{one.detected:,} of {one.replicates:,} sweeps detected ({one.rate:.1%}){near}"
            self._say(f"false-positive rate {one.threshold.fpr:g}: {detected}")
        self._say_distance(sweeps.localisation)

    def _say_distance(self, distance: significance.Localisation) -> None:
        if distance.mean is not None and distance.median is not None:
            self._say(
                f"distance from the site: mean {distance.mean:,.0f} bp, median {distance.median:,.0f} bp, "
                f"95 % within {distance.quantiles[0.95]:,.0f} bp",
            )

    def peaks(self, found: omega.Significance) -> None:
        """Tell the p-values of the highest peaks, and what may make them something else."""
        if found.compared is not None:
            shared.say_compared(self._args, found.compared)
        for peak in (found.peaks or ())[:SHOWN_PEAKS]:
            where = f"{peak.chromosome}: omega {peak.omega:,.6g} at {peak.position:,.0f} bp"
            self._say(f"{where}, p = {float(found.p_values(peak.omega)):.3g}")
        if not found.peaks:
            self._say(f"{self._args.scan} holds no omega above 0")
