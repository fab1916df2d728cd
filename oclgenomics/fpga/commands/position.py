"""`timing` and `trace`: one grid position, its cycles by phase, and cycle by cycle."""

from __future__ import annotations

import argparse
from pathlib import Path

from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.files import open_output
from hls_model.formula import Formula
from hls_model.records import record_of
from oclgenomics.app.files import works_in, writes
from oclgenomics.fpga import plots
from oclgenomics.fpga.commands import common
from oclgenomics.lazy_names import late

clock = late("hls_model.clock")
stimulus = late("hls_model.rtl.stimulus")
timing_model = late("hls_model.timing")
trace_model = late("hls_model.extras.trace")
waves = late("hls_model.extras.waves")
workload = late("hls_model.workload")

LARGEST_SEED = (1 << 32) - 1


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add both commands."""
    parser = common.add_command(subparsers, "timing", _run_timing)
    _add_sides(parser, 1_000, 1_000)
    common.add_shared_options(parser, "level design", plot="")
    _add_trace(subparsers)


def _add_sides(parser: argparse.ArgumentParser, left: int, right: int) -> None:
    """Add --left and --right with their defaults."""
    common.add_count(parser, "--left", left, "left borders tried")
    common.add_count(parser, "--right", right, "right borders tried")


def _run_timing(args: argparse.Namespace) -> int:
    """Run the command."""
    config = common.fitting_design(args)
    timing = timing_model.simulate(workload.Workload.single(args.left, args.right), config, args.level)
    formula = Formula(config)
    phases = {name: int(cycles.sum()) for name, cycles in timing.phases.items()}
    record = {
        "design": timing.config.name,
        **clock.clock_record(config),
        "level": timing.level,
        "exact": timing.bound == "exact",
        "cycles": timing.cycles,
        "phases_cycles": phases,
        **record_of(timing, "seconds omegas=workload.omegas software_omegas omega_per_s=hardware_rate"),
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
    rows.append(clock.asked_text(config))
    return common.write(args, "\n".join(rows), record)


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


def _add_trace(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = common.add_command(subparsers, "trace", _run_trace)
    _add_sides(parser, 3, 2_000)
    writes(parser.add_argument("--vcd", metavar="FILE", help="write every signal as waveforms for GTKWave or Surfer"))
    verilog = parser.add_argument_group(
        "waveforms of the Verilog", "These need verilator; a build takes a minute or more."
    )
    writes(verilog.add_argument("--rtl", metavar="FILE", help="run the Verilog and write its waveforms"))
    common.add_count(verilog, "--seed", 1, "seed of the operands")
    works_in(verilog.add_argument(
        "--build-folder", metavar="FOLDER", help="keep the built Verilog here (default: a temporary folder)"
    ))  # fmt: skip
    common.add_shared_options(parser, "design")


def _run_trace(args: argparse.Namespace) -> int:
    """Run the command."""
    config = common.fitting_design(args)
    traced = trace_model.trace(config, args.left, args.right)
    if args.rtl:
        _write_waves(args, config)
    if args.vcd:
        with open_output(args.vcd) as stream:
            waves.write_vcd(traced.recording, stream)

    return common.write(args, traced.text(), traced.record(), lambda: plots.plot_trace(traced))


def _write_waves(args: argparse.Namespace, config: Config) -> None:
    if not 0 <= args.seed <= LARGEST_SEED:
        raise ModelError(f"--seed is {args.seed}; it has to be 0 to {LARGEST_SEED}")
    with open_output(args.rtl) as stream:
        folder = Path(args.build_folder) if args.build_folder else None
        waves.write_waves(stimulus.operands(args.left, args.right, args.seed), config, stream, folder)
