"""`resources` and `report`: what a design takes of its device, part by part, alone and as a synthesis report has it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING

from hls_model.boards import KINDS, Amount, Board, Source
from hls_model.choices import METHODS
from hls_model.config import Config
from hls_model.ranges import Range
from hls_model.records import plain, record_of
from hls_model.text import percent, range_text
from oclgenomics.fpga import plots
from oclgenomics.fpga.commands import common
from oclgenomics.fpga.commands.common import table, table_of
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from hls_model.report import Loop, Report
    from hls_model.resources import Resources

clock = late("hls_model.clock")
report_model = late("hls_model.report")
resources_model = late("hls_model.resources")

METHOD = "bottom-up"
HEADS = tuple(kind.upper() for kind in KINDS)


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add both commands."""
    parser = common.add_command(subparsers, "report", _run_report)
    common.add_shared_options(parser, "workload level design uncertainty")
    parser = common.add_command(subparsers, "resources", _run_resources)
    parser.add_argument(
        "--method", choices=METHODS, default=METHOD,
        help=f"sum of its parts, or the line through Table I of the paper (default: {METHOD})",
    )  # fmt: skip
    parser.add_argument(
        "--sources", action="store_true", help="show the board's figures as well, and where each comes from"
    )
    common.add_shared_options(parser, "design")


def _run_resources(args: argparse.Namespace) -> int:
    """Run the command."""
    config = common.design(args)
    resources = resources_model.check_fits(config, args.method)
    most = resources_model.largest_unroll(config, args.method)
    board = resources.board
    text = f"{config.name}: {config.lanes} lanes at {config.clock_mhz:g} MHz on {board.title} ({board.device}), "
    text += f"{args.method}\n{clock.asked_text(config)}\n\n{totals_text(resources)}\n\n"
    text += f"{regions_text(resources)}\n{room_text(board)}\n\n"
    text += f"{parts_text(resources)}\n\n"
    text += f"largest unroll that fits: {most}"
    text += f"\n\n{sources_text(board)}" if args.sources else ""
    found = resources_record(resources) | clock.clock_record(config) | {"largest_unroll": most}
    found |= {"board_figures": sources_record(board)} if args.sources else {}
    return common.write(args, text, found, lambda: plots.plot_resources(resources))


def cells(amount: Amount) -> tuple[str, ...]:
    """Return an amount as the cells of `HEADS`."""
    return tuple(f"{getattr(amount, kind):,}" for kind in KINDS)


def totals_text(resources: Resources) -> str:
    """Return the table of total, available and percent."""
    total, available = cells(resources.total), cells(resources.board.available)
    rows = (("Total", *total), ("Available", *available), ("Used, %", *_percents(resources)))
    return table(("", *HEADS), rows)


def _percents(resources: Resources) -> tuple[str, ...]:
    return tuple(f"{100 * resources.shares[kind]:.2f}" for kind in KINDS)


def regions_text(resources: Resources) -> str:
    """Return the table of what each region holds, what the shell takes of it, what can be placed, and what is used."""
    rows = []
    for occupied in resources.placement.regions:
        region = occupied.region
        rows += [
            (region.name, "holds", "", *cells(region.available)),
            ("", "shell", "", *cells(region.shell)),
            ("", "placeable", "", *cells(occupied.room)),
            ("", "used", f"{occupied.lanes}", *cells(occupied.used)),
        ]
    return table(("region", "", "lanes", *HEADS), rows)


def parts_text(resources: Resources) -> str:
    """Return the table of all parts."""
    rows = [(part.name, part.kind, str(part.count), *cells(part.total)) for part in resources.parts]
    return table(("instance", "kind", "count", *HEADS), rows)


def room_text(board: Board) -> str:
    """Return a sentence about what a design may use of a board."""
    shares = ", ".join(f"{board.placeable[kind]:.0%} of {kind.upper()}".replace("%", " %") for kind in KINDS)
    shell = "next to the shell " if any(region.shell.lut for region in board.regions) else ""
    return f"a design fits {shell}in {shares} of each region ({', '.join(region.name for region in board.regions)})"


def fits_text(resources: Resources) -> str:
    """Return a line: the lanes in each region, and the largest share that a kind has of what can be placed there."""
    regions = (
        f"{occupied.region.name} {occupied.lanes} lanes, {percent(occupied.share)} of its room"
        for occupied in resources.placement.regions
    )
    return f"{resources.config.name} on {resources.board.name}: {'; '.join(regions)}"


def regions_record(resources: Resources) -> list[dict[str, object]]:
    """Return what each region holds, leaves and places, for JSON."""
    return [
        record_of(
            occupied,
            "name=region.name lanes available=region.available shell=region.shell placeable=room used "
            "share_of_placeable=share",
        )
        for occupied in resources.placement.regions
    ]


def resources_record(resources: Resources) -> dict[str, object]:
    """Return the resources for JSON."""
    return {
        **record_of(resources, "design=config.name board=board.name device=board.device unroll=config.unroll"),
        **record_of(resources, "lanes=config.lanes method total available=board.available share=shares"),
        "regions": regions_record(resources),
        "parts": [record_of(part, "name kind count") | vars(part.total) for part in resources.parts],
    }


