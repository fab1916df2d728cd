"""Bodies and answers in files without a name: memory does not hold them, and nothing is left of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from types import TracebackType

from oclgenomics.errors import OutputError
from oclgenomics.io.unnamed_file import unnamed_file

__all__ = ["AbandonedError", "AnswerSpool", "BodySpool"]

PIECE_BYTES = 1 << 18
LOOK_SECONDS = 0.25  # after which whoever waits for an answer looks whether it is still wanted


class AbandonedError(Exception):
    """Nobody waits for the answer any more."""


class BodySpool:
    """The body of a request; a context manager.

    Attributes
    ----------
    path : str
        Under which this process can read it.
    size : int
    """

    def __init__(self, folder: str) -> None:
        self._handle = unnamed_file(folder)
        self.path, self.size = f"/dev/fd/{self._handle}", 0

    def __enter__(self) -> BodySpool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes.

        Raises
        ------
        OutputError
            There is no room for them.
        """
        _write_at(self._handle, data, self.size)
        self.size += len(data)

    def close(self) -> None:
        """Forget the body; may be called again."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


class AnswerSpool:
    """An answer that one thread writes while another one sends what is there, however slowly."""

    def __init__(self, folder: str) -> None:
        self._handle = unnamed_file(folder)
        self._changed = threading.Condition()
        self._size, self._ended, self._abandoned = 0, False, False
        self._error: Exception | None = None

    @property
    def whole_size(self) -> int | None:
        """Bytes of the answer, if all of it is there."""
        with self._changed:
            return self._size if self._ended and self._error is None else None

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes.

        Raises
        ------
        AbandonedError
            Nobody waits for them.
        OutputError
            There is no room for them.
        """
        with self._changed:
            if self._abandoned:
                raise AbandonedError
            _write_at(self._handle, data, self._size)
            self._size += memoryview(data).nbytes
            self._changed.notify_all()

    def end(self, error: Exception | None = None) -> None:
        """Say that this was all, or why there is no more."""
        with self._changed:
            self._ended, self._error = True, self._error or error
            self._changed.notify_all()

    def pieces(self, wanted: Callable[[], bool]) -> Iterator[bytes]:
        """Yield the answer as it comes.

        Parameters
        ----------
        wanted : callable
            Asked now and then while there is nothing to yield; the answer is abandoned where it says no.

        Raises
        ------
        AbandonedError
            It was not wanted.
        Exception
            What `end` was given, behind all that came before.
        """
        done = 0
        while True:
            with self._changed:
                if done == self._size and self._ended:
                    if self._error is not None:
                        raise self._error
                    return
                if done == self._size:
                    self._changed.wait(LOOK_SECONDS)
                count = min(self._size - done, PIECE_BYTES)
            if count:
                yield os.pread(self._handle, count, done)
                done += count
            elif not self._ended and not wanted():
                raise AbandonedError

    def close(self) -> None:
        """Forget the answer; whoever writes on is told. May be called again."""
        with self._changed:
            self._abandoned = True
            if self._handle >= 0:
                os.close(self._handle)
                self._handle = -1


def _write_at(handle: int, data: bytes | memoryview, place: int) -> None:
    rest = memoryview(data).cast("B")
    try:
        while len(rest):
            done = os.pwrite(handle, rest, place)
            rest, place = rest[done:], place + done
    except OSError as error:
        trouble = f"reads and answers cannot be kept ({error.strerror}); make room, or name a folder with `tmp_dir`"
        raise OutputError(trouble) from error
