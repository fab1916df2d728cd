"""Requests that are damaged: each is answered or refused in one line, or the connection ends; the server goes on."""

from __future__ import annotations

import gzip
import json
import re
import socket
from http.client import HTTPException

import numpy as np
import pytest
from helpers.classify_serving import FakeAnswerer, asked, connected, faked, read_answer, request_bytes
from helpers.fuzzing import SECONDS, inputs

from oclgenomics.classify.serving.answerer import KINDS, parse_query
from oclgenomics.classify.serving.protocol import Limits, parse_parameters
from oclgenomics.errors import UsageError

pytestmark = pytest.mark.fuzz

READS = b">a\nACGTACGT\n"
CHUNKS = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (READS[:4], READS[4:], b""))
SAMPLES = {
    "plain": request_bytes(READS, "/classify?times=2&pieces=1"),
    "gzip": request_bytes(gzip.compress(READS), "/classify", "Content-Encoding: gzip"),
    "chunks": b"POST /classify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKS,
    "question": request_bytes(b"", "/info", "Accept: */*", method="GET"),
    "whole address": request_bytes(b"", "http://[::1]:80/health?a=b#c", method="GET"),
}
STATUSES = {200, 400, 404, 405, 411, 413, 414, 415, 431, 501, 505}


@pytest.mark.parametrize("name", SAMPLES)
def test_requests(name: str) -> None:
    limits = Limits(max_body=10_000, idle_seconds=5.0)
    with faked(FakeAnswerer(), limits) as server:
        for _, data in inputs(SAMPLES, name, SECONDS / 8, each=0.003):
            if re.search(rb"times=|pieces=|do=", data) and not re.search(rb"times=2&pieces=1 ", data):
                continue  # the answerer of the test takes any number
            with connected(server) as connection:
                connection.settimeout(20.0)
                try:
                    connection.sendall(data)
                    connection.shutdown(socket.SHUT_WR)
                    answer = read_answer(connection)
                except (HTTPException, ConnectionError):
                    continue  # it was no request
            assert answer.status in STATUSES
            if answer.status != 200:
                assert list(json.loads(answer.body)) == ["error"]
        assert asked(server, READS) == READS.upper()
        assert server.queue.held == 0


def test_parameters() -> None:
    names = "&".join(f"{name}=1" for name in KINDS).encode()
    samples = {"parameters": b"hitmin=3&lowest=species&hitdiff=80&tophits=1&sample=a%20b&format=native", "names": names}
    rng = np.random.default_rng(1)
    told = []
    for _, data in inputs(samples, "parameters", SECONDS / 8, each=0.003):
        text = data.decode("utf-8", "surrogateescape" if rng.random() < 0.5 else "replace")
        try:
            parse_query(parse_parameters(text))
        except UsageError as error:
            told.append(str(error))
    assert told
    assert all(line.isprintable() and len(line) < 400 for line in told)
