"""`oclgenomics omega threshold`: how large an omega neutral data reach, and how often sweeps exceed that."""

from __future__ import annotations

import argparse
from typing import Any

from oclgenomics.app.commands import add_device_options, add_output_options, count
from oclgenomics.app.files import reads
from oclgenomics.app.inputs import add_reading_options
from oclgenomics.omega.commands.null_data import add_data_options
from oclgenomics.omega.commands.options import (
    DEFAULT_REPLICATES,
    add_method_options,
    add_site_options,
    add_window_options,
)
from oclgenomics.simulate.commands.population import add_population_options

__all__ = ["add_parser", "run"]


def add_parser(actions: Any) -> None:
    """Add `threshold` to the actions of `omega`."""
    parser = actions.add_parser(
        "threshold",
        help="omega thresholds and p-values from neutral replicates; detection rate on simulated sweeps",
        description="Scan neutral replicates, read from a file or simulated, and give the omega that a neutral "
        "alignment exceeds with a given probability, p-values for the peaks of a scan, and the detection rate on "
        "replicates with a sweep. Use the options of the scan whose peaks are judged.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    replicates = parser.add_argument(
        "input", metavar="INPUT", nargs="?",
        help="neutral replicates (ms, or any other format); - for standard input (default: they are simulated)",
    )  # fmt: skip
    reads(replicates)
    add_window_options(parser, required=False)
    add_reading_options(parser.add_argument_group("input and region"))
    _add_simulation_options(parser)
    add_site_options(parser, "seed of the simulation and of the draws, 1 or more")
    add_method_options(parser)
    add_data_options(parser)
    _add_question_options(parser)
    add_output_options(parser)
    add_device_options(parser)


def _add_simulation_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("simulation (without INPUT; needs --seed, and --length and --samples or --scan)")
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
    demes = group.add_argument(
        "--demes", metavar="FILE",
        help="history of the population as demes YAML; by msprime, with --mutation-rate or --sites and "
        "--recombination-rate (default: constant size)",
    )  # fmt: skip
    reads(demes)
    group.add_argument("--deme", metavar="NAME", help="deme of --demes that is sampled (default: the only one today)")


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
        "--peaks", type=count, default=20, metavar="N",
        help="number of peaks of --scan, the highest whose windows do not overlap (default: %(default)s)",
    )  # fmt: skip
    sweeps = group.add_argument(
        "--sweeps", metavar="FILE", help="replicates with a sweep, of the same length; needs --site"
    )
    reads(sweeps)
    group.add_argument("--site", type=count, metavar="BP", help="true position of the selected site in --sweeps")
    group.add_argument(
        "--within", type=count, metavar="BP",
        help="also count the detections at most BP from --site (default: count all, wherever they are)",
    )  # fmt: skip
    group.add_argument("--format", metavar="tsv|json", help="format of the results (default: tsv)")


def run(args: argparse.Namespace) -> int:
    """Scan neutral replicates, and sweeps if there are any, and write what they say.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.omega.commands.significance import judge_omegas

    return judge_omegas(args)
