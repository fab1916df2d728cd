"""What the server answers: reads are classified, and it tells of itself."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Iterator
from typing import BinaryIO, cast
from urllib.parse import urlsplit

from oclgenomics.classify.serving.bodies import check_head, receive_body
from oclgenomics.classify.serving.connection import Connection
from oclgenomics.classify.serving.protocol import BAD_REQUEST, CLOSING, HttpError, Query, parse_parameters
from oclgenomics.classify.serving.spool import AnswerSpool, BodySpool

__all__ = ["ROUTES", "ClassifyConnection"]

ROUTES = {"/classify": ("POST",), "/health": ("GET", "HEAD"), "/info": ("GET", "HEAD")}
NOT_FOUND, NOT_ALLOWED = 404, 405
AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: closed without an orderly end


class ClassifyConnection(Connection):
    """Answers the requests of one client."""

    def route(self) -> None:
        """Answer a request.

        Raises
        ------
        HttpError, UsageError, OSError, AbandonedError
            It is refused, or the client gone.
        """
        try:
            address = urlsplit(self.path)
        except ValueError:
            raise HttpError(BAD_REQUEST, "the address is malformed") from None
        methods, queue = ROUTES.get(address.path), self.service.queue
        if methods is None:
            raise HttpError(NOT_FOUND, f"there is nothing here; try {', '.join(ROUTES)}")
        if self.command not in methods:
            told = {"Allow": ", ".join(methods)}
            raise HttpError(NOT_ALLOWED, f"{address.path} takes {' and '.join(methods)} only", told)
        if address.path == "/classify":
            self._classify(address.query)
        elif address.path == "/info":
            self.send_json(200, queue.answerer.info)
        else:
            state = {"status": "ending" if queue.closing else "ok", "held": queue.held, "answered": queue.answered}
            self.send_json(CLOSING if queue.closing else 200, state)

    def _classify(self, parameters: str) -> None:
        query = self.service.queue.answerer.parse(parse_parameters(parameters))
        length = check_head(self.headers, self.service.limits.max_body)
        answer = self._queued(query, length)
        try:
            self._send_answer(query.content_type, answer)
        finally:
            self.service.queue.withdraw(answer)

    def _queued(self, query: Query, length: int | None) -> AnswerSpool:
        """Receive the body and have it answered."""
        queue, limits = self.service.queue, self.service.limits
        with contextlib.ExitStack() as stack:
            place = queue.reserve()
            stack.callback(place.release)
            if self.headers.get("Expect", "").lower() == "100-continue":
                self.send_response_only(100)
                self.end_headers()
                self.wfile.flush()
            self.timed.read_for(limits.body_seconds(length))
            body = stack.enter_context(BodySpool(self.service.folder))
            receive_body(cast(BinaryIO, self.rfile), length, body, limits.max_body)
            self.unread = False
            answer = AnswerSpool(self.service.folder)
            stack.callback(answer.close)
            queue.submit(query, body, answer, place)
            stack.pop_all()  # the queue has the body and the place now
        return answer

    def _send_answer(self, content_type: str, answer: AnswerSpool) -> None:
        pieces = answer.pieces(self._is_there)
        first = next(pieces, b"")  # what is wrong from the start is still a status
        size = answer.whole_size
        chunked = size is None and self.request_version != "HTTP/1.0"
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        if size is not None:
            self.send_header("Content-Length", str(size))
        elif chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.close_connection = True
        self.end_head()
        try:
            self._send_pieces(first, pieces, chunked=chunked)
        except HttpError as error:  # the client sees that the answer ends before its end
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            self.close_connection = True
            self.say(f"broken off: {error}")
            return
        self.say("200")

    def _send_pieces(self, first: bytes, pieces: Iterator[bytes], *, chunked: bool) -> None:
        piece: bytes | None = first
        while piece is not None:
            if piece:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
                self.wfile.flush()
                self.sent += len(piece)
            piece = next(pieces, None)
        if chunked:
            self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _is_there(self) -> bool:
        """Whether the client has not hung up."""
        if self.service.queue.closing:  # then the server's own end looks like that
            return True
        self.connection.setblocking(False)
        try:
            return bool(self.connection.recv(1, socket.MSG_PEEK))
        except BlockingIOError:  # it waits
            return True
