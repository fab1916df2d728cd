"""One connection: requests are read, checked and answered, or refused by a line of JSON."""

from __future__ import annotations

import contextlib
import io
import socket
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any, cast

from oclgenomics import __version__
from oclgenomics.classify.serving.limits import Limits
from oclgenomics.classify.serving.protocol import BAD_REQUEST, HttpError, error_line, refusal_of
from oclgenomics.classify.serving.spool import AbandonedError
from oclgenomics.classify.serving.timed_stream import TimedStream
from oclgenomics.classify.serving.work_queue import WorkQueue
from oclgenomics.errors import OclGenomicsError
from oclgenomics.io.plain_json import json_text

__all__ = ["Connection", "Service"]

MAX_LINE, LINE_TOO_LONG = 1 << 16, 414
LINGER_SECONDS, LINGER_BYTES = 5.0, 1 << 22  # for a client that sends on what is refused already


@dataclass(frozen=True)
class Service:
    """What all connections of a server share.

    Attributes
    ----------
    queue : WorkQueue
    limits : Limits
    folder : str
        For bodies and answers.
    log : callable
        Told a line for each request.
    on_defect : callable
        Told of exceptions that are no fault of a request.
    """

    queue: WorkQueue
    limits: Limits
    folder: str
    log: Callable[[str], None]
    on_defect: Callable[[Exception], None]


class Connection(BaseHTTPRequestHandler):
    """Reads the requests of one client, one after the other; see `http.server`. Who answers says how in `route`."""

    protocol_version = "HTTP/1.1"

    @abstractmethod
    def route(self) -> None:
        """Answer a request, or raise why not."""

    def setup(self) -> None:
        """Read and write with limits of time."""
        self.service = cast(Service, self.server)
        self.connection = cast(socket.socket, self.request)
        if self.connection.family != socket.AF_UNIX:
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.timed = TimedStream(self.connection, self.service.limits.idle_seconds)
        self.rfile = io.BufferedReader(self.timed, 1 << 16)
        self.wfile = cast(io.BufferedIOBase, io.BufferedWriter(self.timed, 1 << 16))

    def handle_one_request(self) -> None:
        """Answer a request; a client that is too slow or gone is left."""
        self.timed.read_for(self.service.limits.idle_seconds)
        self.sent, self.unread, self.command = 0, False, ""
        try:
            self.raw_requestline = self.rfile.readline(MAX_LINE)
            self._began = time.monotonic()
            if not self.raw_requestline:
                self.close_connection = True
            elif len(self.raw_requestline) == MAX_LINE:
                self.send_error(LINE_TOO_LONG, "the first line is too long")
            elif self.parse_request():  # else it has refused it
                self._answer_or_refuse()
            self.wfile.flush()
        except OSError:  # timeouts are, too
            self.close_connection = True
        if self.service.queue.closing:
            self.close_connection = True

    def finish(self) -> None:
        """Close the streams, which a client that is gone cannot keep from it."""
        for stream in (self.wfile, self.rfile):
            with contextlib.suppress(OSError):
                stream.close()

    def handle_expect_100(self) -> bool:
        """Let the body come only when there is a place for it."""
        return True

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what `http.server` cannot read."""
        self.request_version = self.protocol_version  # so that there is a head
        self._refuse(HttpError(code, message or explain or "malformed request"))

    def version_string(self) -> str:
        return f"oclgenomics/{__version__}"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Leave it to `say`."""

    def say(self, what: str) -> None:
        """Log how a request ended."""
        client = str(self.client_address[0]) if self.client_address else "local"
        request = f"{self.command or '-'} {getattr(self, 'path', '')[:200]}"
        seconds = time.monotonic() - self._began
        self.service.log(f"{client} {request}: {what}, {self.sent:,} bytes, {seconds:.3f} s")

    def send_json(self, status: int, value: Mapping[str, Any]) -> None:
        """Answer with a line of JSON."""
        self._send_whole(status, json_text(value).encode() + b"\n", {})
        self.say(str(status))

    def end_head(self) -> None:
        """End the head, and say whether the connection ends as well."""
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def _answer_or_refuse(self) -> None:
        self.unread = self.headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in self.headers
        try:
            self.route()
        except (AbandonedError, OSError):
            self.close_connection = True
            self.say("hung up")
        except HttpError as error:
            self._refuse(error)
        except Exception as error:
            if not isinstance(error, OclGenomicsError):
                self.service.on_defect(error)
            self._refuse(refusal_of(error))

    def _refuse(self, error: HttpError) -> None:
        with contextlib.suppress(OSError):
            self._send_whole(error.status, error_line(str(error)), error.headers)
            self.say(f"{error.status} {error}")
            self._drop_rest()

    def _send_whole(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
        if self.unread or status >= BAD_REQUEST:
            self.close_connection = True
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_head()
        sent = data if self.command != "HEAD" else b""
        self.wfile.write(sent)
        self.wfile.flush()
        self.sent += len(sent)

    def _drop_rest(self) -> None:
        """Take what the client still sends, so that it gets to read why nobody wants it."""
        self.connection.shutdown(socket.SHUT_WR)
        self.timed.read_for(LINGER_SECONDS)
        dropped = 0
        while dropped < LINGER_BYTES and (piece := self.rfile.read1(1 << 16)):
            dropped += len(piece)
