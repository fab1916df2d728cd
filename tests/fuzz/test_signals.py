"""Damaged files of signals: they give reads, or one error of one line, whatever the libraries do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext

import numpy as np
import pytest
from helpers.fuzzing import SECONDS, inputs, limited, mutated, mutated_zip
from helpers.signal_files import WRITERS, file_bytes, need, npy_bytes, raw_signals

from oclgenomics.errors import InputError
from oclgenomics.signals import Signals, TrimOptions, read, read_signals
from oclgenomics.signals.readers import apart

pytestmark = pytest.mark.fuzz

# With "members", those of a zip file are changed and get right sums again.
KINDS = [*WRITERS, "npy", "currents.npy", "npz members", "arrays.npz members"]
# Files in which every part has a sum: what is read of them is what was written, or nothing.
CHECKED = ("npz", "arrays.npz", "blow5")


@pytest.fixture(scope="module")
def process() -> Iterator[apart.ReaderProcess]:
    """One process for all files, until it is lost."""
    with apart.ReaderProcess() as process:
        yield process


def sample(kind: str) -> bytes:
    kind = kind.removesuffix(" members")
    if kind == "npy":
        return npy_bytes(np.arange(60, dtype=np.int16).reshape(3, 20))
    if kind == "currents.npy":
        return npy_bytes(np.linspace(60, 120, 40).astype(np.float32))
    return file_bytes(kind, raw_signals((50, 300, 1, 70)))


def read_all(path, number: int) -> Signals:
    """The reads, in blocks and cut in ways that change with the number."""
    trim = (None, TrimOptions(extra=5), TrimOptions(stall=False, extra=3))[number // 2 % 3]
    most = (None, 7)[number // 6 % 2]
    return Signals.joined(list(read_signals(path, trim=trim, max_samples=most, block_samples=(1, 1 << 20)[number % 2])))


@pytest.mark.parametrize("kind", KINDS)
def test_signals(tmp_path, monkeypatch, capfd, process, kind):
    need(kind)
    monkeypatch.setattr(read, "ReaderProcess", lambda: nullcontext(process))
    monkeypatch.setattr(apart, "MAX_SILENCE", 10.0)
    path, whole = tmp_path / "x", sample(kind)
    path.write_bytes(whole)
    known = [read_all(path, number) for number in range(12)]
    samples, refused = {"whole": whole, "npz": sample("npz"), "fast5": b"\x89HDF\r\n\x1a\n"}, 0
    mutate = mutated_zip if kind.endswith("members") else mutated
    for number, data in inputs(samples, "whole", SECONDS / len(KINDS), mutate):
        path.write_bytes(data)
        with limited(data, f"signals of {kind}, number {number}"):
            found = read_or_refused(path, number)
            refused += found is None
            assert found is None or kind not in CHECKED or is_part(found, known[number % 12])
    assert refused
    assert capfd.readouterr() == ("", "")


def read_or_refused(path, number: int) -> Signals | None:
    """The reads; None if the file is refused, in one line."""
    try:
        return read_all(path, number)
    except InputError as error:
        told = str(error)
    assert "\n" not in told
    return None


def is_part(found: Signals, known: Signals) -> bool:
    """Whether all reads are among the known ones: members of a zip file may be gone, or have other names."""
    samples = {known.read(number).tobytes() for number in range(len(known))}
    return all(found.read(number).tobytes() in samples for number in range(len(found)))
