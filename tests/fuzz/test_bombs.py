"""Small files that unpack to much: readers of packed text hold little of it, and say one line or read it right."""

from __future__ import annotations

import os
import signal
import time
from multiprocessing import forkserver, get_context
from pathlib import Path

import pytest
from helpers.bombs import (
    CASES,
    IN_SHORT_LINES,
    MIB,
    PACKINGS,
    UNPACKED,
    by_lines,
    read_bounded,
    run_command,
    write_bomb,
)
from helpers.fuzz_samples import DATA, SAMPLES

from oclgenomics.io.workers import Workers

pytestmark = pytest.mark.fuzz

# Of what a file unpacks to, by two threads that read; of short lines eight bytes a line are more.
HELD, HELD_OF_SHORT_LINES = 24 * MIB, 10 * MIB
SOON = 3.0  # seconds for an interrupt, on a machine with much to do


@pytest.fixture(scope="module")
def processes():
    """Starts processes quickly, from one that has loaded all modules and no OpenCL."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["helpers.bombs"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))  # where it finds what it loads
        forkserver.ensure_running()
    return context


def started(processes, target, *args):
    mine, its = processes.Pipe(duplex=False)
    process = processes.Process(target=target, args=(*args, its))
    process.start()
    its.close()
    return process, mine


def has_read(process: int, path: Path) -> bool:
    """Whether a process has got past the start of an open file."""
    proc = Path(f"/proc/{process}")
    numbers = [file.name for file in (proc / "fd").iterdir() if file.exists() and path.samefile(file)]
    return any((proc / "fdinfo" / number).read_text().split()[1] != "0" for number in numbers)


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: f"{number}-{CASES[number][0]}")
def test_little_is_held(tmp_path: Path, processes, number: int) -> None:
    reader, head, unit = CASES[number]
    short = by_lines(reader, head, unit)
    unpacked, held = (IN_SHORT_LINES, HELD_OF_SHORT_LINES) if short else (UNPACKED, HELD)
    path = write_bomb(tmp_path / "x", list(PACKINGS)[number % len(PACKINGS)], head, unit, unpacked)
    assert path.stat().st_size < MIB
    process, answer = started(processes, read_bounded, number, path)
    assert answer.poll(60), "still reading"
    told, grown = answer.recv()
    process.join()
    assert "\n" not in told
    assert len(told) < 300 + len(str(path))
    assert grown < held * max(1, Workers().threads / 2), f"{grown:,} bytes: {told}"


@pytest.mark.parametrize(
    ("words", "head", "number"),
    [
        ("signatures build X -o OUT", b"", signal.SIGINT),
        ("sdtw index X --model r9.4.1 -o OUT", b">a\n", signal.SIGTERM),
        (f"classify merge X X --taxonomy {DATA / 'classify' / 'edge'} -o OUT", SAMPLES["result"], signal.SIGINT),
    ],
)
def test_interrupts_are_heard(tmp_path: Path, processes, words: str, head: bytes, number: int) -> None:
    path = write_bomb(tmp_path / "x", "gzip", head, b"\n", 1 << 34)
    line = words.replace("X", str(path)).replace("OUT", str(tmp_path / "out")).split()
    process, answer = started(processes, run_command, line)
    assert answer.recv() == "begins"
    while not has_read(process.pid, path):
        process.join(0.02)
        assert process.is_alive()
    began = time.monotonic()
    os.kill(process.pid, number)
    process.join(60)
    assert time.monotonic() - began < SOON
    assert answer.poll(), f"ended with {process.exitcode}"
    assert answer.recv() == 128 + number
    assert not (tmp_path / "out").exists()
