"""What `oclgenomics omega threshold` does: neutral replicates, sweeps and peaks into one report."""

from __future__ import annotations

import argparse
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from oclgenomics.app.commands import OutputOptions, open_engine, provenance, report_profile, say, say_written
from oclgenomics.app.inputs import read_options
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.io.threads import usable_cores
from oclgenomics.omega.commands.null_data import NullData, settle_defaults
from oclgenomics.omega.commands.options import DEFAULT_REPLICATES, scan_options
from oclgenomics.omega.commands.significance_messages import SignificanceMessages
from oclgenomics.omega.formats.reading import read_report
from oclgenomics.omega.formats.thresholds import as_json, as_tsv
from oclgenomics.omega.options import ScanOptions, scan_parameters
from oclgenomics.omega.peaks import best_windows
from oclgenomics.omega.significance.comparable import check_options, check_sweeps, compare
from oclgenomics.omega.significance.neutral import Significance, find_thresholds
from oclgenomics.omega.significance.observation import as_observed
from oclgenomics.omega.significance.sweeps import detect_sweeps
from oclgenomics.omega.significance.thresholds import thresholds
from oclgenomics.omega.sources import first_read, open_alignments
from oclgenomics.runtime import Engine, select_device
from oclgenomics.simulate import neutral_alignments
from oclgenomics.simulate.commands.population import flag, neutral_region
from oclgenomics.simulate.demography import read_demography
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.read_options import ReadOptions

__all__ = ["judge_omegas"]

FORMATS = ("tsv", "json")
SIMULATION_OPTIONS = (
    "samples", "replicates", "sites", "population_size", "mutation_rate", "recombination_rate", "theta", "rho",
    "engine", "growth_rate", "jobs", "demes", "deme",
)  # fmt: skip


def judge_omegas(args: argparse.Namespace) -> int:
    """Run the command; see `oclgenomics.omega.commands.threshold.run`."""
    output = OutputOptions.resolve(args, FORMATS)
    report = None if args.scan is None else read_report(args.scan)
    given = settle_defaults(args, report)
    options, reading = scan_options(args), read_options(args)
    rates = _check_questions(args)
    if report is not None:
        check_options(scan_parameters(options), report.parameters, args.scan, "omega threshold")
    select_device(args.device)  # a device that is not there is told before the work
    messages = SignificanceMessages(args)
    with _sweep_replicates(args, reading) as sweeps:
        found, made = _judge_replicates(args, options, reading, given, rates, sweeps, messages)
    if report is not None:
        compared = compare(found, report.tracks, args.scan, "omega threshold")
        found = replace(found, peaks=tuple(best_windows(report.tracks, args.peaks)), compared=compared)
        messages.peaks(found)
    output.write(as_json(found, made) if output.format == "json" else as_tsv(found, made))
    say_written(args)
    return 0


def _judge_replicates(
    args: argparse.Namespace,
    options: ScanOptions,
    reading: ReadOptions,
    given: NullData,
    rates: list[float],
    sweeps: Iterator[Alignment] | None,
    messages: SignificanceMessages,
) -> tuple[Significance, dict[str, Any]]:
    """What the replicates say, and what made it."""
    replicates = _as_scanned(as_observed(_neutral_replicates(args, reading), given.observation), given, args)
    neutral = first_read(replicates, args.input or "the simulation")
    with open_engine(args) as engine:
        messages.begin("neutral", args.replicates)
        found = find_thresholds(
            neutral, options, fpr=rates, length=args.length, exclude=given.exclude,
            on_alignment=messages.alignment, engine=engine, progress=messages.progress,
        )  # fmt: skip
        messages.thresholds(found)
        if sweeps is not None:
            found = _with_sweeps(args, sweeps, found, options, given, engine, messages)
        made = provenance(args, engine)
        report_profile(args, engine)
    return found, made


