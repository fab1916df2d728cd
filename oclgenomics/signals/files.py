"""Files of signals: which ones a path stands for, and the format of each by its first bytes."""

from __future__ import annotations

import os
from collections.abc import Iterable

from oclgenomics.errors import InputError
from oclgenomics.io.foreign import HEAD_BYTES, format_name

__all__ = ["FORMATS", "SignalFiles", "signal_files", "signal_format"]

SignalFiles = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
FORMATS = ("npz", "npy", "slow5", "pod5", "fast5")
ENDINGS = (".blow5", ".fast5", ".npy", ".npz", ".pod5", ".slow5")
_MAGIC = {
    b"PK\x03\x04": "npz",
    b"PK\x05\x06": "npz",  # without members
    b"\x93NUMPY": "npy",
    b"BLOW5\x01": "slow5",
    b"#slow5_version": "slow5",
    b"\x8bPOD\r\n\x1a\n": "pod5",
    b"\x89HDF\r\n\x1a\n": "fast5",
}
_PACKERS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}


def signal_files(paths: SignalFiles) -> list[str]:
    """List the files that paths stand for.

    Parameters
    ----------
    paths : path or iterable of paths
        Files, in this order, and folders. A folder stands for all files in it, and in folders in it, that begin as
        signals do or whose names end as theirs; sorted by name.

    Raises
    ------
    InputError
        There is no such file, a folder without signals, or standard input.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [name for path in given for name in _files_of(os.fspath(path))]


def signal_format(path: str) -> str:
    """Return the format of a file, one of `FORMATS`.

    Raises
    ------
    InputError
        It cannot be read, or holds something else.
    """
    if path == "-":
        raise InputError("signals are read from files, not from standard input", source=path)
    head = _head(path)
    kind = _kind(head)
    if kind is not None:
        return kind
    known = format_name(head)
    if known is not None:
        raise InputError(f"is {known}, which has no raw signal; give POD5, FAST5, SLOW5 or BLOW5", source=path)
    packer = next((name for magic, name in _PACKERS.items() if head.startswith(magic)), None)
    if packer is not None:
        raise InputError(f"packed with {packer}; unpack it", source=path)
    trouble = "no signals" if head else "the file is empty"
    raise InputError(f"{trouble}; give POD5, FAST5, SLOW5, BLOW5, .npz or .npy", source=path)


def _kind(head: bytes) -> str | None:
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


def _head(path: str) -> bytes:
    """The first bytes of a regular file; anything else could wait for ever, or be read once only."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise InputError("not a regular file; signals are not read from pipes or devices", source=path)
        with open(path, "rb") as file:
            return file.read(HEAD_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read ({reason})", source=path) from error


def _files_of(path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    found = _in_folder(path, set())
    if not found:
        raise InputError("a folder without signals; give one with POD5, FAST5, SLOW5, BLOW5 or .npz files", source=path)
    return found


def _in_folder(folder: str, above: set[tuple[int, int]]) -> list[str]:
    """The files of signals in a folder; `above` are the folders that it is in, to which links may lead back."""
    found: list[str] = []
    try:
        status = os.stat(folder)
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise InputError(f"the folder cannot be read ({error.strerror})", source=folder) from error
    around = above | {(status.st_dev, status.st_ino)}
    if len(around) == len(above):
        return []
    for name in names:
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            found += _in_folder(path, around)
        elif os.path.isfile(path) and (name.lower().endswith(ENDINGS) or _kind(_head(path)) is not None):
            found.append(path)
    return found
