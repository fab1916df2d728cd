"""Signals to a whole group of processes, at any moment: one line, the right status, and nothing is left."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from helpers.fuzzing import SECONDS, SEED

from oclgenomics.runtime import Device

pytestmark = [
    pytest.mark.fuzz,
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="processes cannot be waited for here"),
]

WORDS = [
    "omega", "threshold", "--length", "10M", "--samples", "400", "--seed", "1", "--replicates", "500",
    "--theta", "4000", "--rho", "4000", "--jobs", "3", "--grid", "5", "--minwin", "1k", "--maxwin", "10k", "-q",
]  # fmt: skip
ENDS = {
    signal.SIGINT: (130, "interrupted"), signal.SIGTERM: (143, "terminated"), signal.SIGHUP: (129, "hung up"),
    signal.SIGKILL: (-9, ""),
}  # fmt: skip
LONGEST_WAIT = 0.5  # seconds; the workers are at work before
CASES = max(4, int(SECONDS / 2))  # each kind of signal
NAMED = Path("/dev/shm")


def named() -> set[str]:
    """Semaphores and memory with a name, which nobody takes back when a process is killed."""
    return {path.name for path in NAMED.iterdir()} if NAMED.is_dir() else set()


def catches(pid: int, number: signal.Signals) -> bool:
    """Whether a process has said what is to be done at a signal."""
    words = Path(f"/proc/{pid}/status").read_text().split()
    return bool(int(words[words.index("SigCgt:") + 1], 16) >> number - 1 & 1)


def members(group: int) -> list[int]:
    """Processes of this session: those of the group, and those that they have started in groups of their own."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                words = (path / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(words[3]) == group and words[0] != "Z":
                found.append(int(path.name))
    return found


def all_ended(ends: list[int]) -> bool:
    try:
        return all(select.select([end], [], [], 60)[0] for end in ends)
    finally:
        for end in ends:
            os.close(end)


@pytest.mark.parametrize("case", range(CASES))
def test_a_group_ends_whole(case: int, device: Device) -> None:
    rng = np.random.default_rng([SEED, case, *b"groups"])
    number = list(ENDS)[case % len(ENDS)]
    many, delay = int(rng.integers(1, 5)), float(rng.uniform(0.0, LONGEST_WAIT))
    before = named()
    command = [sys.executable, "-m", "oclgenomics", *WORDS, "-d", str(device.index)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        while not catches(process.pid, signal.SIGTERM):  # the start of Python itself is not ours
            assert process.poll() is None
            time.sleep(0.005)
        while len(members(process.pid)) < many:
            assert process.poll() is None
            time.sleep(0.005)
        with pytest.raises(subprocess.TimeoutExpired):  # it is at work all the time
            process.wait(delay)
        started = members(process.pid)
        ends = [os.pidfd_open(pid) for pid in started if pid != process.pid]
        os.killpg(process.pid, number)
        _, told = process.communicate(timeout=60)
        what = f"{number.name} after {delay:.3f} s, {len(started)} processes"
        assert all_ended(ends), f"{what}: a process is left"
        status, word = ENDS[number]
        assert (process.returncode, told) == (status, f"oclgenomics: {word}; saved: nothing\n" * bool(word)), what
        assert not members(process.pid), what
        left = {name for name in named() - before if "mp-" in name or name.startswith("sem.")}
        until = time.monotonic() + 60
        while left & named():  # those of other tests, which run at the same time, vanish with them
            assert time.monotonic() < until, f"{what}: {left & named()} are left"
            time.sleep(0.05)
    finally:
        process.kill()
        process.communicate()
