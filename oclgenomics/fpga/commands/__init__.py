"""`oclgenomics fpga`: the commands of `hls_model`, under the same errors and exit codes as all others."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from hls_model.cli import COMMANDS, add_commands
from hls_model.errors import ModelError, ModelInputError, ModelOutputError
from oclgenomics.app.commands import OneLineParser
from oclgenomics.errors import InputError, OclGenomicsError, OutputError, UsageError
from oclgenomics.fpga.commands import project as fpga_project
from oclgenomics.fpga.commands import run as fpga_run

__all__ = ["add_parser"]

OWN = {"project"}  # reads what `omega scan` reads, and measures


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its own commands."""
    parser = subparsers.add_parser("fpga", help="model of the FPGA omega pipeline: rates, resources, bottlenecks")
    kind: type[argparse.ArgumentParser] = OneLineParser
    commands = parser.add_subparsers(dest="fpga_command", metavar="COMMAND", required=True, parser_class=kind)
    add_commands(commands, [name for name in COMMANDS if name not in OWN])
    fpga_project.add_parser(commands)
    fpga_run.add_parser(commands)
    for command in commands.choices.values():
        command.set_defaults(run=_translated(command.get_default("run")))


def _translated(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
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
