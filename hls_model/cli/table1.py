"""`table1`: the resources of Table I beside the model's, and where the table contradicts itself."""

from __future__ import annotations

import argparse

from hls_model.boards import KINDS
from hls_model.cli import common
from hls_model.cli.tables import table
from hls_model.paper.published import KINDS as COMPARED_KINDS
from hls_model.paper.published import Compared, evidence_text
from hls_model.paper.table1 import Column, contradictions, estimate_name, reproduce

__all__ = ["add_parser"]

LEGEND = "p predicted, c calibrated (chosen to match Table I)"


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
    every = _estimates(columns)
    text = "\n\n".join((*blocks, f"{evidence_text(every)}\n{LEGEND}"))
    text += "\n\nWhere the paper contradicts itself:\n" + "\n".join(notes)
    record = {
        "boards": [_record(column) for column in columns],
        "kinds": {kind: sum(one.kind == kind for one in every) for kind in COMPARED_KINDS},
        "contradictions": contradictions(),
    }
    common.write(args, text, record, lambda: plot_table1(columns))
    return 0


def _estimates(columns: list[Column]) -> list[Compared]:
    """All amounts beside those of Table I; the percentages are the same numbers once more."""
    rows = (row for column in columns for name, row in column.compared().items() if name != "percent")
    return [one for row in rows for one in row.values()]


def _text(column: Column) -> str:
    system = column.system
    printed = (f"{getattr(system.used, kind):,} ({system.percent[kind]:.2f} %)" for kind in KINDS)
    rows = [("Table I", *printed)]
    compared = column.compared()
    for resources in column.estimates:
        name = estimate_name(resources)
        rows.append((name, *(_beside(compared[name][kind]) for kind in KINDS)))
    title = f"{system.board}: unroll {system.unroll}, {system.clock_mhz:g} MHz"
    return f"{title}\n" + table(("", *(kind.upper() for kind in KINDS)), rows)


def _beside(one: Compared) -> str:
    return f"{one.value:,.0f} ({100 * one.deviation:+.0f} %) {one.kind[0]}"


def _record(column: Column) -> dict[str, object]:
    return {
        "board": column.system.board,
        "unroll": column.system.unroll,
        "paper": vars(column.system.used),
        "paper_percent": dict(column.system.percent),
        "percent": column.percent,
        "compared": {
            name: {kind: one.record() for kind, one in row.items()} for name, row in column.compared().items()
        },
        "model": [{"method": one.method, "lanes": one.config.lanes, **vars(one.total)} for one in column.estimates],
    }
