"""`report`: a design as a synthesis report would show it: timing, latency, loops and utilisation."""

from __future__ import annotations

import argparse

from hls_model.cli import common
from hls_model.cli.resources import parts_text, record, regions_text, room_text
from hls_model.cli.tables import table
from hls_model.cli.workload_options import add_workload_options, workload
from hls_model.clock import clock_record, clock_text
from hls_model.config import Config
from hls_model.report import Report, make_report
from hls_model.text import range_text

__all__ = ["add_parser"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "report", help="timing, latency, loops and utilisation, as synthesis reports them", allow_abbrev=False
    )
    add_workload_options(parser)
    common.add_level_option(parser)
    common.add_design_options(parser)
    common.add_uncertainty_option(parser)
    common.add_output_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    from hls_model.plots.resources import plot_resources

    report = make_report(workload(args), common.design(args), args.level, uncertainty=args.uncertainty)
    common.write(args, _text(report), _record(report), lambda: plot_resources(report.resources))
    return 0


def _text(report: Report) -> str:
    config, board = report.config, report.resources.board
    sections = (
        ("Design", f"{config.name}: omega pipeline, unroll {config.unroll}, {config.lanes} lanes, "
         f"{board.device} ({board.title})\n{report.workload_name}"),
        ("Clock", table(("", "target", "estimated"), [("period, ns", f"{report.target_ns:.2f}",
                                                       range_text(report.period_ns, ""))])
         + f"\n{clock_text(config)}\nThe clock follows from fill and regions; no critical path is estimated."),
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
    rows = [
        (
            loop.name, f"{loop.latency:,}", f"{loop.iteration_latency:,}",
            "-" if loop.achieved is None else str(loop.achieved),
            "-" if loop.target is None else str(loop.target),
            f"{loop.trips:,}", "yes" if loop.pipelined else "no",
        )
        for loop in report.loops
    ]  # fmt: skip
    header = ("loop", "latency", "iteration latency", "II achieved", "II target", "trip count", "pipelined")
    return f"of the position that takes longest ({report.left:,} x {report.right:,})\n" + table(header, rows)


def _utilisation(report: Report) -> str:
    kinds = ("bram18k", "dsp", "ff", "lut")
    rows = [(name, *(f"{getattr(amount, kind):,}" for kind in kinds)) for name, amount in report.utilisation.items()]
    shares = report.resources.shares
    rows.append(("%", *(f"{100 * shares[kind]:.2f}" for kind in kinds)))
    text = table(("", *(kind.upper() for kind in kinds)), rows)
    return f"{text}\n\n{regions_text(report.resources)}\n{room_text(report.resources.board)}"


def _record(report: Report) -> dict[str, object]:
    return {
        "design": report.config.name,
        "workload": report.workload_name,
        "level": report.level,
        **clock_record(report.config),
        "clock_ns": {"target": report.target_ns, "estimated": report.period_ns.record()},
        "latency_cycles": {"least": report.least, "greatest": report.most, "all_positions": report.cycles},
        "latency_seconds": {
            "least": report.least_seconds.record(),
            "greatest": report.most_seconds.record(),
            "all_positions": report.seconds.record(),
        },
        "loops": [vars(loop) for loop in report.loops],
        "utilisation": {name: vars(amount) for name, amount in report.utilisation.items()},
        "resources": record(report.resources),
    }
