"""`oclgenomics omega threshold`: how large an omega neutral data reach, and how often sweeps exceed that."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from oclgenomics.cli.omega.options import add_method_options, add_site_options, add_window_options
from oclgenomics.cli.options import add_device_options, add_output_options, count
from oclgenomics.cli.read_options import add_reading_options
from oclgenomics.cli.simulate.omega import add_population_options, neutral_region
from oclgenomics.commandkit.files import reads
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.io.threads import usable_cores

if TYPE_CHECKING:
    from oclgenomics.variation.alignment import Alignment
    from oclgenomics.variation.read_options import ReadOptions

__all__ = ["add_parser", "check_questions", "neutral_replicates", "run"]

DEFAULT_REPLICATES = 1_000
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
    from oclgenomics.cli.omega.significance import judge_omegas

    return judge_omegas(args)


def check_questions(args: argparse.Namespace) -> list[float]:
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
    if args.growth_rate and args.engine != "msprime":
        raise UsageError("--growth-rate needs --engine msprime; the own simulator keeps the population constant")


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
    import numpy as np

    from oclgenomics.omega.significance.thresholds import thresholds

    thresholds(np.zeros(replicates), rates)


def neutral_replicates(args: argparse.Namespace, reading: ReadOptions) -> Iterator[Alignment]:
    """Read or simulate the neutral replicates, one after the other."""
    from oclgenomics.omega.sources import open_alignments
    from oclgenomics.simulate.replicates import neutral_alignments

    if args.input is not None:
        return open_alignments(args.input, reading, threads=args.threads)
    return neutral_alignments(
        neutral_region(args), args.seed, args.replicates, engine=args.engine, growth_rate=args.growth_rate or 0.0,
        processes=usable_cores() if args.jobs is None else args.jobs,
    )  # fmt: skip
