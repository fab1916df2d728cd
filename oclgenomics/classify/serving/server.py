"""The server: it holds a database on the device and answers requests over HTTP, one after the other."""

from __future__ import annotations

import asyncio
import contextlib
import http
import ipaddress
import math
import os
import re
import socket
import stat
import struct
import sys
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from oclgenomics import __version__
from oclgenomics.classify.serving.app import HEAD_TOO_LARGE, LINGER_BYTES, LINGER_SECONDS, Application
from oclgenomics.classify.serving.protocol import BAD_REQUEST, CLOSING, HttpError, Limits, error_line
from oclgenomics.classify.serving.queue import AnswererMaker, WorkQueue
from oclgenomics.errors import OutputError, ParameterError
from oclgenomics.io.unnamed_file import temporary_folder

__all__ = ["Address", "Server"]

MAX_PORT = 65535
WAITING_CONNECTIONS = 64
MAX_HEAD_BYTES = 1 << 16
LINE_TOO_LONG, NOT_IMPLEMENTED = 414, 501
AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: closed without an orderly end
END_SECONDS = 60.0  # for clients to take the answers that are there when the server ends
LOOK_SECONDS = 0.01  # between looks whether they have
TICK_SECONDS = 1.0  # between looks at the clock, for the date in heads


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


