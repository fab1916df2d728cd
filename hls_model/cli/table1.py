"""`table1`: the resources of Table I beside the model's, and where the table contradicts itself."""

from __future__ import annotations

import argparse

from hls_model.boards import KINDS, Amount
from hls_model.cli import common
from hls_model.cli.tables import table
from hls_model.paper.table1 import Column, contradictions, reproduce

__all__ = ["add_parser"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser("table1", help="resources of Table I of the paper", allow_abbrev=False)
    common.add_output_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from hls_model.plots.resources import plot_table1

    columns = reproduce()
    blocks = [_text(column) for column in columns]
    notes = [f"- {sentence}" for sentence in contradictions()]
    text = "\n\n".join(blocks) + "\n\nWhere the paper contradicts itself:\n" + "\n".join(notes)
    record = {"boards": [_record(column) for column in columns], "contradictions": contradictions()}
    common.write(args, text, record, lambda: plot_table1(columns))
    return 0


def _text(column: Column) -> str:
    system = column.system
    printed = (f"{getattr(system.used, kind):,} ({system.percent[kind]:.2f} %)" for kind in KINDS)
    rows = [("Table I", *printed)]
    for resources in column.estimates:
        name = resources.method + (f", {resources.config.lanes} lanes" if resources.method == "bottom-up" else "")
        rows.append((name, *(_beside(resources.total, system.used, kind) for kind in KINDS)))
    title = f"{system.board}: unroll {system.unroll}, {system.clock_mhz:g} MHz"
    return f"{title}\n" + table(("", *(kind.upper() for kind in KINDS)), rows)


def _beside(model: Amount, paper: Amount, kind: str) -> str:
    ours, theirs = getattr(model, kind), getattr(paper, kind)
    return f"{ours:,} ({100 * (ours / theirs - 1):+.0f} %)"


def _record(column: Column) -> dict[str, object]:
    return {
        "board": column.system.board,
        "unroll": column.system.unroll,
        "paper": vars(column.system.used),
        "paper_percent": dict(column.system.percent),
        "percent": column.percent,
        "model": [{"method": one.method, "lanes": one.config.lanes, **vars(one.total)} for one in column.estimates],
    }
