"""How many cores this process may use: what its user asks for, and what the system allows; and the memory that is left.

The system's word is the affinity (`taskset`, cpusets of SLURM and of containers), the CPU quota of the cgroups that the
process is in (containers, `systemd-run -p CPUQuota`), and the CPUs of a task of SLURM. The user's is --threads, or
`OCLGENOMICS_THREADS`, which child processes inherit.
Of memory it is what the machine has left, and the limits of the same cgroups.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from oclgenomics.errors import UsageError
from oclgenomics.io.processes import changed_environment

VARIABLE = "OCLGENOMICS_THREADS"
TASK = "SLURM_CPUS_PER_TASK"  # which SLURM sets, but does not enforce everywhere
CGROUPS = "/sys/fs/cgroup"


def usable_cores() -> int:
    """Return how many cores this process may use at a time; at least one.

    Raises
    ------
    UsageError
        `OCLGENOMICS_THREADS` is no number of cores.
    """
    wanted = wanted_cores()
    return allowed_cores() if wanted is None else min(wanted, allowed_cores())


def wanted_cores() -> int | None:
    """Return how many cores the user asks for, or None.

    Raises
    ------
    UsageError
        `OCLGENOMICS_THREADS` is no number of cores.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return None
    if not _is_number(text):
        raise UsageError(f"{VARIABLE}={text}: give a whole number, 1 or more")
    return int(text)


def allowed_cores() -> int:
    """Return how many cores the system allows this process; a quota of a part of a core counts as one more."""
    task = os.environ.get(TASK, "").strip()
    limits = [scheduled_cores(), _quota(), int(task) if _is_number(task) else None]
    return min(limit for limit in limits if limit is not None)


def scheduled_cores() -> int:
    """Return on how many cores the system runs this process, which may be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextlib.contextmanager
def limited_to(cores: int | None) -> Iterator[None]:
    """Limit the cores of this process and of the children that the body starts; None leaves them as they are.

    Raises
    ------
    UsageError
        Fewer than one.
    """
    if cores is None:
        yield
        return
    if cores < 1:
        raise UsageError(f"--threads {cores}: give 1 or more")
    with changed_environment() as change:
        change({VARIABLE: str(cores)})
        yield


def _is_number(text: str) -> bool:
    return text.isdecimal() and text.isascii() and int(text) > 0


@functools.cache
def _quota() -> int | None:
    """Return the cores that the lowest CPU quota of this process's cgroups is worth, rounded up; None without one."""
    shares = []
    for group, second in _groups("cpu"):
        names = ["cpu.max"] if second else ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
        words = " ".join(_text(f"{group}/{name}") for name in names).split()
        if len(words) == 2 and all(map(_is_number, words)):  # "max" and -1 are none
            shares.append(int(words[0]) / int(words[1]))
    return max(1, -int(-min(shares) // 1)) if shares else None


def available_memory() -> int | None:
    """Return how many bytes of memory this process may still take; None where the system does not say."""
    machine = _said("/proc/meminfo", "MemAvailable:")
    left = [] if machine is None else [1024 * machine]
    for group, second in _groups("memory"):
        names = ("max", "current") if second else ("limit_in_bytes", "usage_in_bytes")
        words = [_text(f"{group}/memory.{name}").strip() for name in names]
        if all(map(_is_number, words)):  # "max" is none
            files = _said(f"{group}/memory.stat", "inactive_file" if second else "total_inactive_file")
            left.append(max(0, int(words[0]) - int(words[1]) + (files or 0)))  # which make room
    return min(left, default=None)


def _groups(controller: str) -> Iterator[tuple[str, bool]]:
    """Yield the folders of this process's cgroups and of those above them, as far as they can be seen from here.

    With each, whether it is of the second version of cgroups.
    """
    for line in _text("/proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        place = PurePosixPath(path)
        for root in [f"{CGROUPS}/{controller}"] if controllers else [CGROUPS, f"{CGROUPS}/unified"]:
            for level in (place, *place.parents):
                yield f"{root}{level}".replace("//", "/").rstrip("/"), not controllers


def _said(path: str, name: str) -> int | None:
    """Return the number after a name that begins a line of a file."""
    for words in map(str.split, _text(path).splitlines()):
        if words[:1] == [name] and len(words) > 1 and _is_number(words[1]):
            return int(words[1])
    return None


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except (OSError, UnicodeDecodeError):
        return ""
