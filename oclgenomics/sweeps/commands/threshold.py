"""`oclgenomics sweeps threshold`: how extreme values of statistics neutral data reach."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import oclgenomics
from oclgenomics import sweeps
from oclgenomics.app import commands as app
from oclgenomics.app.files import reads
from oclgenomics.app.inputs import add_reading_options, add_region_to_read, read_options
from oclgenomics.app.spread import add_spread_options, has_pieces, is_combined, work_of, write_shard
from oclgenomics.errors import InputError, UsageError
from oclgenomics.lazy_names import late
from oclgenomics.notices import number_of
from oclgenomics.simulate.commands.neutral import add_simulation_options, check_simulation, neutral_replicates
from oclgenomics.sweeps import formats
from oclgenomics.sweeps.commands.scan import add_site_options, add_statistic_options, sweep_options
from oclgenomics.sweeps.options import OWN_OPTIONS, Statistic

if TYPE_CHECKING:
    from oclgenomics.variation import ReadOptions

significance = late("oclgenomics.app.significance")
own = late("oclgenomics.sweeps.significance.thresholds")
beds = late("oclgenomics.variation.bed")
observing = late("oclgenomics.variation.observation")
sources = late("oclgenomics.variation.sources")

FORMATS = ("tsv", "json")
LEAST_SHARE = 0.01  # of bp that are accessible, for how many sites are simulated
# Options of the scan, which --scan has; how each is read from a report.
FROM_REPORT: dict[str, Callable[[Any], Any]] = {
    "statistics": str, "width": int, "edge": int, "step": int, "window": int, "precision": str, "maf": float,
    "missing": str, "max_missing": float, "accessible": str, "min_accessible": float,
    "haplotype_window": int, "haplotype_step": int,
    "ehh_maf": float, "ehh_max_gap": int, "ehh_edge": str,
    "clr_step": int, "clr_folded": lambda word: str(word) == "True", "clr_spectrum": str,
}  # fmt: skip
LATER = ("accessible", "min_accessible")  # which older reports do not have


def add_parser(actions: Any) -> None:
    """Add `threshold` to the actions of `sweeps`."""
    parser = app.add_command(
        actions, run, "threshold",
        help="thresholds and p-values of the statistics from neutral replicates",
        description="Scan neutral replicates, read from a file or simulated, and give the values that a neutral "
        "alignment passes with a given probability, and p-values for the peaks of a scan. Use the options of the scan "
        "that is judged, or --scan.",
    )  # fmt: skip
    reads(parser.add_argument(
        "input", metavar="INPUT", nargs="?",
        help="neutral replicates (ms, or any other format); - for standard input (default: they are simulated)",
    ))  # fmt: skip
    add_statistic_options(parser, grid=False)
    group = parser.add_argument_group("input and region")
    add_reading_options(group)
    add_region_to_read(group)
    group.add_argument("--seed", type=app.whole, metavar="N", help="seed of the simulation, 1 or more")
    add_simulation_options(parser)
    add_site_options(parser, regions=False)
    group = parser.add_argument_group("how the replicates are observed (default: as --scan says)")
    group.add_argument(
        "--genotypes", action="store_true", default=None, help="combine pairs of haplotypes to samples without phase"
    )
    group.add_argument("--missing-calls", type=float, metavar="F", help="share of calls made missing at random")
    group = parser.add_argument_group("questions")
    group.add_argument(
        "--fpr", default="0.05", metavar="F,F,...", help="false-positive rates per replicate (default: %(default)s)"
    )
    group.add_argument(
        "--combine", metavar="NAME,...",
        help="also calibrate the combined score of these statistics (two or more): one half of the replicates says how "
        "rare their values are at a position, the other half what their sum means",
    )  # fmt: skip
    reads(group.add_argument(
        "--scan", metavar="REPORT",
        help="tsv or json report of `sweeps scan` whose peaks get p-values, and whose options and data the replicates "
        "are made after",
    ))  # fmt: skip
    app.add_output_options(parser, formats=FORMATS)
    add_spread_options(parser)
    app.add_device_options(parser)
    shown = {one.dest: one.default for one in parser._actions if one.dest in FROM_REPORT and one.default is not None}
    parser.set_defaults(
        grid=None, **{name: app.FromReport(f"as --scan says, else {value}", value) for name, value in shown.items()}
    )


def run(args: argparse.Namespace) -> int:
    """Scan neutral replicates and write what they say.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    output = app.OutputOptions.resolve(args, FORMATS)
    rates = significance.rates_of(args.fpr)
    report = None if args.scan is None else sweeps.read_report(args.scan)
    _settle(args, report)
    own.check_compared(args.statistics.split(","), simulated=args.input is None)
    options, reading = sweep_options(args), read_options(args, region=getattr(args, "region", None))
    together = sweeps.check_questions(options, rates, _combined(args, options))
    _check_replicates(args, rates, report)
    job = _job(args, options, reading, report)
    if not is_combined(args):
        oclgenomics.select_device(args.device)  # a device that is not there is reported before the work
    if args.shard is not None:
        return write_shard(args, job, "scanning", unit=("replicates", 1))
    found, made = _scanned(args, job, rates, together)
    peaks: list[dict[str, Any]] = []
    if report is not None:
        app.say(args, f"compared with the replicates: {own.compare(found, report, args.scan)}")
        _say_unjudged(args, options, report)
        peaks = _peaks(found, [found.judged(one) for one in report])
    output.write(formats.as_json(found, peaks, made) if output.format == "json" else formats.as_tsv(found, peaks, made))
    _say_thresholds(args, found, peaks)
    app.say_written(args)
    return 0


