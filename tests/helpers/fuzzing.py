"""Seeded mutations of small inputs, so many of them or a budget of seconds, and failing inputs kept for a look.

`OCLGENOMICS_FUZZ_SECONDS` is the time of a group, `OCLGENOMICS_FUZZ_SEED` the seed (1). Without a time each run has the
same inputs, so many that a group takes about two seconds, and at least seven of each kind.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import os
import re
import signal
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from helpers.bgzf import END, bgzip, blocks

TIMED = "OCLGENOMICS_FUZZ_SECONDS" in os.environ
SECONDS = float(os.environ.get("OCLGENOMICS_FUZZ_SECONDS", "2"))
LEAST, LEAST_TIMED = 7, 20  # inputs
SEED = int(os.environ.get("OCLGENOMICS_FUZZ_SEED", "1"))
_SOME = (0, 1, 1, 1, 1, 1, 2, 4)  # changes of one input
LONGEST_SECONDS = 60  # that one input may take
KEPT = Path(tempfile.gettempdir()) / "oclgenomics-fuzz"

NUMBERS = [
    b"0", b"-1", b"1.5", b"1e5", b"1e400", b"1e30", b"inf", b"-inf", b"nan", b"Infinity", b"NaN", b"null", b"true", b"",
    b"9" * 19, b"9" * 5000, b"0x" + b"f" * 5000, b"1_0", "\u0661".encode(), b"2147483648", b"4294967296",
    b"9223372036854775807", b"18446744073709551616", b"1" + b"0" * 15, b"0." + b"3" * 300, b"+1", b"[1]",
    b'"1"',
]  # fmt: skip
TOKENS = [
    *NUMBERS, b"\0", b"\r", b"\r\n", b"\n", b"\n\n", b"\t", b" ", b"\xef\xbb\xbf", b"\xff", b"\xc3(", b"\x85", b"\x1c",
    "\u2028".encode(), b"\x1b[31m", b"//", b">", b"@", b"+", b"#", b"##", b"|", b"/", b".", b",", b":", b"[" * 5000,
    b'{"a":' * 3000, b"A" * 70_000, b"segsites: ", b"positions: ", b"SITE:\t", b"COMMAND:\t", b"#CHROM\t", b"[[a]]",
]  # fmt: skip


class LateError(BaseException):
    """It took too long; nothing takes this for an error of its own."""


def mutated(data: bytes, others: list[bytes], rng: np.random.Generator) -> bytes:
    """The data with one change or some, now and then packed, and then perhaps changed again."""
    out = bytearray(data)
    for _ in range(_SOME[int(rng.integers(len(_SOME)))]):
        _CHANGES[int(rng.integers(len(_CHANGES)))](out, others, rng)
    packed = _packed(bytes(out), rng)
    if packed != out and rng.random() < 0.5:
        out = bytearray(packed)
        for change in (_flip, _cut, _remove, _double)[: int(rng.integers(1, 5))]:
            change(out, others, rng)
        return bytes(out)
    return packed


def mutated_zip(data: bytes, others: list[bytes], rng: np.random.Generator) -> bytes:
    """A zip file in which a member is changed, or its own bytes."""
    if rng.random() < 0.3:
        out = bytearray(data)
        _CHANGES[int(rng.integers(4))](out, others, rng)
        return bytes(out)
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    name = sorted(members)[int(rng.integers(len(members)))]
    content = bytearray(members[name])
    _CHANGES[int(rng.integers(len(_CHANGES)))](content, [*members.values()], rng)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        for other in members:
            if other != name or rng.random() < 0.9:
                packed.writestr(other, bytes(content) if other == name else members[other])
    return made.getvalue()


def _place(out: bytearray, rng: np.random.Generator) -> int:
    return int(rng.integers(0, len(out) + 1))


def _flip(out: bytearray, _others: list[bytes], rng: np.random.Generator) -> None:
    if out:
        out[_place(out, rng) % len(out)] ^= 1 << int(rng.integers(8))


def _byte(out: bytearray, _others: list[bytes], rng: np.random.Generator) -> None:
    if out:
        out[_place(out, rng) % len(out)] = int(rng.integers(256))


def _cut(out: bytearray, _others: list[bytes], rng: np.random.Generator) -> None:
    if rng.random() < 0.5:
        del out[_place(out, rng) :]


def _remove(out: bytearray, _others: list[bytes], rng: np.random.Generator) -> None:
    at = _place(out, rng)
    del out[at : at + int(rng.integers(1, 30))]


def _double(out: bytearray, _others: list[bytes], rng: np.random.Generator) -> None:
    at = _place(out, rng)
    out[at:at] = out[at : at + int(rng.integers(1, 200))]


def _insert(out: bytearray, _others: list[bytes], rng: np.random.Generator) -> None:
    at = _place(out, rng)
    out[at:at] = TOKENS[int(rng.integers(len(TOKENS)))]


def _renumber(out: bytearray, _others: list[bytes], rng: np.random.Generator) -> None:
    """Another number in place of one that is there."""
    found = list(re.finditer(rb"[0-9]+(\.[0-9]+)?", out[:20_000]))
    if found:
        chosen = found[int(rng.integers(len(found)))]
        out[chosen.start() : chosen.end()] = NUMBERS[int(rng.integers(len(NUMBERS)))]


def _line(out: bytearray, _others: list[bytes], rng: np.random.Generator) -> None:
    """A line left out, doubled or moved."""
    lines = out.split(b"\n")
    at, kind = int(rng.integers(len(lines))), int(rng.integers(3))
    line = lines[at] if kind == 1 else lines.pop(at)
    if kind:
        lines.insert(int(rng.integers(len(lines) + 1)), line)
    out[:] = b"\n".join(lines)


def _splice(out: bytearray, others: list[bytes], rng: np.random.Generator) -> None:
    """A part of another input."""
    other = others[int(rng.integers(len(others)))]
    begin, at = int(rng.integers(len(other) + 1)), _place(out, rng)
    out[at : at + int(rng.integers(0, 100))] = other[begin : begin + int(rng.integers(1, 400))]


def _ends(out: bytearray, _others: list[bytes], rng: np.random.Generator) -> None:
    out[:] = out.replace(b"\n", b"\r\n" if rng.random() < 0.5 else b"\r")


def _begin(out: bytearray, _others: list[bytes], rng: np.random.Generator) -> None:
    out[:0] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"\n\n", b" "][int(rng.integers(5))]


_CHANGES: list[Callable[[bytearray, list[bytes], np.random.Generator], None]] = [
    _flip, _byte, _cut, _remove, _double, _insert, _insert, _renumber, _renumber, _line, _splice, _ends, _begin,
]  # fmt: skip


def _packed(data: bytes, rng: np.random.Generator) -> bytes:
    """The data as they are, or by gzip or bgzip, whole or not."""
    kind = int(rng.integers(12))
    if kind == 0:
        return gzip.compress(data, 1)
    if kind == 1:
        return gzip.compress(data[:50], 1) + gzip.compress(data[50:], 1) + bytes(int(rng.integers(3)))
    if kind == 2:
        return bgzip(data, 100)
    if kind == 3:
        parts = blocks(data, 100)
        return b"".join(parts[: int(rng.integers(len(parts) + 1))]) + END * int(rng.integers(2))
    return data


def draws(name: str, seconds: float, each: float = 0.01) -> Iterator[tuple[int, np.random.Generator]]:
    """Numbered generators for so many seconds, the same ones for the same seed; see above.

    Where no time is given, as many as would take so long if an input took `each` seconds.
    """
    began, number, least = time.monotonic(), 0, LEAST_TIMED if TIMED else max(LEAST, round(seconds / each))
    while number < least or (TIMED and time.monotonic() - began < seconds):
        yield number, np.random.default_rng([SEED, number, *name.encode()])
        number += 1


def inputs(
    samples: dict[str, bytes], name: str, seconds: float, mutate: Callable[..., bytes] = mutated, each: float = 0.01
) -> Iterator[tuple[int, bytes]]:
    """Changed copies of a sample, each with its number; see `draws`."""
    others = [data for data in samples.values() if data]
    for number, rng in draws(name, seconds, each):
        yield number, mutate(samples[name], others, rng)


@contextlib.contextmanager
def limited(data: bytes, what: str) -> Iterator[None]:
    """Keep the input, and say where, if anything is raised or takes too long."""

    def late(_number: int, _frame: object) -> None:
        raise LateError(f"took more than {LONGEST_SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LONGEST_SECONDS)
    try:
        yield
    except BaseException as error:
        KEPT.mkdir(exist_ok=True)
        kept = KEPT / f"{re.sub('[^a-z0-9]+', '-', what.lower())[:150]}-{hashlib.sha256(data).hexdigest()[:12]}"
        kept.write_bytes(data)
        raise AssertionError(f"{what}: {type(error).__name__}: {str(error)[:500]}; the input is {kept}") from error
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def command(words: list[str], codes: tuple[int, ...] = (0, 2, 3)) -> int:
    """Run a command; it succeeds, or ends with one line and the exit code that is returned, one of `codes`.

    Raises
    ------
    AssertionError
        It does neither.
    """
    from oclgenomics.cli.main import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err
    try:
        code = main(words)
    finally:
        sys.stdout, sys.stderr = before
    err.seek(0)
    told = err.read()
    lines = told.split("\n")[:-1]
    errors = [line for line in lines if line.startswith("oclgenomics: error: ")]
    assert code in codes, f"exit code {code}: {told[-500:]}"
    assert all(line.startswith("oclgenomics: ") for line in lines), told
    assert errors == ([] if code == 0 else lines[-1:]), told
    return code
