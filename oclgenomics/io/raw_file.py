"""The bytes of an input as they are stored: opened, counted, and taken back where a reader took too many."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO

from oclgenomics.errors import InputError
from oclgenomics.io.file_slice import FileSlice

PIECE_BYTES = 16 << 20  # that a thread reads at a time: enough to seldom ask for Python's lock
FIRST_LOOK = 1 << 13  # bytes at the end of a piece in which an end of line is sought first
MIN_SHARED_OUT = 2 * PIECE_BYTES  # smaller files are read by one thread

Progress = Callable[[int, int | None], None]
"""Called with the bytes read so far, as stored, and the size of the file (None if unknown)."""


class StoredBytes:
    """A file or standard input, unpacked by nobody yet.

    Parameters
    ----------
    name : str
        Path, or "-" for standard input. Of a `FileSlice`, only its bytes are there.
    progress : callable, optional
        See `Progress`.
    live : bool
        What comes through a pipe is read as it comes.

    Attributes
    ----------
    total : int or None
        Bytes of a regular file.
    part : FileSlice or None
        The part of the file that this is.
    start : int
        Place in the file of the first byte.
    ends_file : bool
        The last byte is the file's.
    live : bool
        It is a pipe or the like, to be read as it comes.

    Raises
    ------
    InputError
        The file is missing, a folder or not readable.
    """

    def __init__(self, name: str, progress: Progress | None = None, *, live: bool = False) -> None:
        self.name = name
        self._progress = progress
        self._file: BinaryIO = _open(name)
        self.total = _size(self._file)
        self.part = name if isinstance(name, FileSlice) else None
        self.start, self._stop, self.ends_file = 0, self.total or 0, True
        if self.part is not None:
            self._take(self.part)
        self.live = live and self.total is None
        self._done = 0
        self._back: list[bytes] = []  # taken back, the next one last

    def read(self, size: int) -> bytes:
        """The next `size` bytes; fewer only at the end, or where they come `live`: then those that are there."""
        parts = []
        while self._back and size:
            part = self._back.pop()
            if len(part) > size:
                self._back.append(part[size:])
                part = part[:size]
            parts.append(part)
            size -= len(part)
        if size and not (self.live and parts):
            parts.append(self._read_file(size))
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        if data:
            self.report()
        return data

    @property
    def shared_out(self) -> bool:
        """Whether several threads read the file: one alone copies less from the system's cache than memory takes."""
        return self.total is not None and self.total >= MIN_SHARED_OUT

    def read_into(self, target: memoryview) -> int:
        """Fill the target; return how many bytes there were, fewer than it takes only at the end."""
        filled = self._put_back_into(target)
        with _reading(self.name):
            while filled < len(target):
                left = self._left(len(target) - filled)
                count = self._file.readinto(target[filled : filled + left])  # type: ignore[attr-defined]
                if not count:
                    self._check_end()
                    break
                filled += count
                self._done += count
        self.report()
        return filled

    def pieces(self, target: memoryview) -> list[tuple[int, int, Callable[[], None]]]:
        """Share out the reading of what fills the target; the file is `shared_out`.

        Returns
        -------
        list of (begin, end, read)
            Places in the target, and what puts the bytes there, in any order and from any thread. What is read next
            comes behind them. All of the target is filled unless the file ends before.
        """
        begin = self._put_back_into(target)
        start = self._file.tell() - begin
        end = min(len(target), self._stop - start)
        self._file.seek(start + end)
        self._done += end - begin
        places = [(at, min(at + PIECE_BYTES, end)) for at in range(begin, end, PIECE_BYTES)]
        back = [(0, begin, lambda: None)] if begin else []
        return back + [(low, high, partial(self._read_piece, target[low:high], start + low)) for low, high in places]

    def rest(self, start: int) -> FileRest | None:
        """What the file holds from a place on, to be read instead of what follows; None if it is not `shared_out`."""
        if not self.shared_out:
            return None

        def report(at: int) -> None:
            self._done = max(self._done, at - self.start)  # more was read where what is given out begins
            self.report()

        return FileRest(self.name, self._file.fileno(), start, self._stop, report)

    def report(self) -> None:
        """Report how far reading is."""
        if self._progress is not None:
            self._progress(self._done, self.total)

    def unread(self, data: bytes) -> None:
        """Take back what was read last."""
        if data:
            self._back.append(data)

    def close(self) -> None:
        self._file.close()

    def _take(self, part: FileSlice) -> None:
        """Give only the bytes of a part of the file."""
        if self._stop < part.stop:
            self.close()
            raise InputError("became shorter after it was cut into parts", source=self.name)
        self.ends_file = part.stop == self._stop
        self.start, self._stop = part.start, part.stop
        self.total = part.stop - part.start
        self._file.seek(part.start)

    def _left(self, size: int) -> int:
        """Of so many bytes, those that the part of the file has."""
        return size if self.part is None else min(size, self._stop - self._file.tell())

    def _check_end(self) -> None:
        """Refuse a file that ends within its part."""
        if self.part is not None and self._left(1):
            raise InputError("became shorter while it was read", source=self.name)

    def _put_back_into(self, target: memoryview) -> int:
        filled = 0
        while self._back and filled < len(target):
            part = self.read(min(len(self._back[-1]), len(target) - filled))
            target[filled : filled + len(part)] = part
            filled += len(part)
        return filled

    def _read_piece(self, target: memoryview, start: int) -> None:
        with _reading(self.name):
            read_at(self._file.fileno(), start, target, self.name)

    def _read_file(self, size: int) -> bytes:
        with _reading(self.name):
            size = self._left(size)
            data: bytes = self._file.read1(size) if self.live else self._file.read(size)  # type: ignore[attr-defined]
        if not data:
            self._check_end()
        self._done += len(data)
        return data


