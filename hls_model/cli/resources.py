"""`resources`: what a design takes of its device, part by part."""

from __future__ import annotations

import argparse

from hls_model.boards import KINDS, Amount, Board
from hls_model.cli import common
from hls_model.cli.sources import sources_record, sources_text
from hls_model.cli.tables import table
from hls_model.clock import asked_text, clock_record
from hls_model.resources import METHODS, Resources, check_fits, largest_unroll
from hls_model.text import percent

__all__ = [
    "add_parser",
    "fits_text",
    "parts_text",
    "record",
    "regions_record",
    "regions_text",
    "room_text",
    "totals_text",
]

METHOD = "bottom-up"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser("resources", help="what a design takes of its device", allow_abbrev=False)
    parser.add_argument(
        "--method", choices=tuple(METHODS), default=METHOD,
        help=f"sum of its parts, or the line through Table I of the paper (default: {METHOD})",
    )  # fmt: skip
    parser.add_argument(
        "--sources", action="store_true", help="show the board's figures as well, and where each comes from"
    )
    common.add_design_options(parser)
    common.add_output_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from hls_model.plots.resources import plot_resources

    config = common.design(args)
    resources = check_fits(config, args.method)
    most = largest_unroll(config, args.method)
    board = resources.board
    text = f"{config.name}: {config.lanes} lanes at {config.clock_mhz:g} MHz on {board.title} ({board.device}), "
    text += f"{args.method}\n{asked_text(config)}\n\n{totals_text(resources)}\n\n"
    text += f"{regions_text(resources)}\n{room_text(board)}\n\n"
    text += f"{parts_text(resources)}\n\n"
    text += f"largest unroll that fits: {most}"
    text += f"\n\n{sources_text(board)}" if args.sources else ""
    found = record(resources) | clock_record(config) | {"largest_unroll": most}
    found |= {"board_figures": sources_record(board)} if args.sources else {}
    common.write(args, text, found, lambda: plot_resources(resources))
    return 0


def _cells(amount: Amount) -> tuple[str, ...]:
    return tuple(f"{getattr(amount, kind):,}" for kind in KINDS)


def totals_text(resources: Resources) -> str:
    """Return the table of total, available and percent."""
    shares = resources.shares
    return table(
        ("", *(kind.upper() for kind in KINDS)),
        (
            ("Total", *_cells(resources.total)),
            ("Available", *_cells(resources.board.available)),
            ("Used, %", *(f"{100 * shares[kind]:.2f}" for kind in KINDS)),
        ),
    )


def regions_text(resources: Resources) -> str:
    """Return the table of what each region holds, what the shell takes of it, what can be placed, and what is used."""
    rows = []
    for occupied in resources.placement.regions:
        region = occupied.region
        rows.append((region.name, "holds", "", *_cells(region.available)))
        rows.append(("", "shell", "", *_cells(region.shell)))
        rows.append(("", "placeable", "", *_cells(occupied.room)))
        rows.append(("", "used", f"{occupied.lanes}", *_cells(occupied.used)))
    return table(("region", "", "lanes", *(kind.upper() for kind in KINDS)), rows)


def parts_text(resources: Resources) -> str:
    """Return the table of all parts."""
    rows = [(part.name, part.kind, str(part.count), *_cells(part.total)) for part in resources.parts]
    return table(("instance", "kind", "count", *(kind.upper() for kind in KINDS)), rows)


def room_text(board: Board) -> str:
    """Return a sentence about what a design may use of a board."""
    shares = ", ".join(f"{board.placeable[kind]:.0%} of {kind.upper()}".replace("%", " %") for kind in KINDS)
    shell = "beside the shell " if any(region.shell.lut for region in board.regions) else ""
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
        {
            "name": occupied.region.name,
            "lanes": occupied.lanes,
            "available": vars(occupied.region.available),
            "shell": vars(occupied.region.shell),
            "placeable": vars(occupied.room),
            "used": vars(occupied.used),
            "share_of_placeable": occupied.share,
        }
        for occupied in resources.placement.regions
    ]


def record(resources: Resources) -> dict[str, object]:
    """Return the resources for JSON."""
    return {
        "design": resources.config.name,
        "board": resources.board.name,
        "device": resources.board.device,
        "unroll": resources.config.unroll,
        "lanes": resources.config.lanes,
        "method": resources.method,
        "total": vars(resources.total),
        "available": vars(resources.board.available),
        "share": resources.shares,
        "regions": regions_record(resources),
        "parts": [
            {"name": part.name, "kind": part.kind, "count": part.count, **vars(part.total)} for part in resources.parts
        ],
    }
