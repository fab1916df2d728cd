"""What the commands share: option groups, sizes, output files that are whole or absent, and provenance."""

from __future__ import annotations

import argparse
import errno
import itertools
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from oclgenomics import __version__
from oclgenomics.commandkit.files import FileConflictError, Names, named_files, writes
from oclgenomics.commandkit.files import check_files as refuse_conflicts
from oclgenomics.commandkit.streams import printable
from oclgenomics.errors import InputError, OutputError, UsageError
from oclgenomics.io.atomic_file import open_whole, saved_files

if TYPE_CHECKING:
    from oclgenomics.runtime import Engine
    from oclgenomics.variation.alignment import Alignment

__all__ = [
    "OneLineParser",
    "add_device_options",
    "add_message_options",
    "add_output_options",
    "atomic_output",
    "check_files",
    "check_writable",
    "first_read",
    "open_engine",
    "parse_size",
    "provenance",
    "report_profile",
    "saved_outputs",
    "say",
]

_LARGEST_SIZE = 1e18  # bytes; more than any memory, and fits in 64 bits
_SHOWN_TEXT = 40
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong with the words of a command in one line."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unknown arguments: {' '.join(unknown)}")
        return known, unknown

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (options: {self.prog} --help)")


def parse_size(text: str) -> int:
    """Read a size such as "2G", "512M", "1.5GiB" or "1000000" (bytes); the units are powers of 1024."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:I?B)?", text.strip().upper())
    size = 0.0 if match is None else float(match[1]) * (1 << _UNITS[match[2]])
    if not 0 < size < _LARGEST_SIZE:
        shown = repr(text if len(text) <= _SHOWN_TEXT else text[:_SHOWN_TEXT] + "...")
        raise argparse.ArgumentTypeError(f"{shown} is not a size; write 512M or 2G")
    return int(size)


def _trace_path(text: str) -> str:
    # The file's name is optional, so `--profile INPUT` would otherwise take, and overwrite, the input.
    if text and not text.endswith(".json"):
        raise argparse.ArgumentTypeError(f"the trace file's name has to end in .json, which {text!r} does not")
    return text


def add_device_options(parser: argparse.ArgumentParser) -> None:
    """Add -d/--device, --max-memory and --profile."""
    group = parser.add_argument_group("device")
    group.add_argument(
        "-d",
        "--device",
        metavar="DEVICE",
        help="auto, cpu, gpu, an index of `oclgenomics devices`, part of a name, or platform:N "
        "(default: OCLGENOMICS_DEVICE, then PYOPENCL_CTX, then auto)",
    )
    group.add_argument(
        "--max-memory",
        type=parse_size,
        metavar="SIZE",
        help="device memory to use at most, such as 512M or 2G (default: 80 %% of the device's)",
    )
    profile = group.add_argument(
        "--profile",
        nargs="?",
        const="",
        type=_trace_path,
        metavar="FILE.json",
        help="print a table of the time in each kernel; with a file, write a trace for ui.perfetto.dev as well",
    )
    writes(profile)


def add_output_options(parser: argparse.ArgumentParser, names: Names | None = None) -> None:
    """Add -o/--output, --json, --quiet, -v and --debug; `names` as for `oclgenomics.commandkit.files.writes`."""
    group = parser.add_argument_group("output")
    output = group.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="where results go (default: standard output)"
    )
    writes(output, names)
    group.add_argument("--json", action="store_true", help="write results as JSON (default: the command's own format)")
    add_message_options(group)


def add_message_options(group: argparse._ArgumentGroup) -> None:
    """Add --quiet, -v and --debug."""
    group.add_argument("-q", "--quiet", action="store_true", help="no messages but errors on standard error")
    group.add_argument("-v", "--verbose", action="count", default=0, help="more messages on standard error")
    group.add_argument("--debug", action="store_true", help="show the traceback of an error")


def say(args: argparse.Namespace, message: str, level: int = 0) -> None:
    """Write a message to standard error, unless --quiet or, for level 1 and up, without so many -v."""
    if not getattr(args, "quiet", False) and getattr(args, "verbose", 0) >= level:
        print(f"oclgenomics: {printable(message)}", file=sys.stderr)


def open_engine(args: argparse.Namespace) -> Engine:
    """Return an engine for the device options, and name the device on standard error."""
    from oclgenomics.runtime import Engine

    engine = Engine(args.device, max_memory=args.max_memory, profile=args.profile is not None)
    say(args, f"device {engine.device.index}: {engine.device}")
    return engine


def report_profile(args: argparse.Namespace, engine: Engine) -> None:
    """Print the profile's table on standard error and write the trace, where --profile asked for them."""
    if args.profile is None:
        return
    print(engine.profile.table(), file=sys.stderr)
    if args.profile:
        with atomic_output(args.profile) as stream:
            stream.write(engine.profile.trace_json())


