"""A web server in a thread, whose files are in memory and whose answers go wrong as a test says."""

from __future__ import annotations

import email.utils
import hashlib
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Handler", "Web", "cuts", "md5_of", "says", "web"]

MODIFIED = 1_700_000_000
Trouble = Callable[["Handler"], bool]


def md5_of(data: bytes) -> str:
    return hashlib.md5(data).hexdigest()


class Web:
    """Files, troubles, and what was asked for.

    Attributes
    ----------
    files : dict of str to bytes
        By path, without the slash in front.
    troubles : dict of str to list of callable
        Of a path: each answers one request instead, and returns whether it did.
    asked : list of (str, str or None)
        Paths, and the Range of each request.
    ranges, tags, lengths, dates : bool
        Whether the server knows them.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.troubles: dict[str, list[Trouble]] = {}
        self.asked: list[tuple[str, str | None]] = []
        self.headers: list[dict[str, str]] = []
        self.modified: dict[str, float] = {}
        self.ranges = self.tags = self.lengths = self.dates = True
        self.url = ""

    def count(self) -> Counter[str]:
        """How often each path was asked for."""
        return Counter(path for path, _ in self.asked)

    def trouble(self, path: str, *troubles: Trouble) -> None:
        self.troubles.setdefault(path, []).extend(troubles)


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    web: Web
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path.lstrip("/")
        self.web.asked.append((path, self.headers.get("Range")))
        self.web.headers.append(dict(self.headers))
        waiting = self.web.troubles.get(path)
        if waiting and waiting.pop(0)(self):
            return
        if path not in self.web.files:
            self.answer(404, b"no such file")
            return
        data, status, head = self.web.files[path], 200, self.known(path)
        since, within = self.headers.get("If-Modified-Since"), self.headers.get("Range")
        if since and "Last-Modified" in head and email.utils.parsedate_to_datetime(since).timestamp() >= self.age(path):
            self.answer(304, b"", head)
            return
        same = self.headers.get("If-Range") in (None, head.get("ETag"), head.get("Last-Modified"))
        if within and self.web.ranges and same:
            begin = int(re.fullmatch(r"bytes=([0-9]+)-", within)[1])  # type: ignore[index]
            if begin >= len(data):
                self.answer(416, b"", {"Content-Range": f"bytes */{len(data)}"})
                return
            head["Content-Range"] = f"bytes {begin}-{len(data) - 1}/{len(data)}"
            status, data = 206, data[begin:]
        self.answer(status, data, head)

    def age(self, path: str) -> float:
        return self.web.modified.get(path, MODIFIED)

    def known(self, path: str) -> dict[str, str]:
        head = {"ETag": f'"{md5_of(self.web.files[path])}"'} if self.web.tags else {}
        dated = {"Last-Modified": email.utils.formatdate(self.age(path), usegmt=True)} if self.web.dates else {}
        return head | dated

    def answer(self, status: int, data: bytes, head: dict[str, str] | None = None, cut: int | None = None) -> None:
        """Send an answer, of which what is behind `cut` never comes."""
        self.send_response(status)
        for name, value in (head or {}).items():
            self.send_header(name, value)
        if self.web.lengths and status != 304:
            self.send_header("Content-Length", str(len(data)))
        if cut is not None or not self.web.lengths:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(data[:cut])

    def log_message(self, *_: Any) -> None:
        pass


def says(status: int, **head: str) -> Trouble:
    """Answer with a status and headers."""

    def trouble(handler: Handler) -> bool:
        handler.answer(status, b"", {name.replace("_", "-"): value for name, value in head.items()})
        return True

    return trouble


def cuts(size: int) -> Trouble:
    """Send so many bytes of the file, and close the connection."""

    def trouble(handler: Handler) -> bool:
        path = handler.path.lstrip("/")
        handler.answer(200, handler.web.files[path], handler.known(path), cut=size)
        return True

    return trouble


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Say nothing of clients that went away."""


@contextmanager
def web() -> Iterator[Web]:
    """Run a server while the body runs."""
    known = Web()
    server = _Server(("127.0.0.1", 0), type("Bound", (Handler,), {"web": known}))
    known.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield known
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
