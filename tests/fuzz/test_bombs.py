"""Small files that unpack to much: readers of packed text hold little of it, and say one line or read it right."""

from __future__ import annotations

import os
import signal
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

from oclgenomics.io import cores

pytestmark = pytest.mark.fuzz

# Of what a file unpacks to, by two threads that read; of short lines eight bytes a line are more.
HELD, HELD_OF_SHORT_LINES = 24 * MIB, 10 * MIB
WAIT = 300  # seconds, for what takes less than one
SOON = 3.0  # seconds of the process's own for an interrupt, however busy the machine is


@pytest.fixture(scope="module")
def processes():
    """Starts processes quickly, from one that has loaded all modules and no OpenCL."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["helpers.bombs"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))  # where it finds what it loads
        patch.setenv(cores.VARIABLE, "2")
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
    try:
        numbers = [file.name for file in (proc / "fd").iterdir() if file.exists() and path.samefile(file)]
        return any((proc / "fdinfo" / number).read_text().split()[1] != "0" for number in numbers)
    except (FileNotFoundError, ProcessLookupError):  # it has closed a file, or ended, meanwhile
        return False


def seconds_of(process: int) -> float:
    """CPU time of a process until now."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: f"{number}-{CASES[number][0]}")
def test_little_is_held(tmp_path: Path, processes, number: int) -> None:
    reader, head, unit = CASES[number]
    short = by_lines(reader, head, unit)
    unpacked, held = (IN_SHORT_LINES, HELD_OF_SHORT_LINES) if short else (UNPACKED, HELD)
    path = write_bomb(tmp_path / "x", list(PACKINGS)[number % len(PACKINGS)], head, unit, unpacked)
    assert path.stat().st_size < MIB
    process, answer = started(processes, read_bounded, number, path)
    assert answer.poll(WAIT), "still reading"
    told, grown = answer.recv()
    process.join()
    assert "\n" not in told
    assert len(told) < 300 + len(str(path))
    assert grown < held, f"{grown:,} bytes: {told}"


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
    began = seconds_of(process.pid)
    os.kill(process.pid, number)
    assert answer.poll(WAIT), f"ended with {process.exitcode}"
    status, ended = answer.recv()
    process.join()
    assert status == 128 + number
    assert ended - began < SOON
    assert not (tmp_path / "out").exists()
