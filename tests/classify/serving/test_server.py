"""The server: what it answers, what it refuses, and how it ends, whatever clients do."""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import socket
import stat
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from helpers.classify_serving import (
    PATIENCE,
    FakeAnswerer,
    asked,
    connected,
    exchange,
    faked,
    read_all,
    read_answer,
    request_bytes,
    wait_until,
)

from oclgenomics.classify.serving.client import Client, ServerBusyError, ServerError
from oclgenomics.classify.serving.protocol import Limits
from oclgenomics.classify.serving.server import Address, Server
from oclgenomics.errors import DeviceLostError, InputError, OutputError, UsageError

READS = b">a\nacgt\n"


@pytest.fixture
def fake() -> FakeAnswerer:
    return FakeAnswerer()


@pytest.fixture
def server(fake: FakeAnswerer) -> Iterator[Server]:
    with faked(fake, Limits(max_body=100_000, max_waiting=1)) as server:
        yield server


@pytest.fixture(scope="module")
def lasting() -> Iterator[Server]:
    """A server for tests that leave it as it was: each other one takes a while to end."""
    with faked(FakeAnswerer(), Limits(max_body=100_000, max_waiting=1)) as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(server.address.url, timeout=PATIENCE, patience=0) as client:
        yield client


# What it answers


def test_reads_are_answered(client: Client, fake: FakeAnswerer, tmp_path: Path) -> None:
    assert client.classify(READS) == READS.upper()
    (tmp_path / "reads").write_bytes(READS * 99)
    assert client.classify(tmp_path / "reads", pieces=300) == READS.upper() * 99 * 300
    assert client.info() == {"targets": 17}
    assert client.health() == {"status": "ok", "held": 0, "answered": 2}
    assert len(fake.threads) == 1
    assert threading.get_ident() not in fake.threads


def test_clients_open_connections_again(fake: FakeAnswerer) -> None:
    with faked(fake) as server, Client(server.address.url, timeout=PATIENCE) as client:
        assert client.classify(READS) == READS.upper()
        for connection in server.connections:  # as after some time without a request
            server._loop.call_soon_threadsafe(connection.transport.close)
        wait_until(lambda: not server.connections)
        assert client.classify(READS) == READS.upper()
        parts = client.classify_parts(READS, pieces=2000)
        next(parts)
        parts.close()
        assert client.classify(READS) == READS.upper()


def test_answers_without_a_byte(client: Client) -> None:
    assert client.classify(READS, pieces=0) == b""


def test_bodies_in_gzip_and_in_chunks(client: Client, server: Server) -> None:
    packed = gzip.compress(READS[:3]) + gzip.compress(READS[3:]) + bytes(99)
    assert client.classify(packed) == READS.upper()
    head = "POST /classify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
    for coding, body in (("", READS), ("Content-Encoding: gzip\r\n", packed)):
        chunks = b"".join(b"%x;a=b\r\n%b\r\n" % (len(part), part) for part in (body[:1], body[1:5], body[5:]))
        answer = exchange(server, f"{head}{coding}\r\n".encode() + chunks + b"0\r\nTrailer: x\r\n\r\n")
        assert (answer.status, answer.body) == (200, READS.upper())


def test_several_requests_of_one_connection(lasting: Server) -> None:
    with connected(lasting) as connection:
        for body in (b"a", b"b"):
            connection.sendall(request_bytes(body))
            assert read_answer(connection).body == body.upper()
        connection.sendall(request_bytes(b"c") + request_bytes(b"d"))
        connection.shutdown(socket.SHUT_WR)
        assert read_all(connection).count(b"HTTP/1.1 200 OK") == 2


def test_old_clients(server: Server, fake: FakeAnswerer) -> None:
    fake.go.set()
    for do in ("", "?do=wait"):
        answer = exchange(server, f"POST /classify{do} HTTP/1.0\r\nContent-Length: 1\r\n\r\na".encode())
        assert (answer.status, answer.body) == (200, b"A")


