"""How many cores may be used, as the user and the system say it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from oclgenomics.errors import UsageError
from oclgenomics.io import cores
from oclgenomics.io.processes import child_environment
from oclgenomics.io.workers import MAX_THREADS, Workers

ONE = "0::/\n"
BOTH = "12:cpu,cpuacct:/slurm/job_7\n9:memory:/slurm\n0::/system.slice\n"
CFS = "/sys/fs/cgroup/cpu/slurm"


@pytest.fixture(autouse=True)
def nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine of 64 cores, all of which may be used."""
    for name in (cores.VARIABLE, cores.TASK):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cores, "scheduled_cores", lambda: 64)
    monkeypatch.setattr(cores, "_text", lambda path: "")
    cores._quota.cache_clear()
    yield
    cores._quota.cache_clear()


def files(monkeypatch: pytest.MonkeyPatch, texts: dict[str, str]) -> None:
    monkeypatch.setattr(cores, "_text", lambda path: texts.get(path, ""))


def test_all_cores_are_taken_where_nothing_is_said() -> None:
    assert (cores.usable_cores(), cores.wanted_cores(), cores.allowed_cores()) == (64, None, 64)


def test_the_lowest_limit_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cores.TASK, "8")
    assert cores.usable_cores() == 8
    monkeypatch.setenv(cores.VARIABLE, "16")
    assert cores.usable_cores() == 8
    monkeypatch.setenv(cores.VARIABLE, " 3 ")
    assert cores.usable_cores() == 3
    monkeypatch.setattr(cores, "scheduled_cores", lambda: 2)
    assert cores.usable_cores() == 2


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "²"])
def test_what_is_no_number_of_cores(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cores.TASK, text)  # which is not the user's doing
    assert cores.usable_cores() == 64
    monkeypatch.setenv(cores.VARIABLE, text)
    with pytest.raises(UsageError, match=f"OCLGENOMICS_THREADS={text}: give a whole number, 1 or more"):
        cores.usable_cores()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"/proc/self/cgroup": ONE, "/sys/fs/cgroup/cpu.max": "250000 100000\n"}, 3),  # rounded up
        ({"/proc/self/cgroup": ONE, "/sys/fs/cgroup/cpu.max": "5000 100000\n"}, 1),
        ({"/proc/self/cgroup": ONE, "/sys/fs/cgroup/cpu.max": "max 100000\n"}, 64),
        ({"/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/cpu.max": "200000 100000\n"}, 2),  # of the one above
        (
            {
                "/proc/self/cgroup": "0::/a/b\n",
                "/sys/fs/cgroup/a/b/cpu.max": "800000 100000\n",
                "/sys/fs/cgroup/a/cpu.max": "max 100000\n",
                "/sys/fs/cgroup/cpu.max": "400000 100000\n",
            },
            4,
        ),
        (
            {
                "/proc/self/cgroup": BOTH,
                f"{CFS}/job_7/cpu.cfs_quota_us": "-1\n",
                f"{CFS}/job_7/cpu.cfs_period_us": "100000\n",
                f"{CFS}/cpu.cfs_quota_us": "600000\n",
                f"{CFS}/cpu.cfs_period_us": "100000\n",
            },
            6,
        ),
        ({"/proc/self/cgroup": BOTH, "/sys/fs/cgroup/unified/system.slice/cpu.max": "300000 100000\n"}, 3),
        ({"/proc/self/cgroup": "damaged\n::\n1:cpu\n", "/sys/fs/cgroup/cpu.max": "damaged"}, 64),
        ({"/proc/self/cgroup": ONE, "/sys/fs/cgroup/cpu.max": "100000 0\n"}, 64),
    ],
)
def test_quotas_of_cgroups(texts: dict[str, str], expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    files(monkeypatch, texts)
    assert cores.usable_cores() == expected


def test_a_limit_holds_for_children_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    with cores.limited_to(3):
        assert cores.usable_cores() == 3
        assert child_environment()[cores.VARIABLE] == "3"
        with cores.limited_to(None):
            assert cores.usable_cores() == 3
        with Workers() as workers:
            assert workers.threads == min(3, MAX_THREADS)
    assert cores.VARIABLE not in os.environ
    monkeypatch.setenv(cores.VARIABLE, "9")
    with cores.limited_to(12):  # what the command line says goes before the environment
        assert cores.usable_cores() == 12
    assert os.environ[cores.VARIABLE] == "9"
    with pytest.raises(UsageError, match="--threads 0: give 1 or more"), cores.limited_to(0):
        pass


GIB = 1 << 30


def test_memory_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cores.available_memory() is None
    texts = {"/proc/meminfo": f"MemTotal: {16 * GIB // 1024} kB\nMemAvailable:   {8 * GIB // 1024} kB\n"}
    files(monkeypatch, texts)
    assert cores.available_memory() == 8 * GIB


@pytest.mark.parametrize(
    ("groups", "folder", "limit", "used", "files_of_it"),
    [
        ("0::/job/step\n", "/sys/fs/cgroup/job/step", "max", "current", "inactive_file"),
        ("0::/job/step\n", "/sys/fs/cgroup/job", "max", "current", "inactive_file"),
        ("0::/job\n", "/sys/fs/cgroup/unified", "max", "current", "inactive_file"),
        ("0::/\n", "/sys/fs/cgroup", "max", "current", "inactive_file"),
        (BOTH, "/sys/fs/cgroup/memory/slurm", "limit_in_bytes", "usage_in_bytes", "total_inactive_file"),
    ],
)
def test_memory_that_cgroups_leave(
    groups: str, folder: str, limit: str, used: str, files_of_it: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {
        "/proc/meminfo": f"MemAvailable: {8 * GIB // 1024} kB\n", "/proc/self/cgroup": groups,
        f"{folder}/memory.{limit}": f"{5 * GIB}\n", f"{folder}/memory.{used}": f"{3 * GIB}\n",
    }  # fmt: skip
    files(monkeypatch, texts)
    assert cores.available_memory() == 2 * GIB
    texts[f"{folder}/memory.stat"] = f"anon 7\n{files_of_it} {GIB}\n"  # which the system drops when it needs the room
    assert cores.available_memory() == 3 * GIB
    texts[f"{folder}/memory.{used}"] = f"{7 * GIB}\n"  # a limit that was lowered
    assert cores.available_memory() == 0
    texts[f"{folder}/memory.{limit}"] = "max\n"
    assert cores.available_memory() == 8 * GIB
