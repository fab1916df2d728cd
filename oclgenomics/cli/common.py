"""What the commands share: option groups, sizes, output files that are whole or absent, and provenance."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from oclgenomics import __version__
from oclgenomics.errors import InputError, OutputError, UsageError

if TYPE_CHECKING:
    from oclgenomics.formats.alignment import Alignment
    from oclgenomics.runtime import Engine

__all__ = [
    "OneLineParser",
    "add_device_options",
    "add_message_options",
    "add_output_options",
    "atomic_output",
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
_begun: list[tuple[Path, tuple[int, int]]] = []  # outputs and what the file system knows their files by


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
    group.add_argument(
        "--profile",
        nargs="?",
        const="",
        type=_trace_path,
        metavar="FILE.json",
        help="print a table of the time in each kernel; with a file, write a trace for ui.perfetto.dev as well",
    )


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add -o/--output, --json, --quiet, -v and --debug."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="where results go (default: standard output)"
    )
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
        print(f"oclgenomics: {message}", file=sys.stderr)


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
    hidden = ("run", "command_line", "debug", "quiet", "verbose")
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
    return [path for path, file in _begun if _identity(path) == file]


def check_writable(option: str, name: str) -> None:
    """Refuse an output file that could not be written.

    Raises
    ------
    OutputError
        A folder that is not there or not writable, or a file that is write-protected.
    """
    path = Path(name)
    if path.is_dir():
        raise OutputError(f"{option} {name}: is a folder; name a file")
    if not path.parent.is_dir():
        raise OutputError(f"{option} {name}: there is no folder {path.parent}; make it first")
    if path.exists() and not os.access(path, os.W_OK):
        raise OutputError(f"{option} {name}: is write-protected")
    if not path.exists() and not os.access(path.parent, os.W_OK):
        raise OutputError(f"{option} {name}: the folder {path.parent} is not writable")


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


@contextlib.contextmanager
def atomic_output(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Open an output that is written beside its place and renamed when whole.

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
    name = os.fspath(path)
    try:
        if name == "-":
            stream = sys.stdout.buffer if "b" in mode else sys.stdout
            yield stream
            stream.flush()
        elif _written_in_place(name):
            with _open(name, mode) as stream:
                yield stream
        else:
            with _renamed_when_whole(Path(name), mode) as stream:
                yield stream
    except BrokenPipeError:
        raise
    except OSError as error:
        where = "standard output" if name == "-" else name
        raise OutputError(
            f"{where}: cannot be written ({error.strerror or error}); nothing half written is left"
        ) from error


def _open(name: str | int, mode: str) -> IO[Any]:
    return open(name, mode) if "b" in mode else open(name, mode, encoding="utf-8", newline="")


def _written_in_place(name: str) -> bool:
    try:
        kind = os.stat(name).st_mode
    except OSError:
        return False
    if stat.S_ISDIR(kind):
        raise OutputError(f"{name}: is a folder; name a file")
    return not stat.S_ISREG(kind)


@contextlib.contextmanager
def _renamed_when_whole(name: Path, mode: str) -> Iterator[IO[Any]]:
    import tempfile  # here, because it is slow to import and --help does not need it

    path = Path(os.path.realpath(name))
    if path.exists() and not os.access(path, os.W_OK):
        raise OutputError(f"{path}: is write-protected")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        _begun.append((name, _identity(temporary)))  # an interrupt may come right after it was renamed
        with _open(handle, mode) as stream:
            yield stream
        os.chmod(temporary, path.stat().st_mode if path.exists() else 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _identity(path: str | Path) -> tuple[int, int]:
    """Device and number of a file, which stay the same when it is renamed; (0, 0) if there is none."""
    try:
        known = os.stat(path)
    except OSError:
        return 0, 0
    return known.st_dev, known.st_ino


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