@contextmanager
def _sweep_replicates(args: argparse.Namespace, reading: ReadOptions) -> Generator[Iterator[Alignment] | None]:
    """The replicates with a sweep, if any are asked for; what is wrong with the first one is reported before the work.

    Raises
    ------
    InputError
        The file cannot be read, or holds no alignment.
    UsageError
        The first one has another number of haplotypes than those that are simulated.
    """
    if not args.sweeps:
        yield None
        return

    def check(first: Alignment) -> None:
        if args.samples not in (None, first.haplotypes):
            raise UsageError(
                f"--sweeps {args.sweeps}: {first.haplotypes:,} haplotypes, {args.samples:,} in the neutral data, for "
                "which thresholds are others; make both of the same number"
            )

    with closing(open_alignments(args.sweeps, reading, threads=args.threads)) as read:
        yield first_read(read, args.sweeps, check)


def _with_sweeps(
    args: argparse.Namespace,
    replicates: Iterator[Alignment],
    found: Significance,
    options: ScanOptions,
    given: NullData,
    engine: Engine,
    messages: SignificanceMessages,
) -> Significance:
    """The same with the detection of the sweep replicates."""
    messages.begin("sweeps", None)
    site = args.site + given.observation.first - 1 if given.observation.chromosome else args.site
    sweeps = detect_sweeps(
        as_observed(replicates, replace(given.observation, room=0)), options, found.thresholds, site=site,
        within=args.within, exclude=given.exclude, on_alignment=messages.alignment, engine=engine,
        progress=messages.progress,
    )  # fmt: skip
    unlike = None
    if found.data is not None and sweeps.data is not None:
        unlike = check_sweeps(found.data, sweeps.data, f"--sweeps {args.sweeps}")
    found = replace(found, sweeps=sweeps)
    messages.sweeps(found)
    if unlike is not None:
        say(args, f"warning: {unlike}")
    return found


def _as_scanned(
    replicates: Iterator[Alignment], given: NullData, args: argparse.Namespace
) -> Generator[Alignment, None, None]:
    """The same replicates; the first one of other data than the report's ends the work at once."""
    for one in replicates:
        if given.haplotypes not in (None, one.haplotypes):
            raise UsageError(
                f"{args.scan} has {given.haplotypes:,} haplotypes and the replicates have {one.haplotypes:,}, for "
                "which the threshold is another; make both of the same number"
            )
        yield one
        del one  # before the next one is simulated or read


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
    if args.demes is None and args.deme is not None:
        raise UsageError("--deme has no effect without --demes FILE")
    for name in ("population_size", "theta", "rho", "growth_rate"):
        if args.demes is not None and getattr(args, name) is not None:
            raise UsageError(f"{flag(name)} has no effect with --demes, which says how large the population was")
    if args.demes is not None and args.engine is None:
        args.engine = "msprime"
    if args.growth_rate and args.engine != "msprime":
        raise UsageError("--growth-rate needs --engine msprime; the built-in simulator keeps the population constant")


def _rates(text: str) -> list[float]:
    try:
        rates = [float(word) for word in text.split(",")]
    except ValueError:
        raise UsageError(f"--fpr {text}: give rates such as 0.05 or 0.05,0.01") from None
    for rate in rates:
        if not 0 < rate < 1:
            raise ParameterError("fpr", "a false-positive rate lies between 0 and 1", rate)
    return rates


def _check_replicates(replicates: int, rates: list[float]) -> None:
    """Refuse before the work what `thresholds` would refuse after it."""
    thresholds(np.zeros(replicates), rates)


def _neutral_replicates(args: argparse.Namespace, reading: ReadOptions) -> Iterator[Alignment]:
    """Read or simulate the neutral replicates, one after the other."""
    if args.input is not None:
        return open_alignments(args.input, reading, threads=args.threads)
    return neutral_alignments(
        neutral_region(args), args.seed, args.replicates, engine=args.engine, growth_rate=args.growth_rate or 0.0,
        demography=None if args.demes is None else read_demography(args.demes, args.deme),
        jobs=usable_cores() if args.jobs is None else args.jobs,
    )  # fmt: skip
