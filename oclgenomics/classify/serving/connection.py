"""One connection: uvicorn's, which clients cannot hold, and which refuses them by a line of JSON."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import sys
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from oclgenomics.classify.serving.protocol import HttpError, Limits, ending, error_line

LINGER_SECONDS, LINGER_BYTES = 5.0, 1 << 22  # for a client that sends on what is refused already
AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: closed without an orderly end


class Connection(H11Protocol):
    """A connection of uvicorn.

    There is always a moment at which it is cut off, but for a client that waits for the answer of a whole request. Its
    application, which has `limits` and `log`, finds it in the state of a request.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        application: Any = self.config.app
        self._limits: Limits = application.limits
        self._log: Callable[[str], None] = application.log
        self._timer: asyncio.TimerHandle | None = None
        self._half_closed, self._refused, self._dropped = False, False, 0
        self.app_state = {"connection": self}

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
            with contextlib.suppress(OSError):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        self.transport.abort()

    def refuse(self, error: HttpError) -> None:
        """Answer by a line of JSON, and take what the client still sends, so that it gets to read that."""
        self._refused = True
        whole = began = False
        if self._at_work:
            whole, began = not self.cycle.more_body, self.cycle.response_started
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if not began:
            self._write_refusal(error)
        if whole or began or self._half_closed:
            self.transport.close()
        else:
            with contextlib.suppress(OSError):  # the client is gone
                self.transport.write_eof()
            self.flow.resume_reading()
            self.allow(LINGER_SECONDS)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Turn it away where there are too many."""
        super().connection_made(transport)
        if len(self.connections) <= self._limits.max_connections:
            self.allow(self._limits.idle_seconds)
        else:
            self.connections.discard(self)
            said = "too many connections; try again later"
            self._write_refusal(HttpError(HTTPStatus.SERVICE_UNAVAILABLE, said, {"Retry-After": "1"}))
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
        self.allow(self._limits.idle_seconds)
        super().on_response_complete()
        if self._half_closed and not self._at_work:
            self.transport.close()

    def pause_writing(self) -> None:
        """Give time for a piece of the answer to be taken."""
        super().pause_writing()
        self.allow(self._limits.idle_seconds)

    def resume_writing(self) -> None:
        """End that time."""
        super().resume_writing()
        if self._at_work:
            self.allow(None)

    def shutdown(self) -> None:
        """End it when its request is answered; one that is still being sent never will be."""
        super().shutdown()
        if self._at_work and self.cycle.more_body and not (self._refused or self.cycle.response_started):
            self.refuse(ending())

    def send_400_response(self, msg: str) -> None:
        """Refuse what h11 cannot read."""
        error = sys.exception()
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else HTTPStatus.BAD_REQUEST
        text = " ".join(str(error or msg).split())[:200]
        if self._at_work:
            status = HTTPStatus.BAD_REQUEST
            text = "the body ends before its end" if self._half_closed else f"the body: {text}"
        elif status == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE and b"\n" not in self.conn.trailing_data[0]:
            status, text = HTTPStatus.REQUEST_URI_TOO_LONG, "the first line is too long"
        elif status == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
            text = "the head is too long"
        elif status == HTTPStatus.NOT_IMPLEMENTED:
            text = "of transfer encodings only `chunked` is known"
        self.refuse(HttpError(status, text))
        client = self.client[0] if self.client else "local"
        self._log(f"{client} -: {status} {text}")

    @property
    def _at_work(self) -> bool:
        """Whether a request is being received or answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def _write_refusal(self, error: HttpError) -> None:
        body = error_line(str(error))
        headers = [*self.server_state.default_headers, *((name.encode(), value.encode()) for name, value in (
            *error.headers.items(), ("Content-Type", "application/json"), ("Content-Length", str(len(body))),
            ("Connection", "close"),
        ))]  # fmt: skip
        head = h11.Response(status_code=error.status, headers=headers, reason=HTTPStatus(error.status).phrase.encode())
        data = [] if self._at_work and self.scope["method"] == "HEAD" else [h11.Data(data=body)]
        for event in (head, *data, h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