class FileRest:
    """What an open file holds from a place on, of which threads read any pieces.

    Parameters
    ----------
    name : str
        Of the file, for errors.
    handle : int
    start, stop : int
        Places of its first byte and behind its last one.
    report : callable
        Called with the place up to which it is given out.
    """

    def __init__(self, name: str, handle: int, start: int, stop: int, report: Callable[[int], None]) -> None:
        self._name, self._handle = name, handle
        self.start, self.stop, self.report = start, stop, report

    def read(self, start: int, target: memoryview) -> None:
        """Fill the target from a place on.

        Raises
        ------
        InputError
            The file became shorter, or cannot be read.
        """
        with _reading(self._name):
            read_at(self._handle, start, target, self._name)

    def last(self, byte: bytes, begin: int, end: int) -> int:
        """Return the place of the last such byte from `begin` up to `end`, or -1; looks at growing pieces."""
        size = FIRST_LOOK
        while end > begin:
            start = max(begin, end - size)
            with _reading(self._name):
                found = os.pread(self._handle, end - start, start).rfind(byte)
            if found >= 0:
                return start + found
            end, size = start, min(2 * size, PIECE_BYTES)
        return -1


def open_stored(name: str, what: str) -> int:
    """Open a regular file, which is all that `what` is read from; "-" is standard input, and none.

    Raises
    ------
    InputError
        It cannot be read, or is something else.
    """
    trouble = InputError(f"is no file; a {what} is read from a file only", source=name)
    if name == "-":
        raise trouble
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NONBLOCK)  # a named pipe is refused, and not waited for
    except FileNotFoundError as error:
        raise InputError("no such file", source=name) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", source=name) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise trouble
    return handle


def begins_with(path: str | os.PathLike[str], mark: bytes) -> bool:
    """Whether a regular file begins with a mark; no other is read, as the mark would be missing from a pipe."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb", buffering=0) as file:
            return file.read(len(mark)) == mark
    except OSError:  # which is reported where it is read
        return False


def read_at(handle: int, start: int, target: memoryview, name: str) -> None:
    """Fill the target with what an open file holds from a place on, from any thread.

    Raises
    ------
    InputError
        The file, by its name, ends before.
    """
    filled = 0
    while filled < len(target):
        count = os.preadv(handle, [target[filled:]], start + filled)
        if not count:
            raise InputError("became shorter while it was read", source=name)
        filled += count


@contextlib.contextmanager
def _reading(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", source=name) from error


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
