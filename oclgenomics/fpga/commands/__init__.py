"""`oclgenomics fpga`: projections of scans onto FPGA designs, and all that the model says of a design."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from hls_model.errors import ModelError, ModelInputError, ModelOutputError
from oclgenomics.app.commands import OneLineParser
from oclgenomics.errors import InputError, OclGenomicsError, OutputError, UsageError
from oclgenomics.fpga.commands import (
    curve,
    explore,
    hls,
    memory,
    paper,
    position,
    project,
    resources,
    roofline,
    run,
    sdtw,
    validate,
)
from oclgenomics.fpga.commands.common import check_outputs

__all__ = ["add_parser"]

MODULES = (curve, explore, hls, memory, resources, roofline, sdtw, paper, position, validate, project, run)


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its own commands."""
    parser = subparsers.add_parser("fpga", help="model of the FPGA omega pipeline: rates, resources, bottlenecks")
    kind: type[argparse.ArgumentParser] = OneLineParser
    commands = parser.add_subparsers(dest="fpga_command", metavar="COMMAND", required=True, parser_class=kind)
    for module in MODULES:
        module.add_parser(commands)
    for command in commands.choices.values():
        command.set_defaults(run=_translated(command.get_default("run")))


def _translated(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Have a command refuse outputs before it computes, and raise the errors of the model as those of all commands."""

    def translated(args: argparse.Namespace) -> int:
        check_outputs(args)
        try:
            return run(args)
        except ModelError as error:
            raise _kind(error)(str(error)) from error

    return translated


def _kind(error: ModelError) -> type[OclGenomicsError]:
    if isinstance(error, ModelInputError):
        return InputError
    return OutputError if isinstance(error, ModelOutputError) else UsageError
