"""Where a server listens."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import re
import socket
import stat
from dataclasses import dataclass

from oclgenomics.errors import OutputError, ParameterError

__all__ = ["Address"]

MAX_PORT = 65535
WAITING_CONNECTIONS = 64


@dataclass(frozen=True)
class Address:
    """A host and a port, or the path of a socket.

    Attributes
    ----------
    host : str
    port : int
        0 for any that is free.
    path : str, optional
        Of a Unix socket; then there is no host.
    """

    host: str = "127.0.0.1"
    port: int = 0
    path: str | None = None

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read HOST:PORT, [HOST]:PORT, :PORT or PORT; without a host, it is this machine alone.

        Raises
        ------
        UsageError
            It is something else.
        """
        found = re.fullmatch(r"(?:(?:\[([^\]]*)\]|([^:\[\]]*)):)?([0-9]{1,5})", text)
        if found is None or int(found[3]) > MAX_PORT:
            raise ParameterError("listen", "write HOST:PORT, as in 127.0.0.1:8080", text)
        return cls(found[1] or found[2] or "127.0.0.1", int(found[3]))

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it."""
        if self.path is not None or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def url(self) -> str:
        """As clients name it."""
        if self.path is not None:
            return f"unix:{self.path}"
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    def listen(self) -> socket.socket:
        """Return a socket that listens there.

        Raises
        ------
        OutputError
            It cannot.
        """
        try:
            return _unix_socket(self.path) if self.path is not None else self._tcp_socket()
        except OSError as error:
            raise OutputError(f"{self.url}: cannot be listened to ({error.strerror or error})") from None

    def _tcp_socket(self) -> socket.socket:
        family, kind, protocol, _, place = socket.getaddrinfo(
            self.host, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(place)
            listener.listen(WAITING_CONNECTIONS)
        except BaseException:
            listener.close()
            raise
        return listener


def _unix_socket(path: str) -> socket.socket:
    """A socket for its owner alone, in the place of one that nobody listens to any more."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if _is_left_over(path):
            os.unlink(path)
        mask = os.umask(0o177)
        try:
            listener.bind(path)
        finally:
            os.umask(mask)
        listener.listen(WAITING_CONNECTIONS)
    except BaseException:
        listener.close()
        raise
    return listener


def _is_left_over(path: str) -> bool:
    """Whether there is a socket to which nobody listens."""
    with contextlib.suppress(OSError):
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(path)
            except ConnectionRefusedError:
                return True
    return False
