"""The bytes of an input as they are stored: opened, counted, and taken back where a reader took too many."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO

from ..errors import InputError
from ..threads import usable_cores

__all__ = ["Progress", "StoredBytes"]

PART_BYTES = 4 << 20  # that a thread reads at a time, at least
LEAST_SHARED_OUT = 4 * PART_BYTES
MOST_READERS = 12  # threads; more copy no faster from the system's cache

Progress = Callable[[int, int | None], None]
"""Called with the bytes read so far, as stored, and the size of the file (None if unknown)."""


class StoredBytes:
    """A file or standard input, unpacked by nobody yet.

    Parameters
    ----------
    name : str
        Path, or "-" for standard input.
    progress : callable, optional
        See `Progress`.

    Raises
    ------
    InputError
        The file is missing, a folder or not readable.
    """

    def __init__(self, name: str, progress: Progress | None = None) -> None:
        self.name = name
        self._progress = progress
        self._file: BinaryIO = _open(name)
        self.total = _size(self._file)
        self._done = 0
        self._back: list[bytes] = []  # taken back, the next one last
        self._threads: ThreadPoolExecutor | None = None

    def read(self, size: int) -> bytes:
        """The next `size` bytes; fewer only at the end."""
        parts = []
        while self._back and size:
            part = self._back.pop()
            if len(part) > size:
                self._back.append(part[size:])
                part = part[:size]
            parts.append(part)
            size -= len(part)
        if size:
            parts.append(self._read_file(size))
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        if self._progress is not None and data:
            self._progress(self._done, self.total)
        return data

    def read_into(self, target: memoryview) -> int:
        """Fill the target; return how many bytes there were, fewer than it takes only at the end."""
        filled = 0
        while self._back and filled < len(target):
            part = self.read(min(len(self._back[-1]), len(target) - filled))
            target[filled : filled + len(part)] = part
            filled += len(part)
        try:
            filled += self._fill(target[filled:])
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", source=self.name) from error
        if self._progress is not None and filled:
            self._progress(self._done, self.total)
        return filled

    def unread(self, data: bytes) -> None:
        """Take back what was read last."""
        if data:
            self._back.append(data)

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown()
        self._file.close()

    def _fill(self, target: memoryview) -> int:
        filled = 0
        if self.total is not None and len(target) >= LEAST_SHARED_OUT:
            filled = self._fill_in_parts(target)
        while filled < len(target):
            count = self._file.readinto(target[filled:])  # type: ignore[attr-defined]
            if not count:
                break
            filled += count
        self._done += filled
        return filled

    def _fill_in_parts(self, target: memoryview) -> int:
        """Read from a file by several threads: one alone copies less from the system's cache than memory could take."""
        start, descriptor = self._file.tell(), self._file.fileno()
        readers = min(MOST_READERS, usable_cores())
        step = max(PART_BYTES, -(-len(target) // readers))
        places = range(0, len(target), step)

        def fill(place: int) -> int:
            part = target[place : place + step]
            filled = 0
            while filled < len(part):
                count = os.preadv(descriptor, [part[filled:]], start + place + filled)
                if not count:
                    break
                filled += count
            return filled

        if self._threads is None:
            self._threads = ThreadPoolExecutor(readers, "read-part")
        counts = list(self._threads.map(fill, places))
        whole = next((i for i, count in enumerate(counts) if count < step), len(counts) - 1)
        filled = whole * step + counts[whole]
        self._file.seek(start + filled)
        return filled

    def _read_file(self, size: int) -> bytes:
        try:
            data = self._file.read(size)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", source=self.name) from error
        self._done += len(data)
        return data


def _open(name: str) -> BinaryIO:
    if name == "-":
        return _open_standard_input()
    try:
        return open(name, "rb")
    except IsADirectoryError as error:
        raise InputError("is a folder; give a file", source=name) from error
    except FileNotFoundError as error:
        raise InputError("no such file", source=name) from error
    except PermissionError as error:
        raise InputError("no permission to read it", source=name) from error
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror or error}", source=name) from error


def _open_standard_input() -> BinaryIO:
    """A reader of our own: Python closes its own at exit, and dies where a thread still waits in it."""
    if sys.stdin is not sys.__stdin__:
        return sys.stdin.buffer
    try:
        return open(0, "rb", closefd=False)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source="-") from error


def _size(file: BinaryIO) -> int | None:
    """Size of a regular file, None for pipes and the like."""
    try:
        status = os.fstat(file.fileno())
    except OSError:  # an object without a descriptor, such as a test's standard input
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
