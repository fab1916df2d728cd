"""Standard streams as a command needs them.

Python leaves a closed stream out, so that the next file that is opened takes its handle; it encodes for a terminal what
goes to a file; and it tells of a full disk when the command is over. Here

- handles that are closed are occupied, and writing to a closed standard output is an error;
- standard output is UTF-8 unless it is a terminal, as an output file is;
- control characters from names in the data do not reach a terminal;
- trouble with standard output is raised as `StreamError`, at the latest by `flush_output`, and
  `io.atomic_file.output_trouble` says what has gone out by then, which no program can take back;
- trouble with standard error is nobody's, as there is nowhere left to tell it.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any

_CONTROLS = [*range(0x20), 0x7F, *range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_ESCAPES = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _CONTROLS}
_TEXT = {code: escape for code, escape in _ESCAPES.items() if chr(code) not in "\t\n"}
_MESSAGES = {code: escape for code, escape in _TEXT.items() if chr(code) != "\r"}


class StreamError(OSError):
    """Standard output cannot be written."""


def printable(text: str) -> str:
    """Return a text as one line in which control characters are escapes, as for a message that holds names."""
    return text.translate(_ESCAPES)


def drawable(text: str) -> str:
    """Return a text of one or more lines with what is no character of any as escapes, as for a figure."""
    return text.encode("utf-8", "backslashreplace").decode().translate(_TEXT)


def prepare_streams() -> None:
    """Replace the process' standard streams; once, before anything is opened."""
    closed = {handle for handle in (0, 1, 2) if not _is_open(handle)}
    for handle in sorted(closed):  # the lowest free handle is taken
        os.open(os.devnull, os.O_WRONLY if handle == 0 else os.O_RDWR)  # what is closed cannot be read, either
    if sys.stdout is None or sys.stdout is sys.__stdout__:
        sys.stdout = _stream(_Output(1, is_open=1 not in closed), sys.stdout, _TEXT)
    if sys.stderr is None or sys.stderr is sys.__stderr__:
        sys.stderr = _stream(_Messages(2), sys.stderr, _MESSAGES)


def flush_output() -> None:
    """Flush standard output.

    Raises
    ------
    StreamError
        Something could not be written, now or before.
    BrokenPipeError
        The reader has gone.
    """
    if sys.stdout is not None:
        sys.stdout.flush()
    raw = _output()
    if raw is not None and raw.trouble is not None:
        raise raw.trouble


def _output() -> _Output | None:
    """What standard output writes to, if `prepare_streams` has made it."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw if isinstance(raw, _Output) else None


class _Handle(io.RawIOBase):
    """An open handle that stays open."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._handle

    def isatty(self) -> bool:
        return os.isatty(self._handle)


class _Output(_Handle):
    """Standard output. What comes after the first trouble is dropped, as the command is lost."""

    def __init__(self, handle: int, is_open: bool) -> None:
        super().__init__(handle)
        self._is_open = is_open
        self.written = 0  # bytes
        self.trouble: OSError | None = None

    def write(self, data: Any) -> int:
        if self.trouble is not None:
            return len(data)
        try:
            if not self._is_open:
                raise OSError(errno.EBADF, "it is closed")
            count = os.write(self._handle, data)
        except BrokenPipeError as error:
            self.trouble = error
            raise
        except OSError as error:
            self.trouble = StreamError(error.errno, error.strerror)
            raise self.trouble from error
        self.written += count
        return count


class _Messages(_Handle):
    """Standard error."""

    def write(self, data: Any) -> int:
        try:
            return os.write(self._handle, data)
        except OSError:  # a full disk or a reader that is gone: the command goes on without messages
            return len(data)


class _Shown(io.TextIOWrapper):
    """Text for people, without control characters."""

    escapes: dict[int, str]

    def write(self, text: str) -> int:
        super().write(text.translate(self.escapes))
        return len(text)


def _stream(raw: _Handle, before: Any, escapes: dict[int, str]) -> io.TextIOWrapper:
    buffer = io.BufferedWriter(raw)
    if isinstance(raw, _Output) and not raw.isatty():
        return io.TextIOWrapper(buffer, encoding="utf-8", errors="backslashreplace", newline="")
    encoding = "utf-8" if before is None else before.encoding
    shown = _Shown(buffer, encoding=encoding, errors="backslashreplace", newline="", line_buffering=True)
    shown.escapes = escapes
    return shown


def _is_open(handle: int) -> bool:
    try:
        os.fstat(handle)
    except OSError:
        return False
    return True
