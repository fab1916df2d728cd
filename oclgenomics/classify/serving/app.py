"""What the server answers: reads are classified, it tells of itself, and it has a page for browsers."""

from __future__ import annotations

import asyncio
import contextlib
import time
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from oclgenomics.classify.serving.connection import Connection
from oclgenomics.classify.serving.openapi import description
from oclgenomics.classify.serving.protocol import HttpError, Limits, parse_parameters, refusal_of
from oclgenomics.classify.serving.queue import AbandonedError, AnswerSpool, BodySpool, Query, WorkQueue
from oclgenomics.errors import OclGenomicsError
from oclgenomics.io.json_text import json_text

MAX_HEADERS = 100
PIECE_BYTES = 1 << 18
MAX_DIGITS = 18  # of the length of a body
GZIP = b"\x1f"  # how it begins, and how neither FASTA nor FASTQ does
PAGE = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
}
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


class Application:
    """An ASGI application that answers requests by a queue.

    Parameters
    ----------
    queue : WorkQueue
    limits : Limits
    folder : str
        For bodies and answers.
    log : callable
        Called with a line for each request.
    on_defect : callable
        Called with exceptions that are no fault of a request.
    """

    def __init__(
        self, queue: WorkQueue, limits: Limits, folder: str, log: Callable[[str], None],
        on_defect: Callable[[Exception], None],
    ) -> None:  # fmt: skip
        self.queue, self.limits, self.folder, self.log, self.on_defect = queue, limits, folder, log, on_defect
        self._endpoints: dict[str, Callable[[Request], Coroutine[Any, Any, Response]]] = {
            "/classify": self._classify,
            "/health": self._health,
            "/info": self._info,
            "/openapi.json": _openapi,
            **dict.fromkeys(PAGE, _page),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it by a line of JSON, and log how that ended."""
        if scope["type"] != "http":
            return
        record = _Record(scope, send)
        try:
            _check(scope)
            answer = await self._endpoint(scope)(Request(scope, receive))
            await answer(scope, receive, record.send)
        except (ClientDisconnect, AbandonedError) as error:
            record.outcome = "hung up"
            if isinstance(error, AbandonedError):
                scope["state"]["connection"].reset()
        except Exception as error:
            if not isinstance(error, (HttpError, OclGenomicsError)):
                self.on_defect(error)
            refusal = refusal_of(error)
            record.outcome = f"{refusal.status} {refusal}"
            scope["state"]["connection"].refuse(refusal)
        self.log(record.line())

    def _endpoint(self, scope: Scope) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a path and a method."""
        path = scope["path"]
        if path not in self._endpoints:
            raise HttpError(HTTPStatus.NOT_FOUND, f"there is nothing here; try {', '.join(self._endpoints)}")
        methods = ("POST",) if path == "/classify" else ("GET", "HEAD")
        if scope["method"] not in methods:
            allowed = {"Allow": ", ".join(methods)}
            raise HttpError(HTTPStatus.METHOD_NOT_ALLOWED, f"{path} takes {' and '.join(methods)} only", allowed)
        return self._endpoints[path]

    async def _health(self, _request: Request) -> Response:
        queue = self.queue
        state = {"status": "ending" if queue.closing else "ok", "held": queue.held, "answered": queue.answered}
        return _json(state, HTTPStatus.SERVICE_UNAVAILABLE, {"Connection": "close"}) if queue.closing else _json(state)

    async def _info(self, _request: Request) -> Response:
        return _json(self.queue.answerer.info)

    async def _classify(self, request: Request) -> Response:
        query = self.queue.answerer.parse(parse_parameters(request.scope["query_string"].decode("latin-1")))
        length = _check_head(request.headers, self.limits.max_body)
        connection: Connection = request.scope["state"]["connection"]
        answer = await self._queued(request, query, length, connection)
        pieces = answer.pieces(lambda: not connection.silent or self.queue.closing)
        try:
            first = await anext(pieces, b"")  # what is wrong from the start is still a status
        except BaseException:
            self.queue.withdraw(answer)
            raise
        size = answer.whole_size
        headers = {"Content-Type": query.content_type} | ({} if size is None else {"Content-Length": str(size)})
        return StreamingResponse(self._sent(first, pieces, answer, request.scope), headers=headers)

    async def _queued(self, request: Request, query: Query, length: int | None, connection: Connection) -> AnswerSpool:
        """Receive the body and have it answered."""
        limits = self.limits
        with contextlib.ExitStack() as stack:
            self.queue.reserve()
            stack.callback(self.queue.leave)
            connection.allow(limits.body_seconds(length))
            body = stack.enter_context(BodySpool(self.folder))
            unpacker = _Unpacker(body, limits.max_body)
            async for piece in request.stream():
                await asyncio.to_thread(unpacker.feed, piece)  # so that decompression holds up nobody
            unpacker.finish()
            connection.allow(None)
            answer = AnswerSpool(self.folder)
            stack.callback(answer.close)
            self.queue.submit(query, body, answer)
            stack.pop_all()  # the queue has the body and the place now
        return answer

    async def _sent(
        self, first: bytes, pieces: AsyncIterator[bytes], answer: AnswerSpool, scope: Scope
    ) -> AsyncIterator[bytes]:
        """The pieces of an answer; where it breaks off, the client sees that it ends before its end."""
        state, connection = scope["state"], scope["state"]["connection"]
        state["outcome"] = "hung up"
        try:
            yield first
            async for piece in pieces:
                if connection.lost:
                    raise AbandonedError
                yield piece
            state["outcome"] = "200"
        except AbandonedError:
            connection.reset()
        except Exception as error:
            state["outcome"] = f"broken off: {error}"
            if not isinstance(error, HttpError):
                self.on_defect(error)
            connection.reset()
        finally:
            self.queue.withdraw(answer)


class _Record:
    """What is seen of a request on its way through the application."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self._began, self._sent = time.monotonic(), 0
        self._request = f"{scope['method']} {_target(scope)[:200]}"
        self.outcome = ""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.outcome = str(message["status"])
        elif self._scope["method"] != "HEAD":
            self._sent += len(message.get("body", b""))
        await self._send(message)

    def line(self) -> str:
        """Say how it ended."""
        client = self._scope["client"][0] if self._scope.get("client") else "local"
        outcome = self._scope["state"].get("outcome", self.outcome)
        return f"{client} {self._request}: {outcome}, {self._sent:,} bytes, {time.monotonic() - self._began:.3f} s"


class _Unpacker:
    """Takes the pieces of a body, which may be gzip of one member or many, and never more than there is room for.

    Parameters
    ----------
    spool : BodySpool
        Where to put it.
    max_bytes : int
        Of what is sent, and of what this decompresses to.
    """

    def __init__(self, spool: BodySpool, max_bytes: int) -> None:
        self._spool, self._max_bytes = spool, max_bytes
        self._taken = 0
        self._packed: bool | None = None  # not known before the first byte
        self._inflater: zlib._Decompress | None = None

    def feed(self, piece: bytes) -> None:
        """Take a piece.

        Raises
        ------
        HttpError
            It is malformed, or too much.
        """
        self._taken += len(piece)
        if self._taken > self._max_bytes:
            raise _too_large(self._max_bytes)
        if piece and self._packed is None:
            self._packed = piece.startswith(GZIP)
        if self._packed:
            self._inflate(piece)
        else:
            self._keep(piece)

    def finish(self) -> None:
        """Say that this was all.

        Raises
        ------
        HttpError
            It is empty, or cut off.
        """
        if self._inflater is not None:
            raise HttpError(HTTPStatus.BAD_REQUEST, "the body is gzip that is cut off")
        if not self._spool.size:
            raise HttpError(HTTPStatus.BAD_REQUEST, "the body is empty; send reads in FASTA or FASTQ")

    def _keep(self, text: bytes) -> None:
        if self._spool.size + len(text) > self._max_bytes:
            raise _too_large(self._max_bytes)
        self._spool.write(text)

    def _inflate(self, rest: bytes) -> None:
        """Decompress a piece, little at a time; zeros may follow a member."""
        while True:
            if self._inflater is None:
                rest = rest.lstrip(b"\0")
                if not rest:
                    return
                self._inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
            try:
                text = self._inflater.decompress(rest, PIECE_BYTES)
            except zlib.error:
                raise HttpError(HTTPStatus.BAD_REQUEST, "the body is damaged gzip") from None
            self._keep(text)
            rest = self._inflater.unconsumed_tail
            if self._inflater.eof:
                rest, self._inflater = self._inflater.unused_data, None
            elif not rest and len(text) < PIECE_BYTES:
                return


def _check(scope: Scope) -> None:
    """Refuse heads that are no good for any path, and take whole addresses for the paths in them."""
    if scope["http_version"] not in ("1.0", "1.1"):
        raise HttpError(HTTPStatus.HTTP_VERSION_NOT_SUPPORTED, f"Invalid HTTP version ({scope['http_version']})")
    if len(scope["headers"]) > MAX_HEADERS:
        raise HttpError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "Too many headers")
    if scope["method"] == "POST" and (b"sec-fetch-site", b"cross-site") in scope["headers"]:
        raise HttpError(HTTPStatus.FORBIDDEN, "pages of other sites may not use this server")  # as a browser sends them
    if not scope["path"].startswith("/"):
        try:
            address = urlsplit(_target(scope))
        except ValueError:
            raise HttpError(HTTPStatus.BAD_REQUEST, "the address is malformed") from None
        scope["path"], scope["query_string"] = unquote(address.path), address.query.encode()


def _check_head(headers: Headers, max_bytes: int) -> int | None:
    """Return the length of the body that a head announces, None where it comes in chunks.

    Raises
    ------
    HttpError
        It is too long, or comes in a way that is not known.
    """
    chunked, length = "transfer-encoding" in headers, headers.get("content-length")  # h11 takes each once
    if len(headers.getlist("content-encoding")) > 1:
        raise HttpError(HTTPStatus.BAD_REQUEST, "the head has Content-Encoding twice")
    if headers.get("content-encoding", "identity").lower() not in ("identity", "gzip", "x-gzip"):
        said = "the body is packed in a way that is not known; send it plain or as gzip"
        raise HttpError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, said)
    if chunked and length is not None:
        raise HttpError(HTTPStatus.BAD_REQUEST, "the head has a length and chunks as well")
    if chunked:
        return None
    if length is None:
        raise HttpError(HTTPStatus.LENGTH_REQUIRED, "there is no body; send reads in FASTA or FASTQ")
    if len(length) > MAX_DIGITS or int(length) > max_bytes:
        raise _too_large(max_bytes)
    return int(length)


def _too_large(max_bytes: int) -> HttpError:
    said = f"the body, unpacked, has more than {max_bytes:,} bytes; send fewer reads at a time"
    return HttpError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, said)


def _target(scope: Scope) -> str:
    """What a request asks for, as it came."""
    query = scope["query_string"].decode("latin-1")
    path: bytes = scope["raw_path"]
    return path.decode("latin-1") + (f"?{query}" if query else "")


def _json(value: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(json_text(value).encode() + b"\n", status, headers, media_type="application/json")


async def _openapi(_request: Request) -> Response:
    return _json(description())


async def _page(request: Request) -> Response:
    name, kind = PAGE[request.scope["path"]]
    return Response(Path(__file__).with_name(name).read_bytes(), headers=PAGE_HEADERS, media_type=kind)
