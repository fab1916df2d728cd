"""`project`: time, rate and bottleneck of a scan on one or several designs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from hls_model.cli import common
from hls_model.cli.prices import add_price_options, check_prices, with_costs
from hls_model.cli.resources import fits_text, room_text
from hls_model.cli.scan_phases import scan_text
from hls_model.cli.tables import table
from hls_model.cli.totals import other_total, total_headers, totals_note
from hls_model.cli.workload_options import add_workload_options, workload
from hls_model.clock import clock_text
from hls_model.config import CHOICES, Config
from hls_model.errors import ModelError
from hls_model.presets import load, parse_settings, told_apart
from hls_model.project import ACCOUNTINGS, PAPER, Projection, counted, project
from hls_model.resources import check_fits, estimate
from hls_model.text import joules_text, percent, range_text, seconds_text
from hls_model.timing.result import PHASES
from hls_model.uncertainty import Contribution
from oclgenomics.app.files import reads

__all__ = [
    "add_compare_option",
    "add_parser",
    "designs",
    "made_of_record",
    "made_of_text",
    "phases_text",
    "placement_text",
    "summary_text",
]

NAMED = 4  # parameters that are named as what a range is made of; --json has all

BOUNDS = {"exact": "", "at most": "<= ", "about": "~ "}  # by `Timing.bound`


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
    parser.add_argument(
        "--no-measure", action="store_true",
        help="for `oclgenomics fpga project`, which also times the scan on this machine; nothing is measured here",
    )  # fmt: skip
    common.add_output_options(parser)
    parser.set_defaults(run=run)


def add_compare_option(parser: argparse.ArgumentParser) -> None:
    """Add --compare, --ld-engine and --accounting, which `designs` reads, --all-pairs and --uncertainty."""
    compared = parser.add_argument(
        "--compare", action="append", default=[], metavar="NAME",
        help="another board or .toml file to project onto as well; may be repeated",
    )  # fmt: skip
    reads(compared, common.design_files)
    parser.add_argument(
        "--ld-engine", choices=CHOICES["ld"],
        help="LD by an engine on the card, or at the rate of the accelerator that the paper cites; for all designs "
        "(default: as each design has it, which is card for those with a name)",
    )  # fmt: skip
    parser.add_argument(
        "--all-pairs", action="store_true",
        help="count LD as the square of the SNPs, as OmegaPlus for GPUs computes it (default: the pairs that windows "
        "hold)",
    )  # fmt: skip
    parser.add_argument(
        "--accounting", choices=tuple(ACCOUNTINGS), default="design",
        help="count the phases as the design has them, or as the totals of the paper do: LD of all pairs at the "
        "published rate, columns that come aligned, one start of the kernels; the other total stands beside it "
        "(default: %(default)s)",
    )  # fmt: skip
    common.add_uncertainty_option(parser)


def designs(args: argparse.Namespace) -> list[Config]:
    """Return the designs of the options, all of which fit their boards; no two have the same name.

    Raises
    ------
    ModelError
        An unknown design, one that does not fit, or two answers to where LD is computed.
    """
    _check_accounting(args)
    found = [common.design(args), *map(load, args.compare)]
    if args.ld_engine is not None:
        given = parse_settings(args.settings).get("ld", args.ld_engine)
        if given != args.ld_engine:
            raise ModelError(f"--ld-engine {args.ld_engine} and --set ld={given}: give one of them")
        found = [config.but(ld=args.ld_engine) for config in found]
    for config in found:
        check_fits(counted(config, args.accounting))
    check_prices(args, found)
    return told_apart(found)


def _check_accounting(args: argparse.Namespace) -> None:
    """Refuse what contradicts the paper's accounting."""
    if args.accounting != "paper":
        return
    given = parse_settings(args.settings)
    for name, value in PAPER.items():
        if given.get(name, value) != value:
            raise ModelError(f"--accounting paper and --set {name}={given[name]}: give one of them")
    if args.ld_engine not in (None, PAPER["ld"]):
        raise ModelError(f"--accounting paper and --ld-engine {args.ld_engine}: give one of them")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from hls_model.plots.phases import plot_phases

    configs = designs(args)
    scan = workload(args)
    projections = [
        project(
            scan, config, args.level, all_pairs=args.all_pairs, uncertainty=args.uncertainty,
            accounting=args.accounting,
        )
        for config in configs
    ]  # fmt: skip
    head = f"{scan.name}: {len(scan.left):,} positions, {scan.omegas:,} omegas"
    scans = (scan_text([one]) for one in projections)
    parts = (
        head,
        summary_text(projections),
        totals_note([[one] for one in projections]),
        placement_text(projections),
        made_of_text(projections),
        *scans,
        phases_text(projections),
    )
    text = "\n\n".join(filter(None, parts))
    record = {"projections": [one.record() for one in projections], "made_of": made_of_record(projections)}
    text, record = with_costs(args, {one.timing.config.name: [one] for one in projections}, text, record)
    common.write(args, text, record, lambda: plot_phases([[one] for one in projections]))
    return 0


