"""`trace`: one grid position cycle by cycle, as text, as a figure and as waveforms."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from hls_model.cli import common
from hls_model.output import open_output
from hls_model.trace import trace
from oclgenomics.commandkit.files import writes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["add_parser"]


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "trace", help="one grid position, cycle by cycle: strip, figure, waveforms", allow_abbrev=False
    )
    parser.add_argument("--left", type=int, default=3, metavar="N", help="left borders tried (default: 3)")
    parser.add_argument("--right", type=int, default=2000, metavar="N", help="right borders tried (default: 2000)")
    writes(parser.add_argument("--vcd", metavar="FILE", help="write every signal as waveforms for GTKWave or Surfer"))
    common.add_design_options(parser)
    common.add_output_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    traced = trace(common.design(args), args.left, args.right)
    if args.vcd:
        from hls_model.timing.vcd import write_vcd

        with open_output(args.vcd) as stream:
            write_vcd(traced.recording, stream)

    def figure() -> Figure:
        from hls_model.plots.trace import plot_trace

        return plot_trace(traced)

    common.write(args, traced.text(), traced.record(), figure)
    return 0
