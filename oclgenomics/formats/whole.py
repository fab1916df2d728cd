"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator

from oclgenomics.errors import OutputError

__all__ = ["WholeFile", "whole_file"]


class WholeFile:
    """A file in the making. All it does is to take bytes.

    Attributes
    ----------
    seekable : bool
        Bytes may be written anywhere, by several threads at a time; else it is a pipe or its like.
    """

    def __init__(self, name: str, handle: int) -> None:
        self._name, self._handle = name, handle
        self.seekable = _is_seekable(handle)

    def write(self, data: bytes | memoryview) -> None:
        """Write all of the bytes.

        Raises
        ------
        OutputError
            They cannot be written.
        """
        rest = memoryview(data)
        with _telling(self._name):
            while len(rest):
                rest = rest[os.write(self._handle, rest) :]

    def write_at(self, data: bytes | memoryview, place: int) -> None:
        """Write all of the bytes from a place on, whatever was written where before.

        Raises
        ------
        OutputError
            They cannot be written.
        """
        rest = memoryview(data)
        with _telling(self._name):
            while len(rest):
                done = os.pwrite(self._handle, rest, place)
                rest, place = rest[done:], place + done


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[WholeFile]:
    """Open a binary file that takes its name when the `with` block ends, and vanishes if that fails.

    Where the file system has files without a name, even a process that is killed leaves nothing behind. Devices and
    pipes are written in place.

    Raises
    ------
    OutputError
        The file cannot be written; what was there before is still there.
    """
    name = os.fspath(path)
    with _telling(name):
        opened = os.open(name, os.O_WRONLY) if _written_in_place(name) else None
    if opened is not None:
        try:
            yield WholeFile(name, opened)
        finally:
            os.close(opened)
        return
    target = os.path.realpath(name)
    with _telling(name):
        handle, temporary = _create(target)
    try:
        yield WholeFile(name, handle)
        with _telling(name):
            temporary = _finish(handle, temporary, target)
            os.replace(temporary, target)
            temporary = None
    finally:
        os.close(handle)
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


@contextlib.contextmanager
def _telling(name: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(
            f"{name}: cannot be written ({error.strerror or error}); nothing half written is left"
        ) from error


def _is_seekable(handle: int) -> bool:
    try:
        os.lseek(handle, 0, os.SEEK_CUR)
    except OSError:
        return False
    return True


def _written_in_place(name: str) -> bool:
    try:
        kind = os.stat(name).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(kind):
        raise OutputError(f"{name}: is a folder; name a file")
    if stat.S_ISREG(kind) and not os.access(name, os.W_OK):
        raise OutputError(f"{name}: is write-protected")
    return not stat.S_ISREG(kind)


def _create(target: str) -> tuple[int, str | None]:
    """A new file beside the target, and its name if it has one."""
    folder, base = os.path.split(target)
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        # not every file system has them; where the folder itself is at fault, the next attempt says so
        with contextlib.suppress(OSError):
            return os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600), None
    return tempfile.mkstemp(dir=folder, prefix=f".{base}.")


def _finish(handle: int, temporary: str | None, target: str) -> str:
    """Set the file's rights, give it a name beside the target if it has none, and return that."""
    os.fchmod(handle, os.stat(target).st_mode & 0o777 if os.path.exists(target) else 0o666 & ~_umask())
    if temporary is not None:
        return temporary
    folder, base = os.path.split(target)
    name = os.path.join(folder, f".{base}.{os.getpid()}")
    # with a folder's handle, Python calls linkat and follows the link that stands for the file
    links = os.open("/proc/self/fd", os.O_RDONLY)
    try:
        os.link(str(handle), name, src_dir_fd=links)
    finally:
        os.close(links)
    return name


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
