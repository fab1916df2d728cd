"""Which options of a command name files, and that no output is written over an input or another output.

Every option that names a file says so where it is added to its parser, with `reads`, `writes` or `works_in`. So one
check, `check_files`, does for all commands. Files are compared by device and number, which see through links of both
kinds and other spellings of a path, and by their resolved path where they are not there yet.
"""

from __future__ import annotations

import argparse
import glob
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

STANDARD = "-"
Names = Callable[[argparse.Namespace, str], Iterable["str | Family"]]
FileKey = tuple[object, ...]
"""What tells a file from others: `file_key`."""


class FileConflictError(Exception):
    """An output is also an input or another output, or two inputs are standard input; the message is one line."""


@dataclass(frozen=True)
class Family:
    """Outputs whose names are known only when they are written: everything from a beginning to an end."""

    beginning: str
    end: str

    def __str__(self) -> str:
        return f"{self.beginning}*{self.end}"


@dataclass(frozen=True)
class _Role:
    kind: str  # 'input', 'output' or 'folder'
    names: Names | None = None
    of_run: bool = False
    in_file: bool = False


@dataclass(frozen=True)
class NamedFile:
    """A file that the words of a command name.

    Attributes
    ----------
    option : str
        As the user knows it: "-o", or "the input" or "the output" for one without an option.
    name : str or Family
        "-" is a standard stream.
    kind : str
        'input' or 'output'.
    in_file : bool
        It cannot be a standard stream.
    """

    option: str
    name: str | Family
    kind: str
    in_file: bool = False

    def __str__(self) -> str:
        return f"{self.option} {self.name}"


def reads(action: argparse.Action, names: Names | None = None) -> argparse.Action:
    """Declare that an option names a file to read; `names` as for `writes`, where it may be something else."""
    return _declare(action, _Role("input", names))


def writes(
    action: argparse.Action, names: Names | None = None, *, of_run: bool = False, in_file: bool = False
) -> argparse.Action:
    """Declare that an option names a file to write.

    Parameters
    ----------
    names : callable, optional
        Gives the files that are written, from all options and this one's value, where they are others.
    of_run : bool
        The file is about the run of the command: there is one, however many samples a sheet names.
    in_file : bool
        It is a database or the like, which is not written to standard output.
    """
    return _declare(action, _Role("output", names, of_run, in_file))


def works_in(action: argparse.Action) -> argparse.Action:
    """Declare that an option names a folder in which files of their own names are made."""
    return _declare(action, _Role("folder"))


def role_of(action: argparse.Action) -> str | None:
    """Return 'input', 'output' or 'folder', or None for an option that names no file."""
    role = _role(action)
    return None if role is None else role.kind


def of_samples(action: argparse.Action) -> bool:
    """Whether an option names outputs of which each sample of a sheet has its own."""
    role = _role(action)
    return role is not None and role.kind == "output" and not role.of_run


def named_files(parser: argparse.ArgumentParser, args: argparse.Namespace) -> list[NamedFile]:
    """List the files that a parsed command line names, of the command that was chosen.

    With a sample sheet, outputs of samples are not among them: they have their names from the sheet (`app.samples`).
    """
    found = []
    for action in chosen_actions(parser, args):
        role, value = _role(action), getattr(args, action.dest, None)
        if role is None or role.kind == "folder" or (hasattr(args, "samplesheet") and of_samples(action)):
            continue
        option = _option(action, role)
        for given in value if isinstance(value, list) else [value]:
            if isinstance(given, str) and given:  # a number is no file, nor is an option without its value
                names = [given] if role.names is None else role.names(args, given)
                found += [NamedFile(option, name, role.kind, role.in_file) for name in names]
    return found


def unnamed_file(parser: argparse.ArgumentParser, args: argparse.Namespace) -> str | None:
    """Return the first option whose name of a file is empty, as that of a variable that is not set, or None."""
    for action in chosen_actions(parser, args):
        role, value = _role(action), getattr(args, action.dest, None)
        given = value if isinstance(value, list) else [value]
        if role is not None and "" in given and "" not in (action.const, action.default):
            return _option(action, role)
    return None


def check_files(files: Iterable[NamedFile]) -> None:
    """Refuse outputs that are an input, a file within one that is a folder, or another output, and two inputs in one.

    Refused is also standard output where a file is needed.

    Raises
    ------
    FileConflictError
        With the first of them.
    """
    files = list(files)
    known = [one for one in files if one.kind == "input"]
    _check_read_once(known)
    for output in files:
        if output.kind == "output":
            if output.in_file and output.name == STANDARD:
                raise FileConflictError(f"{output}: is not written to standard output; name a file")
            if isinstance(output.name, Family):
                _check_family(output, output.name, known)
                continue
            check_output(output, known)
            known.append(output)


