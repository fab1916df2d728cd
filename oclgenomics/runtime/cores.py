"""Hold the runtimes of CPUs to the cores that this process may use.

Each has variables for it, which PoCL reads when it is first asked for its devices, and Intel's runtime at the first
context of the process; nothing changes what has been read. Sub-devices would not do: neither runtime keeps the work of
one to its share of the cores. Without these variables Intel's runtime takes the cores that the affinity leaves, PoCL
all of the machine, and neither knows of CPU quotas.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from oclgenomics.io.cores import scheduled_cores, usable_cores

VARIABLES = {
    "intel": ("CL_CONFIG_CPU_TBB_NUM_WORKERS", "DPCPP_CPU_NUM_CUS", "SYCL_CPU_NUM_CUS"),  # old and new names, of which
    "pocl": ("POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT"),  # versions know some
}
LIBRARIES = {"intel": "libintelocl", "pocl": "libpocl"}

_taken: dict[str, int] = {}  # how many cores each family uses from now on, whatever is asked for later


def core_variables() -> dict[str, str]:
    """Return the variables that hold runtimes to the cores they may use; none where those are all of the machine."""
    held = {family: cores for family in VARIABLES if (cores := _wanted(family)) < (os.cpu_count() or 1)}
    return {name: str(cores) for family, cores in held.items() for name in VARIABLES[family]}


def _wanted(family: str) -> int:
    """The cores that this process may use, or fewer where a variable of the runtime says so."""
    asked = [os.environ.get(name, "").strip() for name in VARIABLES[family]]
    return min([usable_cores(), *(int(text) for text in asked if text.isdecimal() and int(text) > 0)])


def know_foreign(libraries: Iterable[str]) -> None:
    """Note the runtimes that other code has loaded, which may be past reading variables, by their libraries."""
    names = [os.path.basename(library) for library in libraries]
    for family, stem in LIBRARIES.items():
        if any(name.startswith(stem) for name in names):
            _taken.setdefault(family, scheduled_cores())


def know_read(family: str) -> None:
    """Note that a family of runtimes has read its variables, now."""
    _taken.setdefault(family, _wanted(family))


def held_units(units: int, family: str) -> int:
    """Return how many of a CPU device's compute units are at work at a time: Intel's runtime reports all it has."""
    if family not in VARIABLES:
        return units
    return min(units, _taken[family] if family in _taken else _wanted(family))


def has_read(family: str) -> bool:
    """Say whether a family of runtimes has read its variables already."""
    return family in _taken


def excess_cores(family: str) -> tuple[int, int] | None:
    """Return how many cores a family may use and how many it does, where these are more: the limit came too late."""
    wanted, taken = _wanted(family), _taken.get(family, 0)
    return (wanted, taken) if taken > wanted else None
