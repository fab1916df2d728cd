"""Where a command's results go: their format, files that are whole or absent, and what is told about them."""

from __future__ import annotations

import argparse
import errno
import os
import stat
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Generic, TypeVar

from oclgenomics.app.files import FileConflictError, named_files, unnamed_file
from oclgenomics.app.files import check_files as refuse_conflicts
from oclgenomics.app.provenance import make_provenance
from oclgenomics.app.streams import printable
from oclgenomics.errors import InputError, OutputError, UsageError
from oclgenomics.io.atomic_file import open_whole, saved_files
from oclgenomics.io.packed_file import check_packer, open_packed

if TYPE_CHECKING:
    from oclgenomics.runtime import Engine

__all__ = [
    "PACKED",
    "OutputOptions",
    "binary_output",
    "check_files",
    "check_writable",
    "provenance",
    "saved_outputs",
    "say",
    "say_written",
    "text_output",
]

PACKED = "packed if the name ends in .gz, .bz2, .xz or .zst"  # of every output that is text
NOT_PARAMETERS = {"run", "parser", "command_line", "debug", "quiet", "verbose"}

FormatT = TypeVar("FormatT", bound=str)


@dataclass(frozen=True)
class OutputOptions(Generic[FormatT]):
    """Where results go, and in which format.

    Attributes
    ----------
    path : str
        As -o names it; "-" is standard output.
    format : str
    """

    path: str
    format: FormatT

    @classmethod
    def resolve(cls, args: argparse.Namespace, formats: Sequence[FormatT]) -> OutputOptions[FormatT]:
        """Settle what --format, --json and -o ask for.

        Parameters
        ----------
        args : Namespace
            Its `format` becomes the one that is written, which is what the provenance says.
        formats : sequence of str
            All that the command writes; the first is the one without --format and --json.

        Raises
        ------
        UsageError
            --json and --format contradict each other, or there is no such format.
        """
        if args.json and args.format not in (None, "json"):
            raise UsageError(f"--json and --format {args.format} contradict each other; give one of them")
        asked = args.format or ("json" if args.json else formats[0])
        for known in formats:
            if known == asked:
                args.format = known
                return cls(args.output, known)
        raise UsageError(f"--format {asked}: choose one of {', '.join(formats)}")

    def write(self, text: str) -> None:
        """Write the whole of the results.

        Raises
        ------
        OutputError
            The file cannot be written.
        """
        with text_output(self.path) as stream:
            stream.write(text)


def say(args: argparse.Namespace, message: str, level: int = 0) -> None:
    """Write a message to standard error, unless --quiet or, for level 1 and up, without so many -v."""
    if not getattr(args, "quiet", False) and getattr(args, "verbose", 0) >= level:
        print(f"oclgenomics: {printable(message)}", file=sys.stderr)


def say_written(args: argparse.Namespace) -> None:
    """Name the files that the command has written."""
    for path in saved_outputs():
        say(args, f"wrote {path}")


def provenance(args: argparse.Namespace, engine: Engine | None) -> dict[str, Any]:
    """Return what made an output of a command; see `oclgenomics.app.provenance.make_provenance`."""
    parameters = {name: value for name, value in vars(args).items() if name not in NOT_PARAMETERS}
    device = None if engine is None else engine.device
    return make_provenance(parameters, command=getattr(args, "command_line", []), device=device)


def saved_outputs() -> list[Path]:
    """List the files this process has written whole: the outputs whose names are now those of its files."""
    return saved_files()


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


def text_output(path: str | os.PathLike[str], mode: str = "w") -> AbstractContextManager[IO[Any]]:
    """Open an output for text that is there whole or not at all, and packed if its name says so.

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
    return open_packed(path, mode, OutputError)


def binary_output(path: str | os.PathLike[str]) -> AbstractContextManager[IO[bytes]]:
    """Open an output for bytes that are no text, such as a figure; otherwise as `text_output`, and never packed."""
    return open_whole(path, "wb", OutputError)
