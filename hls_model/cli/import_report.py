"""`import-report`: what synthesis and cosimulation report of a design, beside the model's numbers."""

from __future__ import annotations

import argparse
from typing import Any

from hls_model.cli import common
from hls_model.cli.tables import table
from hls_model.cli.workload_options import add_workload_options, number, workload
from hls_model.errors import ModelError
from hls_model.hls.reports.compare import Comparison, Reports, Row, compare, read_reports
from hls_model.text import percent
from hls_model.workload import Workload
from oclgenomics.app.files import reads

__all__ = ["add_parser"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "import-report",
        help="put the reports of Vivado HLS or Vitis HLS beside the model's numbers",
        description="Read synthesis reports (*_csynth.xml) and cosimulation reports (*_cosim.rpt, lat.rpt, "
        "result.transaction.rpt) and put their numbers beside the model's for a design. The cycles belong to the "
        "position of --left and --right, or to a workload.",
        allow_abbrev=False,
    )
    reads(parser.add_argument("files", nargs="+", metavar="FILE", help="reports of one design"))
    parser.add_argument("--top", metavar="NAME", help="the function that was synthesised (default: omega_kernel)")
    parser.add_argument(
        "--loop", metavar="NAME", help="label of the lanes' pipelined loop (default: beats, else the deepest)"
    )
    parser.add_argument("--left", type=number, metavar="N", help="left borders of the position that was run")
    parser.add_argument("--right", type=number, metavar="N", help="right borders of the position that was run")
    add_workload_options(parser)
    parser.set_defaults(snps=None)
    common.add_design_options(parser)
    common.add_output_options(parser, plot=False)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    positions = _positions(args)
    config = common.design(args)
    reports = read_reports(args.files, args.top)
    found = compare(reports, config, positions, args.loop)
    title = f"{config.name}: {config.lanes} lanes at {config.clock_mhz:g} MHz on {config.board}"
    common.write(args, f"{title}\n{_source(reports)}\n\n{_text(found)}", _record(reports, found, config.name))
    return 0


def _positions(args: argparse.Namespace) -> Workload | None:
    single, many = (args.left, args.right) != (None, None), args.snps is not None or args.positions is not None
    if single and many:
        raise ModelError("--left and --right are one position, --snps and --positions a workload; give one of them")
    if many:
        return workload(args)
    if not single:
        return None
    if args.left is None or args.right is None:
        raise ModelError("--left and --right go together")
    return Workload.single(args.left, args.right)


def _source(reports: Reports) -> str:
    one = reports.synthesis
    if one is None:
        return "no synthesis report"
    return f"{one.top}, {one.part or 'part not named'}, tool version {one.version or 'not named'}"


def _text(found: Comparison) -> str:
    blocks = []
    for section in dict.fromkeys(row.section for row in found.rows):
        rows = [_cells(row) for row in found.rows if row.section == section]
        blocks.append(table((section, "report", "model", "deviation", "model is"), rows))
    if found.notes:
        blocks.append("\n".join(f"- {note}" for note in found.notes))
    return "\n\n".join(blocks)


def _cells(row: Row) -> tuple[str, ...]:
    deviation = "-" if row.deviation is None else f"{'+' if row.deviation >= 0 else ''}{percent(row.deviation, 1)}"
    return row.quantity, _shown(row.reported), _shown(row.model), deviation, row.basis if row.model is not None else "-"


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    if float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:,.4g}" if value < 1e4 else f"{value:,.1f}"


def _record(reports: Reports, found: Comparison, design: str) -> dict[str, Any]:
    one = reports.synthesis
    return {
        "design": design,
        "synthesis": None if one is None else {"top": one.top, "part": one.part, "version": one.version},
        "loops": [vars(loop) for loop in reports.loops],
        "cosimulations": [vars(run) for run in reports.cosimulations],
        "rows": [vars(row) | {"deviation": row.deviation} for row in found.rows],
        "notes": list(found.notes),
    }