def _check_read_once(inputs: Iterable[NamedFile]) -> None:
    """Refuse standard input, or a pipe, under two names: the second one would be empty."""
    known: dict[object, NamedFile] = {}
    for one in inputs:
        key = _stream_of(str(one.name))
        if key is not None and (other := known.setdefault(key, one)) is not one:
            what = f"{other.name} and {one.name} are one pipe, which"
            if one.name == other.name:
                what = "standard input (-)" if one.name == STANDARD else f"{one.name} is a pipe, which"
            raise FileConflictError(f"{what} can be read once; name files for the others")


def _stream_of(name: str) -> object | None:
    """What tells standard input and pipes from others; None for a file."""
    try:
        known = os.fstat(0) if name == STANDARD else os.stat(name)
    except OSError:
        return STANDARD if name == STANDARD else None
    if stat.S_ISFIFO(known.st_mode):
        return known.st_dev, known.st_ino
    return STANDARD if name == STANDARD else None


def check_output(output: NamedFile, others: Iterable[NamedFile]) -> None:
    """Refuse an output that is one of the others, or a file within one that is a folder.

    Raises
    ------
    FileConflictError
        It is, or does.
    """
    assert isinstance(output.name, str)
    key = file_key(output.name, 1)
    folders = set(_folders(output.name)) if os.path.exists(output.name) else set()  # a new file destroys nothing
    for other in others:
        theirs = _key_of(other)
        if theirs is None:
            continue
        if theirs == key:
            if output.name == other.name == STANDARD:
                raise FileConflictError(f"{output} and {other} both go to standard output; name a file for one of them")
            raise FileConflictError(f"{output}: the same file as {other}; choose another name")
        if theirs in folders:
            raise FileConflictError(f"{output}: lies within {other}; choose another place")


def matching_files(family: Family) -> list[str]:
    """List the files there are that have names of a family."""
    return sorted(glob.glob(f"{glob.escape(family.beginning)}*{glob.escape(family.end)}"))


def _check_family(output: NamedFile, family: Family, known: list[NamedFile]) -> None:
    """Refuse a family that an input belongs to, which could be written over when its turn comes."""
    if not family.end:
        return  # anything could be one of them; each is checked when its name is known
    for name in matching_files(family):
        key = file_key(name, 1)
        for other in known:
            if other.kind == "input" and key is not None and _key_of(other) == key:
                raise FileConflictError(f"{output}: {name} could be the same file as {other}; choose another name")


def _option(action: argparse.Action, role: _Role) -> str:
    return action.option_strings[0] if action.option_strings else f"the {role.kind}"


def _declare(action: argparse.Action, role: _Role) -> argparse.Action:
    vars(action)["file_role"] = role
    return action


def _role(action: argparse.Action) -> _Role | None:
    return vars(action).get("file_role")


def _key_of(file: NamedFile) -> FileKey | None:
    """The key of a file that may be in the way; an input that is not there cannot be lost."""
    if isinstance(file.name, Family):
        return None
    key = file_key(file.name, 0 if file.kind == "input" else 1)
    return None if file.kind == "input" and key is not None and key[0] == "path" else key


def file_key(name: str, stream: int = 1) -> FileKey | None:
    """Return what tells a file from others; None for devices and pipes, which nothing written can destroy.

    Parameters
    ----------
    name : str
        Two names of one file have the same key, and a file that is not there has that of its resolved path.
    stream : int
        Handle of the standard stream that "-" means.
    """
    try:
        known = os.fstat(stream) if name == STANDARD else os.stat(name)
    except OSError:
        return ("stream", stream) if name == STANDARD else ("path", os.path.realpath(name))
    if stat.S_ISREG(known.st_mode) or stat.S_ISDIR(known.st_mode):
        return "file", known.st_dev, known.st_ino
    return ("stream", stream) if name == STANDARD else None


def _folders(name: str) -> Iterator[FileKey]:
    """The folder that a file lies in, and those around it."""
    place = os.path.realpath(name)
    while name != STANDARD and (above := os.path.dirname(place)) != place:
        place = above
        if (key := file_key(place, -1)) is not None:
            yield key


def chosen_actions(parser: argparse.ArgumentParser, args: argparse.Namespace) -> Iterator[argparse.Action]:
    """List the options and arguments of a parser and of the chosen commands within it."""
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            yield action
        elif (choice := getattr(args, action.dest, None)) is not None:
            yield from chosen_actions(action.choices[choice], args)


def option_of(parser: argparse.ArgumentParser, args: argparse.Namespace) -> dict[str, str]:
    """Map the names in `args` to the options that set them, the long one of several: "max_memory" to "--max-memory"."""
    return {
        action.dest: max(action.option_strings, key=len)
        for action in chosen_actions(parser, args)
        if action.option_strings
    }
