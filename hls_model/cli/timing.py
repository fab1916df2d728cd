"""`timing`: cycles, seconds and rate of one grid position, by phase."""

from __future__ import annotations

import argparse

from hls_model.cli import common
from hls_model.clock import asked_text, clock_record
from hls_model.formula import Formula
from hls_model.resources import check_fits
from hls_model.timing import simulate
from hls_model.workload import Workload

__all__ = ["add_parser"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser("timing", help="cycles and rate of one grid position, by phase", allow_abbrev=False)
    parser.add_argument("--left", type=int, default=1000, metavar="N", help="left borders tried (default: 1000)")
    parser.add_argument("--right", type=int, default=1000, metavar="N", help="right borders tried (default: 1000)")
    common.add_level_option(parser)
    common.add_design_options(parser)
    common.add_output_options(parser, plot=False)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    config = common.design(args)
    check_fits(config)
    timing = simulate(Workload.single(args.left, args.right), config, args.level)
    formula = Formula(config)
    phases = {name: int(cycles.sum()) for name, cycles in timing.phases.items()}
    record = {
        "design": timing.config.name,
        **clock_record(config),
        "level": timing.level,
        "exact": timing.bound == "exact",
        "cycles": timing.cycles,
        "phases_cycles": phases,
        "seconds": timing.seconds,
        "omegas": timing.workload.omegas,
        "software_omegas": timing.software_omegas,
        "omega_per_s": timing.hardware_rate,
        "formula": {
            "cycles": formula.cycles(args.left, args.right),
            "holds": formula.holds(args.left, args.right),
            "overhead_cycles": formula.overhead,
            "right_for_90_percent": formula.right_for(0.9),
        },
    }
    rows = [f"{name:<9} {cycles:>14,} cycles" for name, cycles in phases.items()]
    rows.append(f"{'total':<9} {timing.cycles:>14,} cycles{'' if timing.bound == 'exact' else f' {timing.bound}'}")
    rows.append(f"{'rate':<9} {timing.hardware_rate / 1e6:>14,.1f} M omega/s of {timing.config.ideal_rate / 1e6:,.0f}")
    rows.append(_formula_text(formula, args.left, args.right))
    rows.append(asked_text(config))
    common.write(args, "\n".join(rows), record)
    return 0


def _formula_text(formula: Formula, left: int, right: int) -> str:
    """The same by the formula, with its numbers, and whether it holds for this position."""
    config, beats = formula.config, formula.beats(right)
    columns = f"({beats:,} II) + {formula.overhead}" if config.overlap_outer else f"({beats:,} II + {formula.overhead})"
    holds = "exactly" if formula.holds(left, right) else "at least: memory does not bring a beat in every cycle here"
    return (
        f"formula   {formula.cycles(left, right):>14,} cycles {holds}\n"
        f"          prefetch + left x {columns} + merge; M {config.latency}, D {config.depth}, Z {config.fsm_cycles}, "
        f"II {config.ii}; {formula.overhead} = M + D + Z + 1 - II"
    )
