"""Files of sequences as callers name them."""

from __future__ import annotations

import os
from collections.abc import Iterable

from oclgenomics.errors import InputError
from oclgenomics.io.text_file import read_text

__all__ = ["MARK", "SequenceFiles", "file_names", "list_names"]

MARK = "@"  # before the name of a list
MAX_LIST_BYTES = 1 << 28

SequenceFiles = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def file_names(source: SequenceFiles) -> list[str]:
    """Return the names of one file or of several; "-" is standard input.

    A string that begins with @ names a list: a text file of names of files, one a line, relative to the working folder.
    Blank lines and lines that begin with # do not count. What is not a string, such as a `Path`, is never a list, and
    ./@name is a file.

    Raises
    ------
    InputError
        A list that cannot be read, names no file, or names another list or a file that is not there.
    """
    paths = [source] if isinstance(source, (str, os.PathLike)) else source
    names: list[str] = []
    for path in paths:
        if isinstance(path, str) and path.startswith(MARK):
            names += _listed(path.removeprefix(MARK))
        else:
            name = os.fspath(path)
            names.append(os.path.join(os.curdir, name) if name.startswith(MARK) else name)
    return names


def list_names(source: Iterable[str]) -> list[str]:
    """Return the names of the lists that are among names as `file_names` takes them."""
    return [name.removeprefix(MARK) for name in source if name.startswith(MARK)]


def _listed(path: str) -> list[str]:
    """The files that a list names."""
    if path in ("", "-"):
        raise InputError("behind the @ has to come the name of a file", source=MARK + path)
    text, _ = read_text(path, MAX_LIST_BYTES)
    names: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        name = line.strip()
        if not name or name.startswith("#"):
            continue
        if name.startswith(MARK):
            raise InputError(f"{name} would be a list in a list; if it is a file of sequences, name it ./{name}",
                             source=path, line=number)  # fmt: skip
        if name != "-" and not os.path.exists(name):
            raise InputError(f"there is no file {name}", source=path, line=number)
        names.append(name)
    if not names:
        raise InputError("names no file", source=path)
    return names
