"""`oclgenomics fpga`: projections of scans onto FPGA designs, and all that the model says of a design."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from typing import Any

from hls_model.errors import ModelError, ModelInputError, ModelOutputError
from oclgenomics.app.commands import OneLineParser, add_late_parsers
from oclgenomics.errors import InputError, OclGenomicsError, OutputError, UsageError

COMMANDS = {  # the module of each, and what helps say of it
    "curve": ("curve", "throughput against right-side iterations (Figs. 10, 11 of the paper)"),
    "explore": ("explore", "many designs: rate against resources, and the Pareto front"),
    "hls": ("hls", "write the pipeline as C++ for high-level synthesis, with test bench and scripts"),
    "memory": ("memory", "latency and bandwidth of a board's DRAM (level L2)"),
    "project": ("project", "time of a scan on FPGA designs, and of the same scan on this machine's OpenCL device"),
    "report": ("resources", "timing, latency, loops and utilisation, as synthesis reports them"),
    "resources": ("resources", "what a design takes of its device"),
    "roofline": ("roofline", "what lanes, memory and host link allow"),
    "run": ("run", "every omega of a scan in the hardware's arithmetic, and the error of its maxima"),
    "sdtw": ("sdtw", "nanopore reads through a systolic array for sDTW"),
    "table1": ("paper", "resources of Table I of the paper"),
    "table3": ("paper", "rates and speedups of Table III, seconds of Fig. 14"),
    "timing": ("position", "cycles and rate of one grid position, by phase"),
    "trace": ("position", "one grid position, cycle by cycle: strip, figure, waveforms"),
    "validate": (
        "validate",
        "compare all levels of timing and the arithmetic with recorded or live runs of the Verilog",
    ),
}


def add_parser(subparsers: Any) -> None:
    """Add the command and its own commands, whose modules need NumPy."""
    parser = subparsers.add_parser("fpga")
    commands = parser.add_subparsers(dest="fpga_command", metavar="COMMAND", required=True, parser_class=OneLineParser)
    add_late_parsers(commands, {name: help for name, (_, help) in COMMANDS.items()}, _add)


def _add(name: str, commands: Any) -> None:
    importlib.import_module(f"{__name__}.{COMMANDS[name][0]}").add_parser(commands)
    for command in commands.choices.values():
        command.set_defaults(run=_translated(command.get_default("run")))


def _translated(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Have a command raise the errors of the model as those of all commands."""

    def translated(args: argparse.Namespace) -> int:
        try:
            return run(args)
        except ModelError as error:
            raise _kind(error)(str(error)) from error

    return translated


def _kind(error: ModelError) -> type[OclGenomicsError]:
    if isinstance(error, ModelInputError):
        return InputError
    return OutputError if isinstance(error, ModelOutputError) else UsageError
