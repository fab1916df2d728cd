"""The choice among the devices of this machine; none that fails the self-test is used."""

from __future__ import annotations

import os
import re

from oclgenomics import notices
from oclgenomics.errors import NoDeviceError, ParameterError, UnknownDeviceError
from oclgenomics.runtime import trust
from oclgenomics.runtime.devices import Device, list_devices
from oclgenomics.runtime.loader import install_hint

_KINDS = ("auto", "cpu", "gpu", "accelerator")


def select_device(request: str | None = None) -> Device:
    """Choose a device.

    Parameters
    ----------
    request : str, optional
        `auto`, `cpu`, `gpu`, an index of `oclgenomics devices`, part of a device's or platform's name, or `platform:N`
        (the platform by number or by part of its name, its device by number). When missing, `OCLGENOMICS_DEVICE` and
        then `PYOPENCL_CTX` are read, and then `auto` applies: a GPU with memory of its own, else one that shares the
        host's, among several the one with the highest compute units x clock; else Intel's CPU runtime, else the newest
        PoCL, else whatever there is, and simulators last. Of several devices that match, as of two versions of PoCL,
        those that fail the self-test are left out, and standard error says so.

    Raises
    ------
    NoDeviceError
        There is no device at all, or none of this kind that passes the self-test.
    UnknownDeviceError
        No device matches the request; another is never taken instead.
    UntrustedDeviceError
        All devices that the name matches fail the self-test.
    """
    asked_by = ""
    if request is None:
        for variable in ("OCLGENOMICS_DEVICE", "PYOPENCL_CTX"):
            value = os.environ.get(variable, "").strip()
            if value:
                request, asked_by = value, variable
                break
    return _selected((request or "auto").strip(), asked_by)


def select_devices(request: str) -> list[Device]:
    """Choose devices for processes that work side by side, one on each.

    Parameters
    ----------
    request : str
        `gpu`: all GPUs but simulators; `auto`: these, else what `select_device` takes; `cpu`: the CPU device;
        `0,1`: devices by their indexes, of which one may be there several times. GPUs that fail the self-test are left
        out, unless they are asked for by their index.

    Raises
    ------
    ParameterError
        It is something else.
    DeviceError
        As `select_device` raises it.
    """
    wanted, asked_by = request.strip().lower(), "--workers"
    indexes = wanted.split(",")
    if all(index.strip().isdecimal() for index in indexes):
        return [_selected(index.strip(), asked_by) for index in indexes]
    if wanted not in ("auto", "gpu", "cpu"):
        raise ParameterError("workers", "give auto, gpu, cpu or indexes of devices, such as 0,1", request)
    gpus = [] if wanted == "cpu" else [one for one in list_devices() if one.kind == "gpu" and not _is_simulator(one)]
    return [device for device in gpus if not _trouble(device)] or [_selected(wanted, asked_by)]


def _selected(wanted: str, asked_by: str) -> Device:
    devices = list_devices()
    if not devices:
        raise NoDeviceError(f"no OpenCL device found on this machine; {install_hint()}; `oclgenomics doctor` says more")
    matches = _matches(wanted, devices)
    if not matches:
        known = "; ".join(f"{device.index}: {device.name} [{device.platform}]" for device in devices)
        origin = f" (from {asked_by})" if asked_by else ""
        raise UnknownDeviceError(f"no device matches {wanted!r}{origin}; there are {known}")
    ranked = sorted(matches, key=_rank, reverse=True)
    if len(ranked) == 1 and wanted.lower() not in _KINDS:
        trust.require_trust(ranked[0])
        return ranked[0]
    return _first_trusted(ranked, wanted)


def _first_trusted(devices: list[Device], wanted: str) -> Device:
    """Return the first device that passes the self-test, and say which ones do not."""
    troubles = []
    for device in devices:
        trouble = _trouble(device)
        if not trouble:
            return device
        troubles.append(f"{device.index}: {device.name} [{device.platform}]: {trouble}")
    if wanted.lower() not in _KINDS:
        trust.require_trust(devices[0])
    raise NoDeviceError(
        f"no OpenCL device here computes rightly ({'; '.join(troubles)}); install another runtime or driver; "
        "`oclgenomics doctor` tests again and says more"
    )


def _trouble(device: Device) -> str:
    """What is wrong with a device, which is told once; empty where it passes the self-test."""
    trouble = trust.verdict_on(device).trouble
    if trouble:
        notices.tell_once(f"device {device.index}, {device}, is left out: {trouble}; `oclgenomics doctor` says more")
    return trouble


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
    if _is_simulator(device):
        return (-1, 0, (), -device.index)
    if device.kind == "gpu":
        return (2, int(not device.unified_memory), (device.compute_units * device.clock,), -device.index)
    numbers = tuple(int(part) for part in re.findall(r"\d+", device.driver)[:3])
    family = {"intel": 2, "pocl": 1}.get(device.family, 0)
    return (int(device.kind == "cpu"), family, numbers, -device.index)


def _is_simulator(device: Device) -> bool:
    """Whether it calls itself a GPU and simulates one."""
    return device.family == "oclgrind" or "llvmpipe" in device.name.lower()
