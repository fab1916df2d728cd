"""`project`: time, rate and bottleneck of a scan on one or several designs."""

from __future__ import annotations

import argparse

from hls_model.apart import told_apart
from hls_model.cli import common
from hls_model.cli.prices import add_price_options, with_costs
from hls_model.cli.tables import table
from hls_model.cli.workload_options import add_workload_options, workload
from hls_model.config import Config
from hls_model.presets import load
from hls_model.project import Projection, project
from hls_model.resources import check_fits
from hls_model.text import joules_text, percent, seconds_text
from hls_model.timing.result import PHASES
from oclgenomics.commandkit.files import reads

__all__ = ["add_compare_option", "add_parser", "designs", "phases_text", "summary_text"]

BOUNDS = {"exact": "", "at least": ">= ", "at most": "<= ", "about": "~ "}  # by `Timing.bound`


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "project", help="time, rate and bottleneck of a scan on one or several designs", allow_abbrev=False
    )
    add_workload_options(parser)
    common.add_level_option(parser)
    common.add_design_options(parser)
    add_compare_option(parser)
    add_price_options(parser)
    common.add_output_options(parser)
    parser.set_defaults(run=run)


def add_compare_option(parser: argparse.ArgumentParser) -> None:
    """Add --compare, which `designs` reads, and --all-pairs."""
    compared = parser.add_argument(
        "--compare", action="append", default=[], metavar="NAME",
        help="another board or .toml file to project onto as well; may be repeated",
    )  # fmt: skip
    reads(compared, common.design_files)
    parser.add_argument(
        "--all-pairs", action="store_true",
        help="count LD as the square of the SNPs, as the paper does (default: the pairs that windows hold)",
    )  # fmt: skip


def designs(args: argparse.Namespace) -> list[Config]:
    """Return the designs of the options, all of which fit their boards; no two have the same name.

    Raises
    ------
    ModelError
        An unknown design, or one that does not fit.
    """
    found = [common.design(args), *map(load, args.compare)]
    for config in found:
        check_fits(config)
    return told_apart(found)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from hls_model.plots.phases import plot_phases

    configs = designs(args)
    scan = workload(args)
    projections = [project(scan, config, args.level, all_pairs=args.all_pairs) for config in configs]
    text = f"{scan.name}: {len(scan.left):,} positions, {scan.omegas:,} omegas\n\n"
    text += f"{summary_text(projections)}\n\n{phases_text(projections)}"
    record = {"projections": [one.record() for one in projections]}
    text, record = with_costs(args, {one.timing.config.name: [one] for one in projections}, text, record)
    common.write(args, text, record, lambda: plot_phases(projections))
    return 0


def summary_text(projections: list[Projection]) -> str:
    """Return a row of times and rates for each design, and what bounds it."""
    rows = []
    for one in projections:
        timing = one.timing
        ld = "-" if one.ld_seconds is None else seconds_text(one.ld_seconds)
        rows.append(
            (
                timing.config.name,
                BOUNDS[timing.bound] + seconds_text(timing.hardware_seconds),
                seconds_text(timing.software_seconds),
                seconds_text(timing.transfer_seconds),
                seconds_text(one.omega_seconds),
                f"{timing.rate / 1e6:,.0f}",
                ld,
                seconds_text(one.seconds),
                joules_text(one.energy),
            )
        )
    header = ("design", "pipelines", "remainder", "host link", "omega", "M omega/s", "LD", "total", "energy")
    found = [(one.timing.config.name, one.bottleneck) for one in projections]
    bounds = [f"{name}: {b.word}: {b.sentence}; what helps: {b.advice}" for name, b in found if b is not None]
    return table(header, rows) + "\n\n" + "\n".join(bounds)


def phases_text(projections: list[Projection]) -> str:
    """Return the cycles of the pipelines by phase, for each design."""
    rows = []
    for one in projections:
        counts = [int(one.timing.phases[name].sum()) for name in PHASES]
        total = max(sum(counts), 1)
        rows.append(
            (one.timing.config.name, f"{one.timing.cycles:,}", *(percent(count / total, 1) for count in counts))
        )
    return table(("design", "cycles", *PHASES), rows)
