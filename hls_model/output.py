"""Output files that are whole or absent."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from hls_model.errors import ModelOutputError

__all__ = ["open_output"]


@contextlib.contextmanager
def open_output(name: str, mode: str = "w") -> Iterator[IO[Any]]:
    """Open an output that is written beside its place and renamed when whole.

    Parameters
    ----------
    name : str
        The file; "-" is standard output, and a device or a pipe is written in place.
    mode : {'w', 'wb'}
        Text (UTF-8) or bytes.

    Raises
    ------
    ModelOutputError
        The file cannot be written; what was there before is still there.
    """
    path = Path(name)
    try:
        if name == "-":
            stream = sys.stdout.buffer if "b" in mode else sys.stdout
            yield stream
            stream.flush()
        elif path.exists() and not path.is_file() and not path.is_dir():
            with _open(path, mode) as stream:
                yield stream
        else:
            with _renamed_when_whole(path.resolve(), mode) as stream:
                yield stream
    except BrokenPipeError:  # the reader has seen enough
        raise
    except OSError as error:
        where = "standard output" if name == "-" else name
        raise ModelOutputError(f"{where}: cannot be written ({error.strerror or error})") from error


def _open(file: Path | int, mode: str) -> IO[Any]:
    return open(file, mode) if "b" in mode else open(file, mode, encoding="utf-8", newline="")


@contextlib.contextmanager
def _renamed_when_whole(path: Path, mode: str) -> Iterator[IO[Any]]:
    if path.is_dir():
        raise ModelOutputError(f"{path}: is a folder; name a file")
    if path.exists() and not os.access(path, os.W_OK):
        raise ModelOutputError(f"{path}: is write-protected")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with _open(handle, mode) as stream:
            yield stream
        mask = os.umask(0o077)
        os.umask(mask)
        os.chmod(temporary, path.stat().st_mode if path.exists() else 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
