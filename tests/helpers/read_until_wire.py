"""Messages of MinKNOW's data service as bytes, by the published `data.proto`: live reads, and actions.

Protocol buffers leave out what is 0, keep unknown fields, and refuse numbers and texts of other types than Python's.
Before version 6.0 a read had a number as well (field 2), by which actions named it (field 4)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

__all__ = ["WireClient", "read_data", "response"]

READ = {1: "id", 2: "number", 3: "start_sample", 4: "chunk_start_sample", 5: "chunk_length", 7: "raw_data"}
Fields = list[tuple[int, Any]]


def varint(number: int) -> bytes:
    assert type(number) is int, "protocol buffers take no integers of NumPy"
    assert 0 <= number < 1 << 64
    low, number = number & 127, number >> 7
    return bytes([low | 128]) + varint(number) if number else bytes([low])


def encoded(fields: Fields) -> bytes:
    """Fields one after the other: integers, doubles, texts, bytes; what is 0 or empty is left out."""
    whole = b""
    for number, value in fields:
        if type(value) is float:
            whole += varint(number << 3 | 1) + struct.pack("<d", value)
        elif type(value) is int:
            whole += varint(number << 3) + varint(value) if value else b""
        else:
            data = value.encode() if type(value) is str else value
            assert type(data) is bytes, "protocol buffers take no such object"
            whole += varint(number << 3 | 2) + varint(len(data)) + data
    return whole


def decoded(data: bytes) -> Iterator[tuple[int, Any]]:
    """Number and value of each field; of a text its bytes."""
    place = 0

    def integer() -> int:
        nonlocal place
        value = shift = 0
        while True:
            byte = data[place]
            place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while place < len(data):
        number, kind = divmod(integer(), 8)
        if kind == 0:
            yield number, integer()
            continue
        size = {1: 8, 5: 4}.get(kind) or integer()
        part, place = data[place : place + size], place + size
        yield number, struct.unpack("<d", part)[0] if kind == 1 else part


def read_data(name: str, raw: bytes, start: int, chunk_start: int, *, number: int = 0) -> bytes:
    """A `ReadData` with medians and classifications, which nobody here looks at."""
    before = [(1, name), (2, number), (3, start), (4, chunk_start), (5, len(raw) // 2)]
    return encoded([*before, (6, bytes([83])), (7, raw), (10, 80), (77, "of a later version")])


def response(channels: dict[int, bytes]) -> bytes:
    """A `GetLiveReadsResponse`: a map is a message of key and value for each."""
    entries = [(4, encoded([(1, channel), (2, read)])) for channel, read in channels.items()]
    return encoded([(1, 4000), (2, 1.0), *entries, (5, encoded([(1, "an action"), (2, 1)]))])


@dataclass
class WireClient:
    """Does what published clients do: sends a setup, then gives chunks that came, and sends actions in groups.

    `sent` has all requests, as bytes.
    """

    responses: list[bytes]
    with_numbers: bool = False
    signal_dtype: Any = "<i2"
    sent: list[bytes] = field(default_factory=list)
    _actions: int = 0

    def __post_init__(self) -> None:
        self.sent.append(encoded([(1, encoded([(1, 1), (2, 512), (3, 3)]))]))  # uncalibrated samples

    @property
    def is_running(self) -> bool:
        return bool(self.responses)

    def get_read_chunks(self, batch_size: int = 1, last: bool = True) -> list[tuple[int, Any]]:
        found = []
        for number, entry in decoded(self.responses.pop(0)):
            if number == 4:
                pair = dict(decoded(entry))
                found.append((pair[1], self._read(pair[2])))
        return found[:batch_size]

    def _read(self, data: bytes) -> Any:
        values: dict[str, Any] = {"id": "", "start_sample": 0, "chunk_start_sample": 0, "chunk_length": 0,
                                  "raw_data": b""}  # fmt: skip
        values |= {"number": 0} if self.with_numbers else {}
        for number, value in decoded(data):
            if number in READ:
                values[READ[number]] = value.decode() if number == 1 else value
        return SimpleNamespace(**values)

    def unblock_read_batch(self, reads: list[tuple[int, Any]], duration: float = 0.1) -> None:
        self._send(reads, (5, encoded([(1, duration)])))

    def stop_receiving_batch(self, reads: list[tuple[int, Any]]) -> None:
        self._send(reads, (6, b""))

    def _send(self, reads: list[tuple[int, Any]], what: tuple[int, bytes]) -> None:
        group = []
        for channel, read in reads:
            self._actions += 1
            named = (4 if self.with_numbers else 3, read)
            assert type(read) is (int if self.with_numbers else str)
            group.append((2, encoded([(1, f"action {self._actions}"), (2, channel), named, what])))
        self.sent.append(encoded([(2, encoded(group))]))

    def actions(self) -> list[tuple[int, Any, str, float]]:
        """Channel, read, kind and duration of all actions, as a sequencer reads them."""
        found = []
        for request in self.sent[1:]:
            for _, group in decoded(request):
                for _, action in decoded(group):
                    parts = dict(decoded(action))
                    read = parts[4] if 4 in parts else parts[3].decode()
                    duration = dict(decoded(parts[5])).get(1, 0.0) if 5 in parts else 0.0
                    found.append((parts[2], read, "unblock" if 5 in parts else "stop", duration))
        return found
