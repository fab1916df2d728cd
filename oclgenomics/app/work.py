"""What a command does when it runs: checks its outputs, opens an engine, and writes results, facts and messages."""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from oclgenomics import notices, runtime
from oclgenomics.app.files import FileConflictError, check_files as refuse_conflicts, named_files, unnamed_file
from oclgenomics.app.progress import Progress
from oclgenomics.app.provenance import make_provenance
from oclgenomics.app.streams import printable
from oclgenomics.errors import InputError, OutputError, UsageError
from oclgenomics.io.atomic_file import open_whole, saved_files
from oclgenomics.io.json_text import json_text
from oclgenomics.io.packed_file import check_packer, open_packed
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from oclgenomics.runtime import Engine
    from oclgenomics.runtime.profile import Profile

drawing = late("oclgenomics.app.drawing")

NOT_PARAMETERS = {
    "run", "parser", "command_line", "debug", "quiet", "verbose", "shard", "pieces", "scheduler", "piece_count",
    "piece_dir", "workers", "versions",
}  # fmt: skip


# Before the work


def check_files(args: argparse.Namespace) -> None:
    """Refuse, before any work, outputs that would destroy a file of the command or could not be written.

    Every command is checked before it runs. One that finds out later what files it reads calls this again.

    Raises
    ------
    UsageError
        An output that is an input or another output, or a name that is empty.
    InputError
        An input whose name no file can have.
    OutputError
        See `check_writable`.
    """
    if option := unnamed_file(args.parser, args):
        raise UsageError(f"{option}: the name is empty")
    files = named_files(args.parser, args)
    try:
        refuse_conflicts(files)
    except FileConflictError as error:
        raise UsageError(str(error)) from None
    for file in files:
        if str(file.name) != "-":
            if file.kind == "output":
                check_packer(str(file.name))
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


# The engine


def begin_engine(args: argparse.Namespace, *, draws: str | None = None) -> None:
    """Have the device of the options ready soon, while the rest is imported.

    Python waits for the libraries of runtimes where it loads a library, too, so the modules that need some come before.
    That of NVIDIA's driver is there at once; the context that is made by it is what takes long.

    Parameters
    ----------
    args : Namespace
    draws : str, optional
        The function of the system's `plots` that draws what --plot asks for, by `plots.draw_figure`.
    """
    if draws is not None and args.plot:  # while there is one thread, and little memory that two processes would share
        drawing.begin_drawing(f"oclgenomics.{args.command}.plots", draws)
    runtime.begin_gpu(args.device)
    for name in (
        "concurrent.futures.thread",
        "subprocess",
        "oclgenomics.io.array_layout",
        "oclgenomics.runtime.engine",
    ):
        importlib.import_module(name)
    runtime.begin_engine(args.device)


def open_engine(args: argparse.Namespace) -> Engine:
    """Return an engine for the device options, and name the device on standard error."""
    engine = runtime.Engine(args.device, max_memory=args.max_memory, profile=args.profile is not None)
    say(args, f"device {engine.device.index}: {engine.device}")
    return engine


@contextlib.contextmanager
def chosen_engine(args: argparse.Namespace) -> Iterator[Engine | None]:
    """Lend an engine on the device of `add_device_choice`, and name the device on standard error; None without one."""
    if args.device is None:
        yield None
        return
    with runtime.Engine(args.device, max_memory=args.max_memory) as engine:
        say(args, f"device {engine.device.index}: {engine.device}")
        yield engine


class Profiled(Protocol):
    """An engine, or several processes together."""

    @property
    def profile(self) -> Profile: ...


def report_profile(args: argparse.Namespace, engine: Engine | Profiled) -> None:
    """Print the profile's table on standard error and write the trace, where --profile asked for them."""
    if args.profile is None:
        return
    print(engine.profile.table(), file=sys.stderr)
    if args.profile:
        with text_output(args.profile) as stream:
            stream.write(engine.profile.trace_json())


def started_progress(args: argparse.Namespace, label: str, unit: str = "MB", scale: float = 1e6) -> Progress:
    """Return a line of progress on the terminal, unless --quiet, with its first stage begun."""
    progress = Progress(enabled=not args.quiet)
    progress.stage(label, unit, scale)
    return progress


def provenance(args: argparse.Namespace, engine: Engine | None) -> dict[str, Any]:
    """Return what made an output of a command; see `oclgenomics.app.provenance.make_provenance`."""
    parameters = {name: value for name, value in vars(args).items() if name not in NOT_PARAMETERS}
    device = None if engine is None else engine.device
    return make_provenance(parameters, command=getattr(args, "command_line", []), device=device)


# Results and messages


def text_output(path: str | os.PathLike[str], mode: str = "w") -> AbstractContextManager[IO[Any]]:
    """Open an output for text that is there whole or not at all, and compressed if its name says so.

    Parameters
    ----------
    path : path
        "-" is standard output. Devices and pipes are written in place. See `oclgenomics.io.packed_file.open_packed`.
    mode : {'w', 'wb'}
        Takes text (UTF-8), or its bytes.

    Raises
    ------
    OutputError
        The file cannot be written; what was there before is still there.
    """
    if mode == "wb" and os.fspath(path) == "-" and sys.stdout.isatty():
        return _shown_bytes(path)
    return open_packed(path, mode, OutputError)


@contextlib.contextmanager
def _shown_bytes(path: str | os.PathLike[str]) -> Iterator[Any]:
    with open_packed(path, "w", OutputError) as stream:
        yield _ShownBytes(stream)


class _ShownBytes:
    """Takes the bytes of text and shows them on a terminal as text is shown there, without control characters."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, data: bytes | memoryview) -> int:
        self._stream.write(bytes(data).decode("utf-8", "backslashreplace"))
        return len(data)

    def flush(self) -> None:
        self._stream.flush()


def binary_output(path: str | os.PathLike[str]) -> AbstractContextManager[IO[bytes]]:
    """Open an output for bytes that are no text, such as a figure; otherwise as `text_output`, and never packed."""
    return open_whole(path, "wb", OutputError)


def write_facts(args: argparse.Namespace, facts: Mapping[str, Any], shown: Mapping[str, Any]) -> None:
    """Write facts to --output.

    Parameters
    ----------
    args : Namespace
        With `output` and `json`.
    facts : mapping
        As JSON has them.
    shown : mapping
        The same as text, or whatever `str` makes it of.
    """
    lines = "".join([f"{name}\t{value}\n" for name, value in shown.items()])
    with text_output(args.output) as stream:
        stream.write(json_text(facts, indent=1) + "\n" if args.json else lines)


def say(args: argparse.Namespace, message: str, level: int = 0) -> None:
    """Write a message to standard error, unless --quiet or, for level 1 and up, without so many -v."""
    if not getattr(args, "quiet", False) and getattr(args, "verbose", 0) >= level:
        notices.tell(printable(message))  # in one piece, whenever a signal comes


def say_written(args: argparse.Namespace) -> None:
    """Name the files that the command has written."""
    for path in saved_outputs():
        say(args, f"wrote {path}")


def saved_outputs() -> list[Path]:
    """List the files this process has written whole: the outputs whose names are now those of its files."""
    return saved_files()