def provenance(args: argparse.Namespace, engine: Engine | None) -> dict[str, Any]:
    """Return what made an output: program, version, command line, parameters and device.

    It holds no time of day, so that equal runs give equal bytes.
    """
    hidden = ("run", "parser", "command_line", "debug", "quiet", "verbose")
    record: dict[str, Any] = {
        "program": "oclgenomics",
        "version": __version__,
        "command": list(getattr(args, "command_line", [])),
        "parameters": {name: _plain(value) for name, value in sorted(vars(args).items()) if name not in hidden},
    }
    if engine is not None:
        device = engine.device
        record["device"] = {
            "name": device.name,
            "kind": device.kind,
            "platform": device.platform,
            "platform_version": device.platform_version,
            "driver": device.driver,
        }
    return record


def _plain(value: Any) -> Any:
    if isinstance(value, (frozenset, set)):
        return sorted(value)
    return value if isinstance(value, (str, int, float, bool, list, tuple, dict, type(None))) else str(value)


def saved_outputs() -> list[Path]:
    """List the files this process has written whole: the outputs whose names are now those of its files."""
    return saved_files()


def check_files(args: argparse.Namespace) -> None:
    """Refuse, before any work, outputs that would destroy a file of the command or could not be written.

    Every command is checked before it runs. One that finds out later what files it reads calls this again.

    Raises
    ------
    UsageError
        An output that is an input or another output.
    InputError
        An input whose name no file can have.
    OutputError
        See `check_writable`.
    """
    files = named_files(args.parser, args)
    try:
        refuse_conflicts(files)
    except FileConflictError as error:
        raise UsageError(str(error)) from None
    for file in files:
        if str(file.name) != "-":
            (check_writable if file.kind == "output" else _check_nameable)(file.option, str(file.name))


def check_writable(option: str, name: str) -> None:
    """Refuse an output file that could not be written.

    Raises
    ------
    OutputError
        A folder that is not there or not writable, a file that is write-protected, or a name that is too long.
    """
    path = Path(name)
    try:
        there = stat.S_ISDIR(path.stat().st_mode)
    except FileNotFoundError:
        there = None
    except OSError as error:
        raise OutputError(f"{option} {name}: cannot be written ({error.strerror or error})") from error
    if there:
        raise OutputError(f"{option} {name}: is a folder; name a file")
    if not path.parent.is_dir():
        raise OutputError(f"{option} {name}: there is no folder {path.parent}; make it first")
    if there is not None and not os.access(path, os.W_OK):
        raise OutputError(f"{option} {name}: is write-protected")
    if there is None and not os.access(path.parent, os.W_OK):
        raise OutputError(f"{option} {name}: the folder {path.parent} is not writable")


def _check_nameable(option: str, name: str) -> None:
    try:
        os.stat(name)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InputError(f"cannot be read ({error.strerror})", source=f"{option} {name}") from None


def first_read(alignments: Iterator[Alignment], source: str) -> Iterator[Alignment]:
    """Return the same alignments, the first of which is read now: a bad input is told before a device starts.

    Raises
    ------
    InputError
        There is no alignment.
    """
    try:
        first = next(alignments)
    except StopIteration:
        raise InputError("holds no alignment", source=source) from None
    return itertools.chain([first], alignments)


def atomic_output(path: str | os.PathLike[str], mode: str = "w") -> AbstractContextManager[IO[Any]]:
    """Open an output that is there whole or not at all.

    Parameters
    ----------
    path : path
        "-" is standard output. Devices and pipes are written in place.
    mode : {'w', 'wb'}
        Text (UTF-8) or bytes.

    Raises
    ------
    OutputError
        The file cannot be written; what was there before is still there.
    """
    return open_whole(path, mode, OutputError)