def test_answers_come_while_they_are_made(server: Server, fake: FakeAnswerer) -> None:
    with Client(server.address.url, timeout=PATIENCE) as client:
        parts = client.classify_parts(READS, do="late")
        assert next(parts) == b"begun\n"
        fake.go.set()
        with pytest.raises(ServerError, match=r"ends before its end|hung up"):
            next(parts)


def test_two_clients_at_once(server: Server, fake: FakeAnswerer) -> None:
    fake.go.set()
    with ThreadPoolExecutor(2) as threads:
        texts = [f">{number}\nacgt\n".encode() for number in range(40)]

        def ask(text: bytes) -> bytes:
            with Client(server.address.url, timeout=PATIENCE) as client:
                return client.classify(text, pieces=3)

        assert list(threads.map(ask, texts)) == [text.upper() * 3 for text in texts]
    assert len(fake.threads) == 1


def test_many_clients_at_once(fake: FakeAnswerer, monkeypatch: pytest.MonkeyPatch) -> None:
    """All have their own answers, though there is room for a few only; those that find none come again."""
    fake.go.set()
    sleep = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: sleep(min(seconds, 0.02)))
    with faked(fake, Limits(max_waiting=20)) as server, ThreadPoolExecutor(32) as threads:
        bodies = [gzip.compress(f">{number}\nacgt\n".encode() * 5000) for number in range(32)]

        def ask(body: bytes) -> bytes:
            with Client(server.address.url, timeout=PATIENCE) as client:
                return client.classify(body)

        assert list(threads.map(ask, bodies)) == [gzip.decompress(body).upper() for body in bodies]
        wait_until(lambda: server.queue.held == 0)
    assert len(fake.threads) == 1


def test_curl(server: Server, tmp_path: Path) -> None:
    (tmp_path / "reads.fa.gz").write_bytes(gzip.compress(READS))
    words = ["curl", "-sS", "--data-binary", f"@{tmp_path / 'reads.fa.gz'}", f"{server.address.url}/classify?pieces=2"]
    try:
        found = subprocess.run(words, capture_output=True, check=True, timeout=PATIENCE)
    except FileNotFoundError:
        pytest.skip("curl is not installed")
    assert found.stdout == READS.upper() * 2


def test_unix_sockets(fake: FakeAnswerer, tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with faked(fake, address=Address(path=str(path))) as server:
        assert server.address.url == f"unix:{path}"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with Client(server.address.url, timeout=PATIENCE) as client:
            assert client.classify(READS) == READS.upper()
        with pytest.raises(OutputError, match="cannot be listened to"), faked(fake, address=server.address):
            pass
        assert path.exists()
    assert not path.exists()
    with socket.socket(socket.AF_UNIX) as left:  # as of a server that was killed
        left.bind(str(path))
    with faked(fake, address=Address(path=str(path))) as server, Client(server.address.url) as client:
        assert client.health()["status"] == "ok"
    path.write_text("a file")
    with pytest.raises(OutputError, match="cannot be listened to"), faked(fake, address=server.address):
        pass
    assert path.read_text() == "a file"


@pytest.mark.parametrize("place", ["/health", "/info"])
def test_heads_alone(lasting: Server, place: str) -> None:
    """HEAD is GET without the body: as many bytes are named, and none come."""
    whole = exchange(lasting, request_bytes(b"", place, method="GET"))
    with connected(lasting) as connection:
        connection.sendall(request_bytes(b"", place, "Connection: close", method="HEAD"))
        head, behind = read_all(connection).split(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert f"content-length: {len(whole.body)}".encode() in head.lower()
    assert behind == b""


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e20, 90_000])
def test_times_are_bounded(seconds: float) -> None:
    with pytest.raises(UsageError, match="idle_seconds"):
        Limits(idle_seconds=seconds)
    with pytest.raises(UsageError, match="timeout"):
        Client("http://127.0.0.1:1", timeout=seconds)
    assert Limits(max_body=1 << 60, idle_seconds=86_400.0).body_seconds(None) == 86_400


