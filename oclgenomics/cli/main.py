"""The `oclgenomics` command: finds the command's module, runs it, and turns errors into one line and an exit code."""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import sys
import threading
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from oclgenomics import __version__, notices
from oclgenomics.app import stopping
from oclgenomics.app.commands import OneLineParser, add_late_parsers, check_files, saved_outputs, text_output
from oclgenomics.app.files import option_of
from oclgenomics.app.provenance import versions_text
from oclgenomics.app.streams import StreamError, flush_output, printable
from oclgenomics.errors import AllocationError, InputError, OclGenomicsError, OutputError
from oclgenomics.io.atomic_file import forget_files, output_trouble
from oclgenomics.io.cores import limited_to
from oclgenomics.io.processes import memory_limit, said_of_limit

SYSTEMS = {  # in oclgenomics.NAME.commands, and what helps say of each
    "classify": "reads to taxa: databases of reference genomes, and their queries",
    "fpga": "model of the FPGA omega pipeline: rates, resources, bottlenecks",
    "kmers": "k-mers of any length: their counts, spectra, dumps and set algebra",
    "omega": "selective sweeps by linkage disequilibrium (omega statistic)",
    "sdtw": "on-target nanopore reads, found by their raw signal",
    "signatures": "long patterns with wildcards in reads and genomes, scored by quality",
    "sweeps": "selective sweeps by mu, CLR, haplotypes, diversity and others",
    "simulate": "write seeded data for demonstrations, tests and benchmarks",
}
VERSION_YAML = {"--version", "--yaml"}
COMMANDS = SYSTEMS | {  # in oclgenomics.cli.NAME
    "devices": "list the OpenCL devices",
    "doctor": "check the OpenCL installation",
    "worker": "do pieces of jobs for a Dask scheduler",
}
INTERRUPTED = 130
OUT_OF_MEMORY = 4
MIN_MEMORY = 128 << 20  # bytes; with less NumPy's libraries cannot be loaded
AGAIN_SECONDS = 0.05


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        The command line without the program's name; `sys.argv` when missing.

    Returns
    -------
    int
        0 done, 2 usage, 3 bad input, 4 no device or not enough memory, 5 output not written, 130 interrupted, 143
        terminated, 129 hung up, 1 a defect of the program.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words
    try:
        stopping.raise_on_signals()
        status = _run(words)
        flush_output()
        return status
    except KeyboardInterrupt:
        return _stopped(debug)
    except BrokenPipeError:  # the reader of standard output has seen enough
        return 0
    except StreamError as error:
        return _fail(f"error: {output_trouble(error)}", OutputError.exit_code, debug)
    except OclGenomicsError as error:
        return _stopped(debug) if stopping.received() else _fail(f"error: {error}", error.exit_code, debug)
    except MemoryError as error:
        from oclgenomics.runtime.limits import limits_hint

        reason = f" ({error})" if str(error) else ""
        remedy = limits_hint() or "ask for less at a time, or free some"
        return _fail(f"error: not enough memory{reason}; {remedy}", OUT_OF_MEMORY, debug)
    except Exception as error:
        if stopping.received():  # which some libraries turn into errors of their own
            return _stopped(debug)
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            what = f"{error.filename}: " if error.filename else ""
            told = f"error: {what}too many open files; give fewer files at a time, or raise the limit: ulimit -n 1024"
            return _fail(told, InputError.exit_code, debug)
        told = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return _fail(f"error: {told} (a defect; --debug shows where)", 1, debug)
    finally:
        stopping.exit_quietly()


def _run(words: list[str]) -> int:
    forget_files()
    if len(words) == len(VERSION_YAML) and set(words) == VERSION_YAML:
        print(versions_text(), end="")
        return 0
    try:
        parser = _parser()
        args = parser.parse_args(words)
        args.parser, args.command_line = parser, ["oclgenomics", *words]
        check_files(args)
        if getattr(args, "plot", None):
            _quiet_figures()
        with lasting_interrupts(), notices.of_command(quiet=getattr(args, "quiet", False)):
            return _run_command(args)
    except SystemExit as stop:  # argparse ends so, after --help and after wrong usage
        return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 2


def _run_command(args: argparse.Namespace) -> int:
    """Run the command that was chosen; its errors name options where those of the library name parameters."""
    limited = memory_limit(MIN_MEMORY)
    if limited is not None:  # before libraries are imported, some of which end the process
        limit, letter = limited
        needed = f"and every command needs {MIN_MEMORY >> 20:,} MiB or more"
        raise AllocationError(said_of_limit(f"{limit >> 20:,} MiB", needed, letter))
    try:
        with limited_to(getattr(args, "threads", None)):  # before anything is loaded
            status: int = args.run(args)
        if status == 0 and getattr(args, "versions", None):
            with text_output(args.versions) as stream:
                stream.write(versions_text())
    except OclGenomicsError as error:
        error.option_of = option_of(args.parser, args)
        raise
    return status


def _quiet_figures() -> None:
    """Have Matplotlib keep to itself that it cannot keep its cache, as in a home that is full or read-only."""
    import logging

    logging.getLogger("matplotlib").setLevel(logging.ERROR)


@contextlib.contextmanager
def lasting_interrupts() -> Iterator[None]:
    """Send interrupts again that come while an object is released: Python drops exceptions that are raised there."""
    before = sys.unraisablehook
    main_thread = threading.main_thread().ident or 0

    def send_again(dropped: Any) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt):
            timer = threading.Timer(AGAIN_SECONDS, stopping.send_again, (main_thread,))
            timer.daemon = True
            timer.start()
        else:
            before(dropped)

    sys.unraisablehook = send_again
    try:
        yield
    finally:
        sys.unraisablehook = before


def _stopped(debug: bool) -> int:
    status, word = stopping.received() or (INTERRUPTED, "interrupted")
    saved = ", ".join(map(str, saved_outputs())) or "nothing"
    return _fail(f"{word}; saved: {saved}", status, debug)


def _fail(message: str, status: int, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exc()
    print(f"oclgenomics: {printable(message)}", file=sys.stderr)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(
        prog="oclgenomics", description="Genomics workloads on any OpenCL device.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"oclgenomics {__version__}")
    told = "with --version: libraries, too, and as YAML"
    parser.add_argument("--yaml", action=_OfVersion, nargs=0, default=argparse.SUPPRESS, help=told)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    # Only the module that will run is imported, which keeps every start short.
    add_late_parsers(
        subparsers,
        dict(sorted(COMMANDS.items())),
        lambda name, actions: _module(name).add_parser(actions),
    )
    return parser


class _OfVersion(argparse.Action):
    """An option that says nothing without --version."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        parser.error("--yaml goes with --version, and with nothing else")


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"oclgenomics.{name}.commands" if name in SYSTEMS else f"oclgenomics.cli.{name}")
