"""Sockets as streams that do not wait for ever."""

from __future__ import annotations

import io
import socket
import time
from typing import Any

__all__ = ["TimedStream"]


class TimedStream(io.RawIOBase):
    """A connection that is read until a moment, and that each piece is written to in so many seconds.

    Parameters
    ----------
    connection : socket
    seconds : float
        For a piece to be written.
    """

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        self._connection, self._seconds = connection, seconds
        self._until = time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def read_for(self, seconds: float) -> None:
        """Allow so many seconds from now on for all that is read, before the next call."""
        self._until = time.monotonic() + seconds

    def readinto(self, target: Any) -> int:
        """Read what is there; raises TimeoutError when the time is over."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv_into(target)

    def write(self, data: Any) -> int:
        """Write all; raises TimeoutError if the other side does not take it."""
        view = memoryview(data)
        self._connection.settimeout(self._seconds)
        self._connection.sendall(view)
        return view.nbytes
