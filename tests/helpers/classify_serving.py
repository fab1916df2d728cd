"""A server whose answers a test holds in its hands."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPResponse
from pathlib import Path
from typing import Any, NamedTuple

from oclgenomics.classify.serving.protocol import Limits
from oclgenomics.classify.serving.server import Address, Server
from oclgenomics.errors import InputError, ParameterError

__all__ = ["PATIENCE", "Answer", "FakeAnswerer", "asked", "connected", "exchange", "faked", "read_all", "read_answer",
           "request_bytes", "wait_until"]  # fmt: skip

PATIENCE = 60.0  # seconds after which a test that hangs fails


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: Message
    body: bytes

    @property
    def refusal(self) -> str:
        """The message of a refusal, which is one line of JSON."""
        assert self.headers["Content-Type"] == "application/json"
        assert self.body.count(b"\n") == 1
        assert self.body.endswith(b"\n")
        return str(json.loads(self.body)["error"])


@dataclass(frozen=True)
class FakeQuery:
    parameters: Mapping[str, str]
    content_type: str = "text/plain; charset=utf-8"


class FakeAnswerer:
    """Answers with the body in upper case, as the parameter `do` says.

    Attributes
    ----------
    began, go : Event
        Set when an answer with do=wait begins; what lets it go on.
    ended : Event
        Set when an answer was broken off.
    threads : set
        Those that answered.
    """

    def __init__(self) -> None:
        self.info = {"targets": 17}
        self.began, self.go, self.ended = threading.Event(), threading.Event(), threading.Event()
        self.threads: set[int] = set()
        self.bodies: list[bytes] = []

    def parse(self, parameters: Mapping[str, str]) -> FakeQuery:
        for name in parameters:
            if name not in ("do", "pieces", "times"):
                raise ParameterError(name, "is not known here")
        return FakeQuery(parameters)

    def answer(self, path: str, query: Any) -> Generator[bytes | memoryview, None, None]:
        self.threads.add(threading.get_ident())
        body, do = Path(path).read_bytes(), query.parameters.get("do", "")
        self.bodies.append(body)
        if do == "refuse":
            raise InputError("is bad", source=path, record=3)
        if do == "fail":
            raise RuntimeError("secret")
        try:
            if do in ("wait", "late"):
                if do == "late":
                    yield b"begun\n"
                self.began.set()
                assert self.go.wait(PATIENCE)
                if do == "late":
                    raise InputError("is bad", source=path, record=99)
            for _ in range(int(query.parameters.get("pieces", "1"))):
                yield body.upper() * int(query.parameters.get("times", "1"))
        except GeneratorExit:
            self.ended.set()
            raise


@contextlib.contextmanager
def faked(
    answerer: FakeAnswerer, limits: Limits | None = None, address: Address | None = None, **others: Any
) -> Iterator[Server]:
    """A server; what hangs in it is let go in the end."""

    @contextlib.contextmanager
    def make() -> Iterator[FakeAnswerer]:
        yield answerer

    defects: list[Exception] = []
    others = {"on_defect": defects.append} | others
    with Server(address or Address(), make, limits=limits, **others) as server:
        try:
            yield server
        finally:
            answerer.go.set()
    assert not defects


def request_bytes(body: bytes, target: str = "/classify", *headers: str, method: str = "POST") -> bytes:
    """A request as it goes over the wire."""
    lines = [f"{method} {target} HTTP/1.1", "Host: x", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def connected(server: Server) -> socket.socket:
    """A new connection."""
    return socket.create_connection((server.address.host, server.address.port), PATIENCE)


def exchange(server: Server, data: bytes, *, ends: bool = False) -> Answer:
    """Send bytes in a connection of their own, and return the answer; `ends`: say that no more will come."""
    with connected(server) as connection:
        connection.sendall(data)
        if ends:
            connection.shutdown(socket.SHUT_WR)
        return read_answer(connection)


def asked(server: Server, body: bytes, target: str = "/classify") -> bytes:
    """The answer for a body that is not refused."""
    answer = exchange(server, request_bytes(body, target))
    assert answer.status == 200
    return answer.body


class Unbuffered:
    """A connection of which no byte is read before it is asked for."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def makefile(self, mode: str) -> Any:
        return self._connection.makefile(mode, buffering=0)  # type: ignore[call-overload]


def read_answer(connection: socket.socket, *, ahead: bool = True) -> Answer:
    """Read one answer; not `ahead`: nothing of a next one, which may come together with a short one."""
    response = HTTPResponse(connection if ahead else Unbuffered(connection))  # type: ignore[arg-type]
    response.begin()
    return Answer(response.status, response.headers, response.read())


def read_all(connection: socket.socket) -> bytes:
    """Read until the server closes."""
    pieces = []
    while piece := connection.recv(1 << 16):
        pieces.append(piece)
    return b"".join(pieces)


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for something that another thread is about to do."""
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.005)
