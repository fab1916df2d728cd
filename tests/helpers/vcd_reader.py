"""A strict reader of value change dumps: what IEEE 1364 does not allow, or leaves undefined, is an error."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

TIMESCALE = re.compile(r"(1|10|100) (s|ms|us|ns|ps|fs)")
IDENTIFIER = re.compile(r"[!-~]+")


@dataclass
class Wire:
    name: str
    width: int
    times: list[int] = field(default_factory=list)
    values: list[int] = field(default_factory=list)

    def at(self, time: int) -> int:
        """Return the value from `time` on."""
        return [value for when, value in zip(self.times, self.values, strict=True) if when <= time][-1]


@dataclass
class Dump:
    timescale: str
    comments: list[str]
    wires: dict[str, Wire]
    end: int


def read_vcd(text: str, *, verilator: bool = False) -> Dump:
    """Read a dump; one of Verilator's may have several names for a wire, and zeros before a number."""
    head, _, body = text.partition("$enddefinitions $end\n")
    assert body, "no end of definitions"
    comments, scopes, wires, by_code, timescale = [], [], {}, {}, ""
    for line in head.splitlines():
        keyword, *words, end = line.split(" ")
        assert end == "$end", line
        assert verilator or not any(word.startswith("$") for word in words), line  # an identifier may
        if keyword == "$comment":
            comments.append(" ".join(words))
        elif keyword == "$timescale":
            timescale = " ".join(words)
            assert TIMESCALE.fullmatch(timescale), line
        elif keyword == "$scope":
            assert words[0] == "module"
            scopes.append(words[1])
        elif keyword == "$upscope":
            scopes.pop()
        else:
            assert keyword == "$var", line
            kind, width, code, name, *bits = words
            assert kind == "wire"
            assert IDENTIFIER.fullmatch(code), line
            assert verilator or code not in by_code, line
            assert bits == ([] if width == "1" else [f"[{int(width) - 1}:0]"]), line
            wire = by_code.setdefault(code, Wire("", int(width)))
            assert wire.width == int(width), line
            wires[".".join([*scopes, name])] = wire
            wire.name = wire.name or ".".join([*scopes, name])
    assert not scopes
    assert timescale
    end_time = _changes(body, by_code, "[01]+" if verilator else "0|1[01]*")
    return Dump(timescale, comments, wires, end_time)


def _changes(body: str, by_code: dict[str, Wire], number: str) -> int:
    time, dumping = -1, False
    assert body.startswith("#0\n$dumpvars\n")
    assert body.endswith("\n")
    for line in body.splitlines():
        if line == "$dumpvars":
            dumping = True
        elif line == "$end":
            assert dumping
            dumping = False
            assert all(wire.values for wire in by_code.values()), "not all wires are dumped"
        elif line.startswith("#"):
            assert not dumping
            assert int(line[1:]) > time
            time = int(line[1:])
        else:
            code, bits = (line.split(" ")[1], line.split(" ")[0][1:]) if line[0] == "b" else (line[1:], line[0])
            wire = by_code[code]
            assert (line[0] == "b") == (wire.width > 1), line
            assert re.fullmatch(number, bits), line
            assert len(bits) <= wire.width, line
            assert not wire.values or wire.values[-1] != int(bits, 2), f"no change: {line}"
            assert not wire.times or wire.times[-1] < time, f"changes twice: {line}"
            wire.times.append(time)
            wire.values.append(int(bits, 2))
    return time
