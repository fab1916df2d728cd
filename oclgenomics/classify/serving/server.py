"""The server: it holds a database on the device and answers requests over HTTP, one after the other."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import math
import os
import re
import socket
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import uvicorn

from oclgenomics import __version__
from oclgenomics.classify.serving.app import Application
from oclgenomics.classify.serving.connection import Connection
from oclgenomics.classify.serving.protocol import Limits
from oclgenomics.classify.serving.queue import AnswererMaker, WorkQueue
from oclgenomics.errors import OutputError, ParameterError
from oclgenomics.io.atomic_file import temporary_folder

MAX_PORT = 65535
WAITING_CONNECTIONS = 64
MAX_HEAD_BYTES = 1 << 16
END_SECONDS = 60  # for clients to take the answers that are there when the server ends
ACCEPT_SECONDS = 0.01  # for connections that are just being accepted


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
            if self.path is None:
                family, *_, place = socket.getaddrinfo(
                    self.host, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
                )[0]
                return _listening(family, place)
            if _is_left_over(self.path):
                os.unlink(self.path)
            mask = os.umask(0o177)  # for its owner alone
            try:
                return _listening(socket.AF_UNIX, self.path)
            finally:
                os.umask(mask)
        except OSError as error:
            raise OutputError(f"{self.url}: cannot be listened to ({error.strerror or error})") from None


def _listening(family: int, place: Any) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
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


class _Http(uvicorn.Server):
    """uvicorn, which stops listening before it ends, and says when it is ready."""

    def __init__(self, application: Application, ready: threading.Event) -> None:
        config = uvicorn.Config(
            application, http=Connection, ws="none", lifespan="off", interface="asgi3", log_config=None,
            log_level="critical", access_log=False, proxy_headers=False, server_header=False,
            headers=[("Server", f"oclgenomics/{__version__}")], backlog=WAITING_CONNECTIONS,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES, timeout_graceful_shutdown=END_SECONDS,
            timeout_keep_alive=math.ceil(application.limits.idle_seconds) + 1,  # `Connection` has its own
        )  # fmt: skip
        super().__init__(config)
        self._ready = ready

    async def main_loop(self) -> None:
        """Wait until `should_exit` is set."""
        self._ready.set()
        await super().main_loop()

    async def stop_listening(self) -> None:
        """Take no connections any more."""
        loop = asyncio.get_running_loop()
        for listener in (listener for server in self.servers for listener in server.sockets):
            loop.remove_reader(listener.fileno())
            await asyncio.sleep(ACCEPT_SECONDS)
        for server in self.servers:
            server.close()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Wait for clients to take their answers, but not for ever."""
        await self.stop_listening()
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()


class Server:
    """Answers requests from the moment it is made; a context manager that ends it.

    Parameters
    ----------
    address : Address
    make : AnswererMaker
        Makes what answers, in the thread that does the work.
    limits : Limits
    tmp_dir : path, optional
        Where bodies and answers lie while they are needed; the system's folder for temporary files if not given.
    log : callable
        Called with a line for each request.
    on_defect : callable
        Called with exceptions that are no fault of a request.

    Attributes
    ----------
    address : Address
        With the port that was chosen.
    queue : WorkQueue

    Raises
    ------
    OutputError
        The address cannot be listened to, or there is no folder for temporary files.
    OclGenomicsError
        What `make` raised.
    """

    def __init__(
        self,
        address: Address,
        make: AnswererMaker,
        *,
        limits: Limits | None = None,
        tmp_dir: str | os.PathLike[str] | None = None,
        log: Callable[[str], None] = lambda _line: None,
        on_defect: Callable[[Exception], None] = lambda _error: None,
    ) -> None:
        limits, folder = limits or Limits(), temporary_folder(tmp_dir)
        self._listener = address.listen()
        self.address = address if address.path is not None else replace(address, port=self._listener.getsockname()[1])
        try:
            self.queue = WorkQueue(make, limits.max_waiting, on_defect)
        except BaseException:
            self._listener.close()
            self._remove_socket()
            raise
        self._ready = threading.Event()
        self._http = _Http(Application(self.queue, limits, folder, log, on_defect), self._ready)
        self._loop: asyncio.AbstractEventLoop
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(on_defect)), name="classify http", daemon=True
        )
        self._thread.start()
        self._ready.wait()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def connections(self) -> list[Any]:
        """The connections that there are."""
        return list(self._http.server_state.connections)

    def wait(self) -> None:
        """Wait until the server ends.

        Raises
        ------
        OclGenomicsError
            The device is lost.
        """
        self.queue.wait()

    def close(self) -> None:
        """End: answer the request at work, refuse all others, and send what clients still get. May be called again."""
        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(self._http.stop_listening(), self._loop).result()
        self._remove_socket()
        self.queue.close()
        self._http.should_exit = True
        self._thread.join()

    def _remove_socket(self) -> None:
        if self.address.path is not None:
            with contextlib.suppress(OSError):
                os.unlink(self.address.path)

    async def _serve(self, on_defect: Callable[[Exception], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(lambda _loop, context: on_defect(_defect(context)))
        try:
            await self._http.serve([self._listener])
        except Exception as error:
            on_defect(error)
        finally:
            self._ready.set()


def _defect(context: dict[str, Any]) -> Exception:
    error = context.get("exception")
    return error if isinstance(error, Exception) else RuntimeError(context["message"])