def summary_text(projections: list[Projection]) -> str:
    """Return a row of times and rates for each design, and what bounds it."""
    rows = []
    for one in projections:
        timing = one.timing
        ld = "-" if one.ld_range is None else range_text(one.ld_range)
        rows.append(
            (
                timing.config.name,
                BOUNDS[timing.bound] + seconds_text(timing.hardware_seconds),
                seconds_text(timing.software_seconds),
                seconds_text(timing.transfer_seconds),
                range_text(one.omega_range),
                range_text(one.rate_range.times(1e-6), ""),
                ld,
                range_text(one.total),
                other_total([one]),
                joules_text(one.energy),
            )
        )
    totals = total_headers(projections[0].accounting)
    header = ("design", "pipelines", "remainder", "host link", "omega", "M omega/s", "LD", *totals, "energy")
    found = [(one.timing.config.name, one.bottleneck) for one in projections]
    bounds = [f"{name}: {b.word}: {b.sentence}; what helps: {b.advice}" for name, b in found if b is not None]
    return table(header, rows) + "\n\n" + "\n".join(bounds)


def placement_text(projections: Sequence[Projection]) -> str:
    """Return a line for each design: where on its board it goes, how much of the room it takes, and its clock."""
    found = [estimate(one.timing.config) for one in projections]
    rooms = dict.fromkeys(f"{one.board.name}: {room_text(one.board)}" for one in found)
    clocks = (clock_text(one.timing.config) for one in projections)
    return "\n".join([*map(fits_text, found), *rooms, *clocks])


def made_of_text(projections: list[Projection]) -> str:
    """Return a line for each design: the parameters that do most to its range, each alone; empty without ranges."""
    lines = []
    for one in projections:
        if one.band is not None:
            parts = [part for part in one.made_of if part.width > 0][:NAMED]
            named = "; ".join(map(_part_text, parts)) or (
                "what is open changes nothing" if one.made_of else "nothing is open"
            )
            lines.append(f"{one.timing.config.name}: range of omega, by one parameter alone: {named}")
    return "\n".join(lines)


def made_of_record(projections: Sequence[Projection]) -> dict[str, object]:
    """Return what the range of each design is made of, by its name, for JSON."""
    return {one.timing.config.name: [part.record() for part in one.made_of] for one in projections}


def _part_text(part: Contribution) -> str:
    """A parameter with its ends in the order of time, and the change of time at each."""
    unknown, seconds = part.unknown, part.seconds
    ends = f"{unknown.fast:g} to {unknown.slow:g} {unknown.unit}".strip()
    changes = f"{_change(seconds.low - seconds.likely)} to {_change(seconds.high - seconds.likely)}"
    return f"{unknown.name} ({ends}) {changes}"


def _change(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{seconds_text(abs(seconds))}" if seconds else "0"


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
