"""The OpenCL devices of this machine, as plain descriptions."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oclgenomics import notices
from oclgenomics.io.cores import VARIABLE, usable_cores, wanted_cores
from oclgenomics.io.processes import changed_environment
from oclgenomics.runtime.cores import VARIABLES, core_variables, excess_cores, has_read, held_units, know_read
from oclgenomics.runtime.loader import opencl, platforms, pocl_builtins

if TYPE_CHECKING:
    import pyopencl


@dataclass(frozen=True)
class Device:
    """One OpenCL device.

    Attributes
    ----------
    index : int
        Number over all devices of all platforms, as `oclgenomics devices` shows it.
    platform_index : int
        Number of its platform, by name and version, empty and broken platforms included.
    kind : {'gpu', 'cpu', 'accelerator'}
        Class of device.
    family : {'nvidia', 'amd', 'intel', 'pocl', 'rusticl', 'oclgrind', 'other'}
        Which runtime drives it.
    compute_units, max_work_group, warp : int
        Cores (of a CPU those that may be used), largest work-group, preferred work-group multiple (1 on most CPUs).
    clock : int
        Highest frequency in MHz.
    global_memory, max_allocation, local_memory : int
        Bytes.
    unified_memory : bool
        True where the device works in the host's memory.
    alignment : int
        Bytes to which sub-buffers and shared host memory have to be aligned.
    builtins : str
        Level that the runtime's built-in functions are held to (`runtime.pocl`); empty where it takes its own.
    """

    index: int
    platform_index: int
    platform: str
    platform_version: str
    name: str
    vendor: str
    driver: str
    version: str
    kind: str
    family: str
    compute_units: int
    clock: int
    global_memory: int
    max_allocation: int
    local_memory: int
    max_work_group: int
    warp: int
    unified_memory: bool
    alignment: int
    divide_rounding_option: bool
    builtins: str
    extensions: frozenset[str] = field(repr=False)
    handle: pyopencl.Device = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.name} ({self.platform}, driver {self.driver})"

    @property
    def key(self) -> str:
        """Text that names device and driver, for caches."""
        names = (self.platform, self.platform_version, self.name, self.vendor, self.driver, self.version, self.builtins)
        return "|".join(names)


@dataclass(frozen=True)
class PlatformReport:
    """What one platform answered: its devices, or the trouble it had."""

    index: int
    name: str
    version: str
    devices: tuple[Device, ...]
    trouble: str | None


def list_platforms() -> list[PlatformReport]:
    """Ask every platform for its devices; one that is broken or empty does not hide the others."""
    reports: list[PlatformReport] = []
    count = 0
    for index, platform in enumerate(platforms()):
        report = _ask(index, platform, count)
        count += len(report.devices)
        reports.append(report)
    return reports


def list_devices() -> list[Device]:
    """List all usable devices.

    Returns
    -------
    list of Device
        By platform; empty where there is none.
    """
    return [device for report in list_platforms() for device in report.devices]


def _ask(index: int, platform: pyopencl.Platform, first: int) -> PlatformReport:
    cl = opencl()
    name = version = "?"
    try:
        name, version = platform.name.strip(), platform.version.strip()
        handles = platform.get_devices()
    except cl.Error as error:
        return PlatformReport(index, name, version, (), f"{error}")
    devices: list[Device] = []
    trouble = None if handles else "the platform offers no device"
    for handle in handles:
        try:
            if handle.available and handle.compiler_available:
                devices.append(_describe(handle, first + len(devices), index, name, version))
            else:
                trouble = f"{handle.name.strip()} is not available or has no compiler"
        except cl.Error as error:
            trouble = f"a device does not answer: {error}"
    return PlatformReport(index, name, version, tuple(devices), trouble)


def _describe(handle: pyopencl.Device, index: int, platform_index: int, platform: str, version: str) -> Device:
    cl = opencl()
    kinds = cl.device_type
    kind = "gpu" if handle.type & kinds.GPU else "cpu" if handle.type & kinds.CPU else "accelerator"
    family = _family(platform, version, handle.vendor)
    rounding = bool(handle.single_fp_config & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT)
    return Device(
        index=index,
        platform_index=platform_index,
        platform=platform,
        platform_version=version,
        name=handle.name.strip(),
        vendor=handle.vendor.strip(),
        driver=handle.driver_version.strip(),
        version=handle.version.strip(),
        kind=kind,
        family=family,
        compute_units=held_units(handle.max_compute_units, family) if kind == "cpu" else handle.max_compute_units,
        clock=handle.max_clock_frequency,
        global_memory=handle.global_mem_size,
        max_allocation=handle.max_mem_alloc_size,
        local_memory=handle.local_mem_size,
        max_work_group=min(handle.max_work_group_size, handle.max_work_item_sizes[0]),
        warp=_warp(handle, kind, family),
        unified_memory=bool(handle.host_unified_memory),
        alignment=max(handle.mem_base_addr_align // 8, 1),
        divide_rounding_option=rounding,
        builtins=pocl_builtins(handle.version) if family == "pocl" else "",
        extensions=frozenset(handle.extensions.split()),
        handle=handle,
    )


def _family(platform: str, version: str, vendor: str) -> str:
    text = f"{platform} {version}".lower()
    for family, words in (
        ("oclgrind", ("oclgrind",)),
        ("pocl", ("portable computing language", "pocl")),
        ("rusticl", ("rusticl",)),
        ("nvidia", ("nvidia",)),
        ("amd", ("amd accelerated", "advanced micro devices")),
        ("intel", ("intel",)),
    ):
        if any(word in text for word in words):
            return family
    return "amd" if "advanced micro devices" in vendor.lower() else "other"


WARPS = {"nvidia": ("warp_size_nv", 32), "amd": ("wavefront_width_amd", 64)}  # the vendor's query, the usual width


def _warp(handle: pyopencl.Device, kind: str, family: str) -> int:
    """Work-items in lock-step: what the vendor's query says, else the usual width; no kernel is built to ask."""
    if kind == "cpu":
        return 1
    query, usual = WARPS.get(family, (None, 32))
    if query is None:
        return usual
    try:
        return int(getattr(handle, query))
    except (opencl().Error, AttributeError):
        return usual


_first = threading.Lock()


@contextlib.contextmanager
def held_cores(device: Device) -> Iterator[None]:
    """Hold a CPU device to the cores that may be used while the body makes a context; say so where that fails.

    On other devices it changes nothing.
    """
    if device.kind != "cpu":
        yield
        return
    with _first, changed_environment() as change:
        if device.family in VARIABLES and not has_read(device.family):
            change(core_variables())
        _say_if_more(device)
        yield
        if device.family in VARIABLES:
            know_read(device.family)


def _say_if_more(device: Device) -> None:
    """Say where a CPU device uses more cores than it may."""
    if device.family in VARIABLES:
        if excess := excess_cores(device.family):
            may, does = excess
            notices.tell_once(
                f"device {device.index}, {device}, was in use before it could be held to {may} of its cores, and may "
                f"use {does}; set {VARIABLE} before the program starts, or start it by taskset"
            )
    elif wanted_cores() is not None and device.compute_units > usable_cores() and device.family != "oclgrind":
        notices.tell_once(
            f"device {device.index}, {device}, cannot be held to {usable_cores()} of its {device.compute_units} cores; "
            "start the program by taskset"
        )