class _Connection(H11Protocol):
    """A connection of uvicorn that no client can hold, and that refuses what is no request by a line of JSON.

    There is always a moment at which it is cut off, but for a client that waits for the answer of a whole request.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._application = cast(Application, self.config.app)
        self._timer: asyncio.TimerHandle | None = None
        self._half_closed, self._refused, self._dropped = False, False, 0
        self.app_state = {"connection": self}  # where the application finds it

    @property
    def lost(self) -> bool:
        """Whether it is closed."""
        return self.transport.is_closing()

    @property
    def silent(self) -> bool:
        """Whether the client has closed its side at least."""
        return self._half_closed or self.lost

    def allow(self, seconds: float | None) -> None:
        """Give the client so many seconds from now on for what it does next; None: as many as it likes."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else self.loop.call_later(seconds, self.transport.abort)

    def reset(self) -> None:
        """End the connection in the middle of an answer, so that nobody takes this for its end."""
        connection: socket.socket | None = self.transport.get_extra_info("socket")
        if connection is not None and not self.lost:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Turn it away where there are too many."""
        super().connection_made(transport)
        if len(self.connections) <= self._application.limits.max_connections:
            self.allow(self._application.limits.idle_seconds)
        else:
            self.connections.discard(self)
            self._write_refusal(HttpError(CLOSING, "too many connections; try again later", {"Retry-After": "1"}))
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        super().connection_lost(exc)
        self.allow(None)

    def data_received(self, data: bytes) -> None:
        """Take what the client sends; of what is refused already, only so much that it gets to read why."""
        if not self._refused:
            super().data_received(data)
            return
        self._dropped += len(data)
        if self._dropped > LINGER_BYTES:
            self.transport.abort()

    def eof_received(self) -> bool:  # type: ignore[override]  # asyncio's own signature
        """Answer a client that has closed its side: it may have sent whole requests."""
        self._half_closed = True
        cut = self.cycle.more_body if self._at_work else bool(self.conn.trailing_data[0])
        if cut and not self._refused:
            self.conn.receive_data(b"")
            self.handle_events()  # which refuses what is there
        elif self._refused or not self._at_work:
            self.transport.close()
        return True

    def handle_events(self) -> None:
        """End the time for a head when it is there."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self.allow(None)

    def on_response_complete(self) -> None:
        """Give time for another request, or for the rest of the answer to be taken."""
        self.allow(self._application.limits.idle_seconds)
        super().on_response_complete()
        if self._half_closed and not self._at_work:
            self.transport.close()

    def pause_writing(self) -> None:
        """Give time for a piece of the answer to be taken."""
        super().pause_writing()
        self.allow(self._application.limits.idle_seconds)

    def resume_writing(self) -> None:
        """End that time."""
        super().resume_writing()
        if self._at_work:
            self.allow(None)

    def shutdown(self) -> None:
        """End it when its request is answered; one that is still being sent never will be."""
        super().shutdown()
        if self._at_work and self.cycle.more_body and not (self._refused or self.cycle.response_started):
            self._refuse(HttpError(CLOSING, "the server is ending"))

    def send_400_response(self, msg: str) -> None:
        """Refuse what h11 cannot read."""
        error = sys.exception()
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else BAD_REQUEST
        text = " ".join(str(error or msg).split())[:200]
        if self._at_work:
            status, text = BAD_REQUEST, "the body ends before its end" if self._half_closed else f"the body: {text}"
        elif status == HEAD_TOO_LARGE and b"\n" not in self.conn.trailing_data[0]:
            status, text = LINE_TOO_LONG, "the first line is too long"
        elif status == HEAD_TOO_LARGE:
            text = "the head is too long"
        elif status == NOT_IMPLEMENTED:
            text = "of transfer encodings only `chunked` is known"
        self._refuse(HttpError(status, text))

    @property
    def _at_work(self) -> bool:
        """Whether a request is being received or answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def _refuse(self, error: HttpError) -> None:
        self._refused = True
        began = self._at_work and self.cycle.response_started
        if self._at_work:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if began:  # it has been refused before
            self.transport.close()
            return
        self._write_refusal(error)
        if self._half_closed:
            self.transport.close()
        else:
            self.transport.write_eof()
            self.flow.resume_reading()
            self.allow(LINGER_SECONDS)
        client = self.client[0] if self.client else "local"
        self._application.log(f"{client} -: {error.status} {error}")

    def _write_refusal(self, error: HttpError) -> None:
        body = error_line(str(error))
        headers = [*self.server_state.default_headers, *((name.encode(), value.encode()) for name, value in (
            *error.headers.items(), ("Content-Type", "application/json"), ("Content-Length", str(len(body))),
            ("Connection", "close"),
        ))]  # fmt: skip
        head = h11.Response(
            status_code=error.status, headers=headers, reason=http.HTTPStatus(error.status).phrase.encode()
        )
        for event in (head, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")


class _Http(uvicorn.Server):
    """uvicorn, which ends as soon as it is told."""

    def __init__(self, application: Application, ready: threading.Event) -> None:
        config = uvicorn.Config(
            application, http=_Connection, ws="none", lifespan="off", interface="asgi3", log_config=None,
            log_level="critical", access_log=False, proxy_headers=False, server_header=False,
            headers=[("Server", f"oclgenomics/{__version__}")], backlog=WAITING_CONNECTIONS,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
            timeout_keep_alive=math.ceil(application.limits.idle_seconds) + 1,  # `_Connection` has its own
        )  # fmt: skip
        super().__init__(config)
        self._ready, self._told = ready, asyncio.Event()

    async def main_loop(self) -> None:
        """Wait until it is told to end."""
        await self.on_tick(0)
        self._ready.set()
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._told.wait(), TICK_SECONDS)

    async def stop_listening(self) -> None:
        """Take no connections any more."""
        loop = asyncio.get_running_loop()
        for listener in (listener for server in self.servers for listener in server.sockets):
            loop.remove_reader(listener.fileno())
            await asyncio.sleep(LOOK_SECONDS)  # for connections that are just being accepted
        for server in self.servers:
            server.close()

    async def end(self) -> None:
        """Close connections that are idle, and the others when they have their answers."""
        self.should_exit = True
        self._told.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Wait for clients to take their answers, but not for ever."""
        await self.stop_listening()
        state = self.server_state
        for connection in list(state.connections):
            connection.shutdown()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                while state.connections or state.tasks:
                    await asyncio.sleep(LOOK_SECONDS)
        for connection in list(state.connections):
            connection.transport.abort()


def _nothing(_told: object) -> None:
    pass


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
        Told a line for each request.
    on_defect : callable
        Told of exceptions that are no fault of a request.

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
        log: Callable[[str], None] = _nothing,
        on_defect: Callable[[Exception], None] = _nothing,
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        self._tell(self._http.stop_listening)
        self._remove_socket()
        self.queue.close()
        self._tell(self._http.end)
        self._thread.join()

    def _tell(self, what: Callable[[], Coroutine[Any, Any, None]]) -> None:
        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(what(), self._loop).result()

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
