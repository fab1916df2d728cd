"""Hold the runtimes of CPUs to the cores that this process may use.

Each has variables for it, which PoCL reads when it is first asked for its devices, and Intel's runtime at the first
context of the process; nothing changes what has been read. Sub-devices would not do: neither runtime keeps the work of
one to its share of the cores. Without these variables Intel's runtime takes the cores that the affinity leaves, PoCL
all of the machine, and neither knows of CPU quotas.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from oclgenomics import notices
from oclgenomics.io.cores import VARIABLE, scheduled_cores, usable_cores, wanted_cores
from oclgenomics.io.processes import changed_environment

if TYPE_CHECKING:
    from oclgenomics.runtime.devices import Device


VARIABLES = {
    "intel": ("CL_CONFIG_CPU_TBB_NUM_WORKERS", "DPCPP_CPU_NUM_CUS", "SYCL_CPU_NUM_CUS"),  # old and new names, of which
    "pocl": ("POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT"),  # versions know some
}
LIBRARIES = {"intel": "libintelocl", "pocl": "libpocl"}

_taken: dict[str, int] = {}  # how many cores each family uses from now on, whatever is asked for later
_first = threading.Lock()


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


@contextlib.contextmanager
def held_cores(device: Device) -> Iterator[None]:
    """Hold a device to the cores it may use while the body makes a context; say so where that is not possible.

    On devices that are no CPUs it changes nothing.
    """
    if device.kind != "cpu":
        yield
        return
    with _first, changed_environment() as change:
        if device.family in VARIABLES and device.family not in _taken:
            change(core_variables())
        else:
            _say_if_more(device)
        yield
        if device.family in VARIABLES:
            know_read(device.family)


def _say_if_more(device: Device) -> None:
    """Say where a device uses more cores than it may."""
    if device.family in VARIABLES:
        wanted, taken = _wanted(device.family), _taken[device.family]
        if taken > wanted:
            notices.tell_once(
                f"device {device.index}, {device}, was in use before it could be held to {wanted} of its cores, and "
                f"may use {taken}; set {VARIABLE} before the program starts, or start it by taskset"
            )
    elif wanted_cores() is not None and device.compute_units > usable_cores() and device.family != "oclgrind":
        notices.tell_once(
            f"device {device.index}, {device}, cannot be held to {usable_cores()} of its {device.compute_units} cores; "
            "start the program by taskset"
        )
