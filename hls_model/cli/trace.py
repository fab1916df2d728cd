"""`trace`: one grid position cycle by cycle, as text, as a figure and as waveforms."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from hls_model.cli import common
from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.extras.trace import trace
from hls_model.files import open_output
from hls_model.resources import check_fits
from oclgenomics.app.files import works_in, writes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["add_parser"]

LARGEST_SEED = (1 << 32) - 1


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "trace", help="one grid position, cycle by cycle: strip, figure, waveforms", allow_abbrev=False
    )
    parser.add_argument("--left", type=int, default=3, metavar="N", help="left borders tried (default: 3)")
    parser.add_argument("--right", type=int, default=2000, metavar="N", help="right borders tried (default: 2000)")
    writes(parser.add_argument("--vcd", metavar="FILE", help="write every signal as waveforms for GTKWave or Surfer"))
    verilog = parser.add_argument_group(
        "waveforms of the Verilog", "These need verilator; a build takes a minute or more."
    )
    writes(verilog.add_argument("--rtl", metavar="FILE", help="run the Verilog and write its waveforms"))
    verilog.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the operands (default: 1)")
    works_in(
        verilog.add_argument(
            "--build-folder", metavar="FOLDER", help="keep the built Verilog here (default: a temporary folder)"
        )
    )
    common.add_design_options(parser)
    common.add_output_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    config = common.design(args)
    check_fits(config)
    traced = trace(config, args.left, args.right)
    if args.rtl:
        _write_waves(args, config)
    if args.vcd:
        from hls_model.extras.waves import write_vcd

        with open_output(args.vcd) as stream:
            write_vcd(traced.recording, stream)

    def figure() -> Figure:
        from hls_model.plots.trace import plot_trace

        return plot_trace(traced)

    common.write(args, traced.text(), traced.record(), figure)
    return 0


def _write_waves(args: argparse.Namespace, config: Config) -> None:
    from hls_model.extras.waves import write_waves
    from hls_model.rtl.stimulus import operands

    if not 0 <= args.seed <= LARGEST_SEED:
        raise ModelError(f"--seed is {args.seed}; it has to be 0 to {LARGEST_SEED}")
    with open_output(args.rtl) as stream:
        folder = Path(args.build_folder) if args.build_folder else None
        write_waves(operands(args.left, args.right, args.seed), config, stream, folder)