# What it refuses


BAD = {
    "nowhere": (request_bytes(b"", "/x", method="GET"), 404, "try /classify, /health, /info, /openapi.json, /,"),
    "another site": (request_bytes(b"a", "/classify", "Sec-Fetch-Site: cross-site"), 403, "pages of other sites"),
    "another method": (request_bytes(b"a", method="PUT"), 405, "/classify takes POST only"),
    "reads for health": (request_bytes(b"a", "/health"), 405, "/health takes GET and HEAD only"),
    "half an address": (request_bytes(b"", "http://[::1", method="GET"), 400, "the address is malformed"),
    "an unknown parameter": (request_bytes(b"a", "/classify?hitmax=3"), 400, "hitmax is not known here"),
    "a parameter twice": (request_bytes(b"a", "/classify?do=a&do=b"), 400, "'do' is given twice"),
    "a parameter that is no text": (request_bytes(b"a", "/classify?do=%ff"), 400, "no text in UTF-8"),
    "many parameters": (request_bytes(b"a", "/classify?" + "&".join(f"a{n}" for n in range(99))), 400, "more than 64"),
    "no body": (b"POST /classify HTTP/1.1\r\nHost: x\r\n\r\n", 411, "there is no body"),
    "an empty body": (request_bytes(b""), 400, "the body is empty"),
    "two lengths that differ": (request_bytes(b"aaa", "/classify", "Content-Length: 4"), 400, "conflicting"),
    "an encoding twice": (request_bytes(b"aaa", "/classify", *["Content-Encoding: gzip"] * 2), 400, "-Encoding twice"),
    "a body that is cut off": (request_bytes(b"aaa")[:-1], 400, "ends before its end"),
    "a length of words": (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\naaa", 400, "bad Content-"),
    "another coding": (request_bytes(b"a", "/classify", "Content-Encoding: br"), 415, "send it plain or as gzip"),
    "another transfer": (request_bytes(b"a", "/classify", "Transfer-Encoding: gzip"), 501, "only `chunked` is known"),
    "two lengths": (request_bytes(b"a", "/classify", "Transfer-Encoding: chunked"), 400, "a length and chunks as well"),
    "too long a body": (request_bytes(bytes(100_001)), 413, "more than 100,000 bytes"),
    "too long a body in gzip": (request_bytes(gzip.compress(bytes(100_001))), 413, "more than 100,000 bytes"),
    "a gzip bomb": (request_bytes(gzip.compress(bytes(50_000_000))), 413, "more than 100,000 bytes"),
    "damaged gzip": (request_bytes(gzip.compress(READS * 9)[:20] + b"x" * 30), 400, "is damaged gzip"),
    "cut off gzip": (request_bytes(gzip.compress(READS)[:-3]), 400, "is gzip that is cut off"),
    "rubbish behind gzip": (request_bytes(gzip.compress(READS) + b"x"), 400, "is gzip that is cut off"),
    "no HTTP": (b"hello\r\n\r\n", 400, "illegal request line"),
    "a first line without end": (b"GET /" + b"a" * 70_000, 414, "the first line is too long"),
    "too many heads": (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 200 + b"\r\n", 431, "Too many"),
    "a head that is cut off": (b"GET / HTTP/1.1\r\nHost: x\r\n", 400, "closed connection"),
    "a head without end": (b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 20_000, 431, "the head is too long"),
    "no host": (b"GET /health HTTP/1.1\r\n\r\n", 400, "Missing mandatory Host"),
    "HTTP of the future": (b"GET /health HTTP/9.9\r\n\r\n", 505, "Invalid HTTP version"),
    "what the answerer refuses": (request_bytes(b"a", "/classify?do=refuse"), 400, "the body, record 3: is bad"),
}  # fmt: skip
CHUNKED = b"POST /classify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
BAD |= {
    f"chunks, {name}": (CHUNKED + chunks, status, message)
    for name, chunks, status, message in (
        ("no size", b"x\r\n", 400, "illegal chunk header"),
        ("a size below 0", b"-1\r\n", 400, "illegal chunk header"),
        ("longer than said", b"1\r\naa\r\n0\r\n\r\n", 400, "malformed chunk footer"),
        ("cut off", b"9\r\naa", 400, "ends before its end"),
        ("without end", b"1\r\na\r\n", 400, "ends before its end"),
        ("too long", b"ffffff\r\n" + bytes(200_000), 413, "more than 100,000 bytes"),
        ("longer than there is memory", b"fffffffffffffff\r\na", 400, "ends before its end"),
        ("a long line", b"1" * 2000, 400, "ends before its end"),
        ("a line without end", b"1" * 100_000, 400, "Receive buffer too long"),
        ("many trailers", b"1\r\na\r\n0\r\n" + b"a: b\r\n" * 20_000, 400, "Receive buffer too long"),
    )
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_requests(lasting: Server, name: str) -> None:
    request, status, message = BAD[name]
    answer = exchange(lasting, request, ends=True)
    assert answer.status == status
    assert message in answer.refusal
    assert answer.headers["Connection"] == "close"
    assert asked(lasting, b"a") == b"A"  # it goes on, and no place is lost
    wait_until(lambda: lasting.queue.held == 0)


def test_defects_are_told_to_the_server_alone(fake: FakeAnswerer) -> None:
    told: list[Exception] = []
    with faked(fake, on_defect=told.append) as server:
        answer = exchange(server, request_bytes(b"a", "/classify?do=fail"))
        assert answer.status == 500
        assert answer.refusal == "a defect of the program; the server's messages say more"
        assert asked(server, b"a") == b"A"
    assert [str(error) for error in told] == ["secret"]


def test_a_full_disk(server: Server, fake: FakeAnswerer, monkeypatch: pytest.MonkeyPatch) -> None:
    size = 0

    def full(handle: int, data: memoryview, place: int) -> int:
        if len(data) < size:
            return real(handle, data, place)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    real = os.pwrite
    monkeypatch.setattr(os, "pwrite", full)
    for room, times in ((100, 1), (200, 3)):  # not for the body; not for the answer
        size = room
        answer = exchange(server, request_bytes(b"a" * 150, f"/classify?times={times}"))
        assert (answer.status, "No space left" in answer.refusal) == (500, True)
        assert asked(server, b"b") == b"B"
    wait_until(lambda: server.queue.held == 0)


def test_a_full_queue(server: Server, fake: FakeAnswerer) -> None:
    with ThreadPoolExecutor(2) as threads, Client(server.address.url, patience=0) as client:
        first = threads.submit(asked, server, b"a", "/classify?do=wait")
        assert fake.began.wait(PATIENCE)
        with connected(server) as second:
            second.sendall(request_bytes(b"bb", "/classify", "Expect: 100-continue")[:-2])
            assert second.recv(100).startswith(b"HTTP/1.1 100 ")  # it has the one place
            answer = exchange(server, request_bytes(b"c" * 50_000))
            assert (answer.status, answer.headers["Retry-After"]) == (429, "1")
            assert "too many requests are waiting" in answer.refusal
            with pytest.raises(ServerBusyError, match="try again in 1 s"):
                client.classify(READS)
            assert client.health() == {"status": "ok", "held": 2, "answered": 0}
            second.sendall(b"bb")
            fake.go.set()
            assert read_answer(second).body == b"BB"
        assert first.result(PATIENCE) == b"A"


def test_patient_clients_come_again(fake: FakeAnswerer, monkeypatch: pytest.MonkeyPatch) -> None:
    with faked(fake, Limits(max_waiting=0)) as server, ThreadPoolExecutor(1) as threads:
        first = threads.submit(asked, server, b"a", "/classify?do=wait")
        assert fake.began.wait(PATIENCE)
        slept: list[float] = []

        def sleep(seconds: float) -> None:
            slept.append(seconds)
            fake.go.set()
            first.result(PATIENCE)

        monkeypatch.setattr(time, "sleep", sleep)
        with Client(server.address.url, timeout=PATIENCE, patience=60) as client:
            assert client.classify(READS) == READS.upper()
        assert slept == [1.0]


def test_no_body_is_sent_that_is_not_wanted(lasting: Server) -> None:
    with connected(lasting) as connection:
        connection.sendall(request_bytes(bytes(200_000), "/classify", "Expect: 100-continue")[:-200_000])
        assert read_answer(connection).status == 413


def test_clients_that_send_all_before_they_listen(lasting: Server) -> None:
    answer = exchange(lasting, request_bytes(bytes(3_000_000)))  # more than sockets hold
    assert (answer.status, answer.headers["Connection"]) == (413, "close")


def test_too_many_connections(fake: FakeAnswerer) -> None:
    with faked(fake, Limits(max_connections=1)) as server, connected(server) as first:
        first.sendall(request_bytes(b"a"))
        assert read_answer(first).body == b"A"
        with connected(server) as second:
            assert read_answer(second).status == 503


# Clients that hang up, or are slow


def test_clients_that_hang_up_are_noticed(server: Server, fake: FakeAnswerer) -> None:
    with connected(server) as connection:
        connection.sendall(request_bytes(b"a", "/classify?do=wait&pieces=1000"))
        assert fake.began.wait(PATIENCE)
    wait_until(lambda: not server.connections)  # nothing is there to be sent, so it looks
    fake.go.set()
    assert fake.ended.wait(PATIENCE)
    assert asked(server, b"b") == b"B"


def test_waiting_requests_of_clients_that_hung_up_are_not_answered(server: Server, fake: FakeAnswerer) -> None:
    with connected(server) as first:
        first.sendall(request_bytes(b"a", "/classify?do=wait"))
        assert fake.began.wait(PATIENCE)
        with connected(server) as second:
            second.sendall(request_bytes(b"b", "/classify", "Expect: 100-continue")[:-1])
            assert second.recv(100).startswith(b"HTTP/1.1 100 ")
            second.sendall(b"b")
            wait_until(lambda: server.queue.waiting == 1)
        wait_until(lambda: server.queue.held == 1)
        fake.go.set()
        assert asked(server, b"c") == b"C"
    assert fake.bodies == [b"a", b"c"]


def test_clients_that_break_off_while_they_send(server: Server) -> None:
    with connected(server) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.sendall(request_bytes(bytes(1000), "/classify", "Expect: 100-continue")[:-500])
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
    wait_until(lambda: not server.connections and server.queue.held == 0)


def test_slow_clients_are_left(fake: FakeAnswerer) -> None:
    limits = Limits(idle_seconds=0.05, least_rate=1e9)
    for data in (b"", b"GET /hea", request_bytes(b"abc")[:-1]):
        with faked(fake, limits) as server:
            with connected(server) as connection:
                connection.sendall(data)
                assert read_all(connection) == b""
            assert asked(server, b"a") == b"A"


def test_slow_readers_do_not_hold_the_worker(fake: FakeAnswerer) -> None:
    with faked(fake) as server, connected(server) as slow:
        slow.sendall(request_bytes(b"a" * 99_000, "/classify?pieces=300"))  # more than sockets hold
        assert slow.recv(1) == b"H"
        assert asked(server, b"b") == b"B"
        slow.shutdown(socket.SHUT_WR)
        assert len(read_all(slow)) > 300 * 99_000


def drip(server: Server, data: bytes) -> int:
    """Send a byte at a time for as long as the server takes them, and return how many it took."""
    with connected(server) as connection, contextlib.suppress(ConnectionError):
        for place in range(len(data)):
            connection.sendall(data[place : place + 1])
            time.sleep(0.01)
    return place


@pytest.mark.parametrize("what", ["head", "body", "body in chunks"])
def test_clients_that_drip_are_left(fake: FakeAnswerer, what: str) -> None:
    """Each byte comes in time, and the whole does not."""
    with faked(fake, Limits(idle_seconds=0.2, least_rate=1e9)) as server:
        if what == "head":
            data = b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 1000
        elif what == "body":
            data = request_bytes(bytes(5000))
        else:
            data = CHUNKED + b"1\r\na\r\n" * 1000
        began = time.monotonic()
        assert drip(server, data) < 500  # which take 5 s at least
        assert time.monotonic() > began + 0.1
        assert asked(server, b"a") == b"A"
        wait_until(lambda: server.queue.held == 0 and not server.connections)


@pytest.mark.parametrize("pieces", [1, 300])
def test_clients_that_take_nothing_are_left(fake: FakeAnswerer, pieces: int) -> None:
    with faked(fake, Limits(idle_seconds=0.2)) as server, connected(server) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(request_bytes(b"a" * 99_000, f"/classify?pieces={pieces}"))
        wait_until(lambda: len(fake.bodies) == 1 and server.queue.held == 0)
        wait_until(lambda: not server.connections)


def test_bodies_that_nobody_asked_for(server: Server) -> None:
    """A question is answered even with a body, which is not mistaken for the next request."""
    with connected(server) as connection:
        connection.sendall(request_bytes(request_bytes(b"evil"), "/health", method="GET"))
        assert read_answer(connection).status == 200
        connection.sendall(request_bytes(b"b"))
        assert read_answer(connection).body == b"B"
    assert server.queue.answered == 1


def test_lengths_that_are_one(lasting: Server) -> None:
    """A length that is there twice is one length (RFC 9110, 8.6); the next request begins behind it."""
    with connected(lasting) as connection:
        connection.sendall(request_bytes(b"aaa", "/classify", "Content-Length: 3") + request_bytes(b"b"))
        assert [read_answer(connection, ahead=False).body for _ in range(2)] == [b"AAA", b"B"]


# How it ends


def test_the_request_at_work_is_finished(fake: FakeAnswerer) -> None:
    with faked(fake) as server, ThreadPoolExecutor(3) as threads:  # noqa: SIM117
        with connected(server) as idle, connected(server) as waits:
            idle.sendall(request_bytes(b"", "/health", method="GET"))
            assert read_answer(idle).status == 200
            first = threads.submit(asked, server, b"a", "/classify?do=wait")
            assert fake.began.wait(PATIENCE)
            waits.sendall(request_bytes(b"b", "/classify", "Expect: 100-continue")[:-1])
            assert waits.recv(100).startswith(b"HTTP/1.1 100 ")
            ends = threads.submit(server.close)
            server.queue.wait()
            waits.sendall(b"b")
            answer = read_answer(waits)
            assert (answer.status, answer.refusal) == (503, "the server is ending")
            with pytest.raises(ConnectionRefusedError):
                connected(server)
            fake.go.set()
            assert first.result(PATIENCE) == b"A"
            assert idle.recv(10) == b""
            ends.result(PATIENCE)
    assert fake.bodies == [b"a"]
    assert not server.connections


def test_requests_that_wait_are_refused(fake: FakeAnswerer, monkeypatch: pytest.MonkeyPatch) -> None:
    def submit(*words: Any) -> None:
        real(*words)
        waits.release()

    with faked(fake) as server, ThreadPoolExecutor(3) as threads:
        first = threads.submit(asked, server, b"a", "/classify?do=wait")
        assert fake.began.wait(PATIENCE)
        real, waits = server.queue.submit, threading.Semaphore(0)
        monkeypatch.setattr(server.queue, "submit", submit)
        second = threads.submit(exchange, server, request_bytes(b"b"))
        assert waits.acquire(timeout=PATIENCE)
        ends = threads.submit(server.close)
        server.queue.wait()
        fake.go.set()
        answer = second.result(PATIENCE)
        assert (answer.status, answer.refusal) == (503, "the server is ending")
        assert first.result(PATIENCE) == b"A"
        ends.result(PATIENCE)


def test_a_lost_device_ends_the_server(fake: FakeAnswerer, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(path: str, query: object) -> Iterator[bytes]:
        raise DeviceLostError("the device stopped answering")
        yield b""

    monkeypatch.setattr(fake, "answer", lost)
    with faked(fake) as server:
        answer = exchange(server, request_bytes(b"a"))
        assert (answer.status, answer.refusal) == (500, "the device stopped answering")
        with pytest.raises(DeviceLostError):
            server.wait()
        assert exchange(server, request_bytes(b"a")).status == 503


def test_servers_that_do_not_begin(tmp_path: Path) -> None:
    def make() -> None:
        raise InputError("is damaged", source="x")

    before = set(threading.enumerate())
    with pytest.raises(InputError, match="x: is damaged"):
        Server(Address(), make)  # type: ignore[arg-type]
    with pytest.raises(OutputError, match="no such folder"):
        Server(Address(), make, tmp_dir=tmp_path / "no")  # type: ignore[arg-type]
    assert set(threading.enumerate()) <= before


def test_nothing_is_left(fake: FakeAnswerer, tmp_path: Path) -> None:
    before = len(os.listdir("/dev/fd"))
    with faked(fake, tmp_dir=tmp_path) as server:
        for _ in range(5):
            assert asked(server, b"a") == b"A"
            assert exchange(server, request_bytes(b"a", "/classify?do=refuse")).status == 400
        assert list(tmp_path.iterdir()) == []
    assert len(os.listdir("/dev/fd")) == before


# Addresses


@pytest.mark.parametrize(
    ("text", "url", "local"),
    [
        ("8080", "http://127.0.0.1:8080", True),
        (":8080", "http://127.0.0.1:8080", True),
        ("localhost:0", "http://localhost:0", True),
        ("127.3.2.1:1", "http://127.3.2.1:1", True),
        ("[::1]:80", "http://[::1]:80", True),
        ("0.0.0.0:80", "http://0.0.0.0:80", False),
        ("[::]:80", "http://[::]:80", False),
        ("example.org:80", "http://example.org:80", False),
    ],
)
def test_addresses(text: str, url: str, local: bool) -> None:
    assert Address.parse(text).url == url
    assert Address.parse(text).is_local == local


@pytest.mark.parametrize("text", ["", "x", "x:", "1:2:3", "x:65536", "[::1]", "http://x:80", "x:-1"])
def test_no_addresses(text: str) -> None:
    with pytest.raises(UsageError, match="write HOST:PORT"):
        Address.parse(text)


@pytest.mark.parametrize("url", ["", "x", "https://x:80", "http://x:y", "http://x:80/path", "http://"])
def test_no_urls(url: str) -> None:
    with pytest.raises(UsageError, match="write http://HOST:PORT"):
        Client(url)


def test_servers_that_are_not_there(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # a port that is taken, and at which nobody listens
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}"
        for url in (nobody, f"unix:{tmp_path / 'x'}"):
            with Client(url, timeout=5) as client, pytest.raises(ServerError, match="cannot be reached"):
                client.health()
        with Client(nobody) as client, pytest.raises(InputError, match="no: cannot be read"):
            client.classify("no")


@pytest.mark.parametrize("limit", [{"max_body": 0}, {"max_waiting": -1}, {"idle_seconds": 0.0}])
def test_no_limits(limit: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Limits(**limit)  # type: ignore[arg-type]
