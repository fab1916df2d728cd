"""The model's commands, as `python -m hls_model COMMAND` and as `oclgenomics fpga COMMAND`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from hls_model.errors import ModelError, ModelOutputError
from oclgenomics.app import stopping
from oclgenomics.app.files import FileConflictError, check_files, named_files
from oclgenomics.app.streams import StreamError, flush_output, printable
from oclgenomics.io.atomic_file import output_trouble

__all__ = ["COMMANDS", "add_commands", "main"]

COMMANDS: tuple[str, ...] = (
    "curve",
    "explore",
    "hls",
    "memory",
    "project",
    "report",
    "resources",
    "roofline",
    "sdtw",
    "table1",
    "table3",
    "timing",
    "trace",
    "validate",
)
INTERRUPTED = 130


def add_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser], names: Sequence[str]) -> None:
    """Add the commands of these names to a parser; each module has `add_parser(subparsers)`, which sets `run`."""
    for name in names:
        importlib.import_module(f"hls_model.cli.{name.replace('-', '_')}").add_parser(subparsers)


def _check_files(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    try:
        check_files(named_files(parser, args))
    except FileConflictError as error:
        raise ModelError(str(error)) from None


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        The command line without the program's name; `sys.argv` when missing.

    Returns
    -------
    int
        0 done, 1 a check failed, 2 usage, 3 bad input, 5 output not written, 130 interrupted, 143 terminated.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(
        prog="python -m hls_model", description="Model of the FPGA omega pipeline.", allow_abbrev=False
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    add_commands(subparsers, [words[0]] if words and words[0] in COMMANDS else COMMANDS)
    try:
        stopping.raise_on_signals()
        status = _run(parser, words)
        flush_output()
        return status
    except KeyboardInterrupt:
        status, word = stopping.received() or (INTERRUPTED, "interrupted")
        print(f"hls_model: {word}", file=sys.stderr)
        return status
    except BrokenPipeError:
        return 0
    except StreamError as error:
        print(f"hls_model: error: {output_trouble(error)}", file=sys.stderr)
        return ModelOutputError.exit_code
    except ModelError as error:
        if "--debug" in words:
            raise
        print(f"hls_model: error: {printable(str(error))}", file=sys.stderr)
        return error.exit_code
    finally:
        stopping.exit_quietly()


def _run(parser: argparse.ArgumentParser, words: list[str]) -> int:
    try:
        args = parser.parse_args(words)
        _check_files(parser, args)
        status: int = args.run(args)
        return status
    except SystemExit as stop:  # argparse ends so, after --help and after wrong usage
        return stop.code if isinstance(stop.code, int) else 2
