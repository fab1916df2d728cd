"""Temporary files without a name: they vanish with the process that made them, however it ends."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator

from oclgenomics.errors import OutputError
from oclgenomics.io.atomic_file import unnamed_file

__all__ = ["check_folder", "file_system", "open_unnamed", "temporary_folder", "unnamed_file"]


def temporary_folder(folder: str | os.PathLike[str] | None = None) -> str:
    """Return a folder for temporary files.

    Parameters
    ----------
    folder : path, optional
        The system's if not given: TMPDIR, or what `tempfile` takes.

    Raises
    ------
    OutputError
        There is none, or it is not there or not writable.
    """
    if folder is None:
        try:
            folder = tempfile.gettempdir()
        except OSError as error:
            raise OutputError("there is no folder for temporary files; name one with `tmp_dir`") from error
    name = os.fspath(folder)
    check_folder(name)
    return name


def check_folder(name: str) -> None:
    """Refuse a folder that temporary files cannot be made in.

    Raises
    ------
    OutputError
        It is not there, no folder, or not writable.
    """
    if not os.path.exists(name):
        raise OutputError(f"`tmp_dir` {name}: there is no such folder; make it first")
    if not os.path.isdir(name):
        raise OutputError(f"`tmp_dir` {name}: is no folder")
    if not os.access(name, os.W_OK | os.X_OK):
        raise OutputError(f"`tmp_dir` {name}: the folder is not writable; name another one")


@contextlib.contextmanager
def open_unnamed(folder: str) -> Iterator[int]:
    """Lend the handle of a temporary file in a folder.

    Raises
    ------
    OutputError
        No file can be made there.
    """
    try:
        handle = unnamed_file(folder)
    except OSError as error:
        raise OutputError(f"`tmp_dir` {folder}: no file can be made there ({error.strerror})") from error
    try:
        yield handle
    finally:
        os.close(handle)


def file_system(folder: str) -> str:
    """The place where the file system of a folder is mounted."""
    place = os.path.realpath(folder)
    while not os.path.ismount(place):
        place = os.path.dirname(place)
    return place
