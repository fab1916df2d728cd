"""How many cores this process may use: what its user asks for, and what the system allows.

The system's word is the affinity (`taskset`, cpusets of SLURM and of containers), the CPU quota of the cgroups that the
process is in (containers, `systemd-run -p CPUQuota`), and the CPUs of a task of SLURM. The user's is --threads, or
`OCLGENOMICS_THREADS`, which child processes inherit.
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
    shares = [share for line in _text("/proc/self/cgroup").splitlines() for share in _shares(line)]
    return max(1, -int(-min(shares) // 1)) if shares else None


def _shares(line: str) -> Iterator[float]:
    """Yield the quotas, in cores, of a cgroup and of those above it, as far as they can be seen from here."""
    _, _, rest = line.partition(":")
    controllers, _, path = rest.partition(":")
    if not controllers:  # the second version of cgroups
        roots, names = [CGROUPS, f"{CGROUPS}/unified"], ["cpu.max"]
    elif "cpu" in controllers.split(","):
        roots, names = [f"{CGROUPS}/cpu"], ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
    else:
        return
    place = PurePosixPath(path)
    for root in roots:
        for level in (place, *place.parents):
            words = " ".join(_text(f"{root}{level}/{name}".replace("//", "/")) for name in names).split()
            if len(words) == 2 and all(map(_is_number, words)):  # "max" and -1 are none
                yield int(words[0]) / int(words[1])


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except (OSError, UnicodeDecodeError):
        return ""
