"""SHA-256 of a file, written next to it as `sha256sum` writes and checks it."""

from __future__ import annotations

import hashlib
import os
import re

from oclgenomics.errors import InputError, OutputError
from oclgenomics.io.atomic_file import whole_file

LINE = re.compile(rb"(\\?)([0-9a-f]{64}) [ *](.+)")
ESCAPES = {b"\\": rb"\\", b"\n": rb"\n", b"\r": rb"\r"}
MAX_BYTES = 1 << 20


def manifest_path(path: str | os.PathLike[str]) -> str:
    """Return where the manifest of a file lies."""
    return f"{os.fspath(path)}.sha256"


def write_manifest(path: str | os.PathLike[str]) -> None:
    """Write the manifest of a file.

    Raises
    ------
    InputError, OutputError
        The file cannot be read, or the manifest not written.
    """
    digest = _digest(path)
    escaped = name = _base_name(path)
    for letter, escape in ESCAPES.items():
        escaped = escaped.replace(letter, escape)
    mark = b"\\" if escaped != name else b""
    with whole_file(manifest_path(path), OutputError) as file:
        file.write(mark + digest.encode() + b"  " + escaped + b"\n")


def check_manifest(path: str | os.PathLike[str]) -> str:
    """Compare a file with its manifest, which may list other files, too.

    Returns
    -------
    str
        The digest, in hexadecimal.

    Raises
    ------
    InputError
        They differ, the manifest does not list the file, or one of them cannot be read.
    """
    manifest = manifest_path(path)
    try:
        with open(manifest, "rb") as file:
            lines = file.read(MAX_BYTES).splitlines()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", source=manifest) from error
    listed = [found[2].decode() for found in map(LINE.fullmatch, lines) if found and _named(found) == _base_name(path)]
    if len(listed) != 1:
        times = "twice" if listed else "not"
        raise InputError(f"lists {os.path.basename(path)} {times}; write it again with sha256sum", source=manifest)
    digest = _digest(path)
    if digest != listed[0]:
        raise InputError(
            f"is not the file that {manifest} was made of (its SHA-256 differs); get or build it again",
            source=os.fspath(path),
        )
    return digest


def _digest(path: str | os.PathLike[str]) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", source=os.fspath(path)) from error


def _base_name(path: str | os.PathLike[str]) -> bytes:
    return os.fsencode(os.path.basename(path))


def _named(line: re.Match[bytes]) -> bytes:
    """The name of the file that a line is about, without its folder."""
    name = line[3]
    if line[1]:
        name = re.sub(rb"\\([\\nr])", lambda found: {b"\\": b"\\", b"n": b"\n", b"r": b"\r"}[found[1]], name)
    return os.path.basename(name)
