"""The OpenCL devices of this machine, as plain descriptions, and the choice among them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oclgenomics import notices
from oclgenomics.errors import NoDeviceError, UnknownDeviceError
from oclgenomics.runtime import trust
from oclgenomics.runtime.loader import install_hint, opencl, platforms, pocl_builtins

if TYPE_CHECKING:
    import pyopencl

__all__ = ["Device", "PlatformReport", "list_devices", "list_platforms", "select_device"]

_KINDS = ("auto", "cpu", "gpu", "accelerator")


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
        Cores, largest work-group, preferred work-group multiple (1 on most CPUs).
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


def select_device(request: str | None = None) -> Device:
    """Choose a device.

    Parameters
    ----------
    request : str, optional
        `auto`, `cpu`, `gpu`, an index of `oclgenomics devices`, part of a device's or platform's name, or `platform:N`
        (the platform by number or by part of its name, its device by number). When missing, `OCLGENOMICS_DEVICE` and
        then `PYOPENCL_CTX` are read, and then `auto` applies: a GPU with memory of its own, else one that shares the
        host's, of several the one with the most compute units times clock; else Intel's CPU runtime, else the newest
        PoCL, else whatever there is, and simulators last. Of a kind (`auto`, `cpu`, `gpu`), devices that fail the
        self-test are left out, which is said on standard error.

    Raises
    ------
    NoDeviceError
        There is no device at all, or none of this kind that passes the self-test.
    UnknownDeviceError
        No device answers to the request; another is never taken instead.
    UntrustedDeviceError
        The device that is named fails the self-test.
    """
    devices = list_devices()
    if not devices:
        raise NoDeviceError(f"no OpenCL device found on this machine; {install_hint()}; `oclgenomics doctor` says more")
    asked_by = "--device"
    if request is None:
        for variable in ("OCLGENOMICS_DEVICE", "PYOPENCL_CTX"):
            value = os.environ.get(variable, "").strip()
            if value:
                request, asked_by = value, variable
                break
    wanted = (request or "auto").strip()
    matches = _matches(wanted, devices)
    if not matches:
        known = "; ".join(f"{device.index}: {device.name} [{device.platform}]" for device in devices)
        raise UnknownDeviceError(f"no device answers to {wanted!r} (from {asked_by}); there are {known}")
    ranked = sorted(matches, key=_rank, reverse=True)
    if wanted.lower() in _KINDS:
        return _first_trusted(ranked)
    trust.require_trust(ranked[0])
    return ranked[0]


def _first_trusted(devices: list[Device]) -> Device:
    """Return the first device that passes the self-test, and say which ones do not."""
    troubles = []
    for device in devices:
        trouble = trust.verdict_on(device).trouble
        if not trouble:
            return device
        troubles.append(f"{device.index}: {device.name} [{device.platform}]: {trouble}")
        notices.tell_once(f"device {device.index}, {device}, is left out: {trouble}; `oclgenomics doctor` says more")
    raise NoDeviceError(
        f"no OpenCL device here computes rightly ({'; '.join(troubles)}); install another runtime or driver; "
        "`oclgenomics doctor` tests again and says more"
    )


def _matches(wanted: str, devices: list[Device]) -> list[Device]:
    lowered = wanted.lower()
    if lowered == "auto":
        return devices
    if lowered in _KINDS:
        return [device for device in devices if device.kind == lowered]
    if lowered.isdecimal():
        return [device for device in devices if device.index == int(lowered)]
    head, colon, tail = lowered.rpartition(":")
    if colon and tail.isdecimal() and head:
        return _of_platform(head, int(tail), devices)
    return [device for device in devices if lowered in device.name.lower() or lowered in device.platform.lower()] or [
        device for device in devices if lowered == device.family
    ]


def _of_platform(head: str, number: int, devices: list[Device]) -> list[Device]:
    """Resolve `platform:N`: the N-th device of one platform, given by number or by a part of its name."""
    if head.isdecimal():
        chosen = [device for device in devices if device.platform_index == int(head)]
        return chosen[number : number + 1]
    found = []
    for index in dict.fromkeys(device.platform_index for device in devices):
        own = [device for device in devices if device.platform_index == index]
        if head in own[0].platform.lower() or head == own[0].family:
            found += own[number : number + 1]
    return found


def _rank(device: Device) -> tuple[int, int, tuple[int, ...], int]:
    """Order of preference; see `select_device`. Of equals the first."""
    if device.family == "oclgrind" or "llvmpipe" in device.name.lower():  # calls itself a GPU and simulates one
        return (-1, 0, (), -device.index)
    if device.kind == "gpu":
        return (2, int(not device.unified_memory), (device.compute_units * device.clock,), -device.index)
    numbers = tuple(int(part) for part in re.findall(r"\d+", device.driver)[:3])
    family = {"intel": 2, "pocl": 1}.get(device.family, 0)
    return (int(device.kind == "cpu"), family, numbers, -device.index)


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
        compute_units=handle.max_compute_units,
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


def _warp(handle: pyopencl.Device, kind: str, family: str) -> int:
    """Work-items in lock-step: what the vendor's query says, else the usual width; no kernel is built to ask."""
    cl = opencl()
    if kind == "cpu":
        return 1
    if family == "nvidia":
        try:
            return int(handle.warp_size_nv)
        except (cl.Error, AttributeError):
            return 32
    if family == "amd":
        try:
            return int(handle.wavefront_width_amd)
        except (cl.Error, AttributeError):
            return 64
    return 32