def _run_report(args: argparse.Namespace) -> int:
    """Run the command."""
    report = report_model.make_report(
        common.workload(args), common.design(args), args.level, uncertainty=args.uncertainty
    )
    return common.write(
        args, _report_text(report), _report_record(report), lambda: plots.plot_resources(report.resources)
    )


def _report_text(report: Report) -> str:
    config, board = report.config, report.resources.board
    sections = (
        ("Design", f"{config.name}: omega pipeline, unroll {config.unroll}, {config.lanes} lanes, "
         f"{board.device} ({board.title})\n{report.workload_name}"),
        ("Clock", table(("", "target", "estimated"), [("period, ns", f"{report.target_ns:.2f}",
                                                       range_text(report.period_ns, ""))])
         + f"\n{clock.clock_text(config)}\nThe clock follows from fill and regions; no critical path is estimated."),
        ("Latency of a grid position", _latency(report)),
        ("Loops", _loops(report)),
        ("Utilisation", _utilisation(report)),
        ("Instances", parts_text(report.resources)),
    )  # fmt: skip
    return "\n\n".join(f"== {title}\n{body}" for title, body in sections)


def _latency(report: Report) -> str:
    rows = [
        ("least", f"{report.least:,}", range_text(report.least_seconds)),
        ("greatest", f"{report.most:,}", range_text(report.most_seconds)),
        ("all positions", f"{report.cycles:,}", range_text(report.seconds)),
    ]
    text = table(("", "cycles", "absolute"), rows)
    return f"{text}\n{_interval(report.config)}"


def _interval(config: Config) -> str:
    """When positions start."""
    if config.kernels == config.positions_in_flight == 1:
        return "A position starts when the one before has ended: the interval is the latency."
    return (
        f"Of {config.kernels} kernels each holds up to {config.positions_in_flight} positions, so positions start "
        "before others have ended."
    )


def _loops(report: Report) -> str:
    rows = table_of(report.loops, LOOP_COLUMNS)
    return f"of the position that takes longest ({report.left:,} x {report.right:,})\n{rows}"


LOOP_COLUMNS: dict[str, Callable[[Loop], str]] = {
    "loop": lambda loop: loop.name,
    "latency": lambda loop: f"{loop.latency:,}",
    "iteration latency": lambda loop: f"{loop.iteration_latency:,}",
    "II achieved": lambda loop: "-" if loop.achieved is None else str(loop.achieved),
    "II target": lambda loop: "-" if loop.target is None else str(loop.target),
    "trip count": lambda loop: f"{loop.trips:,}",
    "pipelined": lambda loop: "yes" if loop.pipelined else "no",
}


def _utilisation(report: Report) -> str:
    rows = [(name, *cells(amount)) for name, amount in report.utilisation.items()]
    text = table(("", *HEADS), [*rows, ("%", *_percents(report.resources))])
    return f"{text}\n\n{regions_text(report.resources)}\n{room_text(report.resources.board)}"


def _report_record(report: Report) -> dict[str, object]:
    return {
        **record_of(report, "design=config.name workload=workload_name level"),
        **clock.clock_record(report.config),
        "clock_ns": record_of(report, "target=target_ns estimated=period_ns"),
        "latency_cycles": record_of(report, "least greatest=most all_positions=cycles"),
        "latency_seconds": record_of(report, "least=least_seconds greatest=most_seconds all_positions=seconds"),
        **record_of(report, "loops utilisation"),
        "resources": resources_record(report.resources),
    }


def sources_text(board: Board) -> str:
    """Return a paragraph for each figure: its name and value, and below them the source."""
    lines = [f"figures of the {board.title}"]
    for name, source in _ordered(board):
        lines += ["", f"{name}: {_shown(getattr(board, name))}", f"    {source}"]
    return "\n".join(lines)


def sources_record(board: Board) -> dict[str, object]:
    """Return the figures and their sources for JSON, by name."""
    return {
        name: {"value": plain(getattr(board, name)), "document": one.document, "url": one.url, "note": one.note}
        for name, one in _ordered(board)
    }


def _ordered(board: Board) -> list[tuple[str, Source]]:
    """The sources in the order of the board's attributes."""
    return [(field.name, board.sources[field.name]) for field in fields(board) if field.name in board.sources]


def _shown(value: object) -> str:
    if isinstance(value, Range):
        return f"{value.likely:,g} ({value.low:,g} to {value.high:,g})"
    if isinstance(value, Amount):
        return ", ".join(f"{getattr(value, kind):,} {kind.upper()}" for kind in KINDS)
    if isinstance(value, Mapping):
        return ", ".join(f"{kind.upper()} {100 * share:g} %" for kind, share in value.items())
    if isinstance(value, tuple):
        return "; ".join(f"{region.name}: shell {_shown(region.shell)}" for region in value)
    return "-" if value is None else f"{value:,}"