def _combined(args: argparse.Namespace, options: sweeps.SweepOptions) -> tuple[Statistic, ...]:
    """The statistics that are combined.

    Raises
    ------
    UsageError
        One of them is not computed.
    """
    combined: tuple[Statistic, ...] = tuple(args.combine.split(",")) if args.combine else ()
    for name in combined:
        if name not in options.statistics:
            raise UsageError(f"--combine {args.combine}: {name} is not one of --stat {','.join(options.statistics)}")
    return combined


def _check_replicates(args: argparse.Namespace, rates: Sequence[float], report: sweeps.Scans | None) -> None:
    """Refuse before the work what it would refuse after it.

    Raises
    ------
    UsageError
        Replicates that cannot be simulated, are too few for the rates, or are unlike the data.
    """
    if not has_pieces(args):  # of which the options are settled
        check_simulation(args)
    if args.input is None:
        halved = bool(args.combine)
        for rate in rates:
            significance.rank_for(rate, args.replicates // 2 if halved else args.replicates, halved)
    if report is not None:
        _check_sites(args, report)


def _job(
    args: argparse.Namespace, options: sweeps.SweepOptions, reading: ReadOptions, report: sweeps.Scans | None
) -> sweeps.ThresholdJob:
    """The scan of all replicates."""
    place = ("", 1, 0) if has_pieces(args) else _place(args, report)
    return sweeps.ThresholdJob(
        () if has_pieces(args) else neutral_replicates(args), options, reading,
        observing.Observation(bool(args.genotypes), args.missing_calls or 0.0, *place, seed=args.seed or 1), args.scan,
        {name: getattr(args, name) for name in ("fpr", "combine")},
    )  # fmt: skip


def _scanned(
    args: argparse.Namespace, job: sweeps.ThresholdJob, rates: Sequence[float], together: Sequence[Statistic]
) -> tuple[sweeps.Significance, Any]:
    """What the replicates say, and of what work; they are scanned here, or were in pieces."""
    progress = app.started_progress(args, "neutral", "replicates", 1)
    how = sweeps.Run()
    with ExitStack() as stack:
        if not is_combined(args):
            how = sweeps.Run(progress=lambda done, _: progress.update(done, args.replicates))
            exact = sweeps.reading_for(job.reading, job.options)
            read = sources.open_alignments(job.neutral, exact, threads=args.threads)
            seen = iter(job.observed(stack.enter_context(closing(read))))
            first = sources.first_read(seen, args.input or "the simulation")
            job = replace(job, neutral=first, observation=None)
        work = stack.enter_context(work_of(args))
        scans = stack.enter_context(closing(work.parts(job, how)))
        found = own.Significance.of(scans, job.options.statistics, rates, args.length, together)
        made = work.provenance()
        progress.clear()
        work.report_profile()
    return found, made


def _settle(args: argparse.Namespace, report: sweeps.Scans | None) -> None:
    """Fill in what is not given: from the report, if there is one, else the defaults of a scan.

    Raises
    ------
    UsageError
        The report holds alignments that need thresholds of their own, or none with any row.
    InputError
        The report does not say.
    """
    default = sweeps.sweep_parameters(sweeps.SweepOptions()) | {"missing": None}  # which depends on the precision
    recorded = default if report is None else {}
    if report is not None:
        scan = _one_kind(args, report)
        recorded = dict(scan.parameters)
        _take_data(args, scan, report)
    try:
        for name, kind in FROM_REPORT.items():
            if getattr(args, name) is None or isinstance(getattr(args, name), app.FromReport):
                known = recorded.get(name, default[name]) if name in (*LATER, *OWN_OPTIONS) else recorded[name]
                setattr(args, name, None if str(known) == "None" else kind(known))
    except (KeyError, ValueError):
        raise InputError(f"does not say with which `{name}` was scanned; scan again", source=args.scan) from None
    if str(recorded.get("grid")) != "None":
        raise UsageError(f"--scan {args.scan} has a grid of so many positions; scan with --step instead of --grid")


def _one_kind(args: argparse.Namespace, report: sweeps.Scans) -> sweeps.Scan:
    """The longest scan of a report in which all need the same thresholds."""
    scans = [scan for scan in report if len(scan.positions)]
    if not scans:
        raise UsageError(f"--scan {args.scan}: holds no row to judge; scan data with more sites, or smaller windows")
    kinds = {(scan.facts.haplotypes, scan.facts.genotypes) for scan in scans}
    if len(kinds) > 1:
        raise UsageError(f"--scan {args.scan}: its alignments differ in haplotypes or phase; scan them one by one")
    return max(scans, key=lambda scan: float(scan.end.max() - scan.start.min()))


def _take_data(args: argparse.Namespace, scan: sweeps.Scan, report: sweeps.Scans) -> None:
    """Length, haplotypes, sites and how data are observed, from the report; says what was taken.

    Length and haplotypes are of one scan, and the density of sites is of all.
    """
    taken, facts = [], scan.facts
    if args.genotypes is None and facts.genotypes:
        args.genotypes = True
        taken.append("--genotypes")
    if args.missing_calls is None and facts.missing:
        args.missing_calls = facts.missing
        taken.append(f"--missing-calls {facts.missing:.4g}")
    if args.input is None:
        if args.length is None:
            span = float(scan.end.max() - scan.start.min())
            args.length = round(span * (facts.sites + 1) / max(facts.sites - 1, 1))
            taken.append(f"--length {args.length}")
        if args.samples is None:
            args.samples = facts.haplotypes
            taken.append(f"--samples {args.samples}")
        if args.sites is None and args.theta is None and args.mutation_rate is None:
            spans = [float(one.end.max() - one.start.min()) for one in report if len(one.positions)]
            known = [one.facts.sites - 1 for one in report if len(one.positions)]
            seen = sum(known) / max(sum(spans), 1.0) * args.length - 1
            share = 1.0 if facts.accessible is None else facts.accessible
            args.sites = max(0, round(seen / max(share, LEAST_SHARE)))
            taken.append(f"--sites {args.sites}")
    if taken:
        app.say(args, f"taken from {args.scan}: {' '.join(taken)}")


def _check_sites(args: argparse.Namespace, report: sweeps.Scans) -> None:
    """Refuse before the work a number of sites that is unlike the data, which all replicates would have.

    Raises
    ------
    UsageError
    """
    if args.input is not None or args.sites is None or args.length is None or args.accessible is not None:
        return
    density = (args.sites + 1) / args.length
    for scan in report:
        if len(scan.positions) and not own.like_density(own.density_of(scan), density):
            name = f"--sites {args.sites}"
            raise UsageError(own.unlike_density(name, density, args.scan, scan.name, own.density_of(scan)))


def _place(args: argparse.Namespace, report: sweeps.Scans | None) -> tuple[str, int, int]:
    """Chromosome, first bp and room of the replicates, as `Observation` has them, if --accessible refers to it.

    Raises
    ------
    UsageError
        The file is not there, or it is not known which chromosome they are of.
    """
    if args.accessible is None:
        return "", 1, 0
    if not os.path.exists(args.accessible):  # nor is standard input, which could be read once only
        raise UsageError(f"--accessible {args.accessible}: there is no such file; name that of the scan")
    if not os.path.isfile(args.accessible):
        raise UsageError(f"--accessible {args.accessible}: is a pipe or a device, and it is read twice; give a file")
    mask = beds.read_bed(args.accessible)
    if report is None:
        names = mask.names
        if len(names) != 1:
            raise UsageError(
                f"--accessible {args.accessible}: has {len(names):,} chromosomes, and nothing says which of them the "
                "replicates are of; give --scan REPORT"
            )
        return names[0], 1, 0
    for scan in report:
        if len(scan.positions) and scan.facts.accessible is not None:
            sums = replace(scan.facts, mask=mask.checksum_of(scan.name), masks=mask.checksum)
            own.check_mask(sums, scan, args.scan, args.accessible)
    scan = _one_kind(args, report)
    first, last = float(scan.start.min()), float(scan.end.max())
    return scan.name, max(1, int(first)), 0 if args.length is None else max(0, int(last - first) - args.length)


def _say_unjudged(args: argparse.Namespace, options: sweeps.SweepOptions, report: sweeps.Scans) -> None:
    """Warn of statistics that the report does not have: they get thresholds, and nothing of it a p-value."""
    if missing := [name for name in options.statistics if not any(name in scan.values for scan in report)]:
        app.say(args, f"warning: {args.scan} lacks {', '.join(missing)}: thresholds are given, but no p-values")


def _peaks(found: sweeps.Significance, report: Sequence[sweeps.Scan]) -> list[dict[str, Any]]:
    """The most extreme value of each statistic in each alignment, with its p-value; the least first."""
    peaks = []
    for scan in report:
        for name in found.extremes:
            best = scan.best(name) if name in scan.values else None
            if best is not None:
                value = float(scan.values[name][best])
                place = float(scan.positions[best])
                p = float(found.p_values(name, value))
                peaks.append({"statistic": name, "name": scan.name, "value": value, "position": place, "p_value": p})
    return sorted(peaks, key=lambda one: one["p_value"])


def _best_of_each(peaks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The peak of each statistic that has the lowest p-value, the lowest of all first."""
    found: dict[str, dict[str, Any]] = {}
    for peak in peaks:
        found.setdefault(peak["statistic"], peak)
    return list(found.values())


def _say_thresholds(args: argparse.Namespace, found: sweeps.Significance, peaks: list[dict[str, Any]]) -> None:
    """Report what the replicates came to."""
    app.say(args, f"{number_of(len(found), 'neutral replicate')}, {number_of(found.data.haplotypes, 'haplotype')}")
    few: dict[str, None] = {}
    for one in found.thresholds:
        beyond = "above" if own.sign_of(one.statistic) > 0 else "below"
        app.say(
            args,
            f"false-positive rate {one.fpr:g}: {one.statistic} {beyond} {one.value:,.6g} (rank {one.rank:,} of "
            f"{one.replicates:,}; expected rate {one.expected_fpr:.4f})",
        )
        if one.rank < significance.FEW_MAXIMA:
            enough = significance.replicates_for(one.fpr, significance.FEW_MAXIMA)
            combined = one.statistic == "combined"  # of which one half of them says
            what = " for the combined score" if combined else ""
            few[f"--fpr {one.fpr:g} rests on few replicates{what}; take {enough * (1 + combined):,} or more"] = None
    for text in few:
        app.say(args, f"warning: {text}")
    wrong = own.wrong_rates(found) if args.input is None and args.demes is None and not args.growth_rate else []
    if wrong:
        app.say(
            args,
            "warning: these rates hold for a constant population size. Where they were tried on neutral data of a "
            f"bottleneck and of growth, at a nominal 5 %, they were: {', '.join(wrong)}; give the history by --demes",
        )
    for peak in _best_of_each(peaks):
        where = f"{peak['name']}: {peak['statistic']} {peak['value']:,.6g} at {peak['position']:,.0f} bp"
        app.say(args, f"{where}, p = {peak['p_value']:.3g}")
