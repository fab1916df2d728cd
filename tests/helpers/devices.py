"""The devices that the tests run on."""

from __future__ import annotations

import dataclasses
import math
import os
import platform
from typing import Any

import pytest

from oclgenomics.errors import OclGenomicsError
from oclgenomics.runtime import Device, Engine, list_devices, select_device
from oclgenomics.runtime.pocl import knows_processor
from oclgenomics.runtime.trust import require_trust
from oclgenomics.runtime.tuning import Tuning, tuning_for

ONE_BY_ONE = "__attribute__((intel_vec_len_hint(1)))kernel"
UNOPTIMISED = "UNOPTIMISED"
HINT = "`python -m oclgenomics doctor` says why; OCLGENOMICS_TEST_DEVICES names others to test on"


class OneByOne(Tuning):
    """A tuning of Intel's CPU runtime by which the work-items of a group run one after the other.

    That is how kernels for GPUs are checked there. Its compiler would take eight times the time to put several
    work-items into a vector and to optimise code that runs in no other place; see `shared_programs`.
    """

    def defines(self) -> dict[str, Any]:
        """Return the `-D` parameters every build gets."""
        return {**super().defines(), "__kernel": ONE_BY_ONE}


class Unoptimised(Tuning):
    """A tuning whose kernels the compiler leaves as they are written: for shapes that no device here has by itself."""

    def defines(self) -> dict[str, Any]:
        """Return the `-D` parameters every build gets."""
        return {**super().defines(), UNOPTIMISED: 1}


def narrow_shape(device: Device) -> Tuning:
    """Return the tuning of a CPU device with vectors of 32 bytes."""
    return Unoptimised(**{**vars(tuning_for(device)), "vector_bytes": 32})


def gpu_shape(device: Device) -> Tuning:
    """Return the tuning of a device whose kernels have the shape for GPUs and which has memory of its own."""
    kind = OneByOne if device.family == "intel" and device.kind == "cpu" else Tuning
    return kind(**{**vars(tuning_for(device)), "shape": "gpu", "shares_memory": False})


class LimitedEngine(Engine):
    """An engine with GPUs' kernels, on a device that takes groups of a few work-items only, and refuses larger ones."""

    def __init__(self, device: Device, max_items: int) -> None:
        tuning = dataclasses.replace(gpu_shape(device), vector_width=1, local_size=256)
        super().__init__(dataclasses.replace(device, max_work_group=max_items), tuning=tuning)

    def launch(self, kernel: Any, global_size: Any, local_size: Any, /, **arguments: Any) -> None:
        """Launch, as a device does that has this limit."""
        items = math.prod(local_size or (1,))
        assert items <= self.device.max_work_group, f"{kernel.name}: INVALID_WORK_GROUP_SIZE, {items} work-items"
        super().launch(kernel, global_size, local_size, **arguments)


def devices_under_test() -> list[Device]:
    """List the devices the tests run on.

    PoCL from pip is left out where its compiler is older than the processor and the product refuses it, as long as
    Intel's runtime, which is tested with the same kernels, is trusted.

    Raises
    ------
    pytest.UsageError
        There is none, or not each runtime that comes with the package has one, or another fails the self-test: what was
        not run has not passed.
    """
    troubles = {device: _trouble(device) for device in _wanted_devices()}
    trusted = [device for device, trouble in troubles.items() if not trouble]
    for device, trouble in troubles.items():
        if trouble and (_named() or not trusted or not _is_pocl_from_pip(device)):
            raise pytest.UsageError(trouble)
    return trusted


def left_out() -> str:
    """Say why PoCL from pip is there and not tested on; empty where it is, or is not there."""
    if _named():
        return ""
    if unknown_processor():
        return "not on PoCL from pip, whose compiler is older than this processor"
    troubles = [_trouble(device) for device in list_devices() if _is_pocl_from_pip(device)]
    return next((f"not on PoCL from pip: {trouble}" for trouble in troubles if trouble), "")


def _trouble(device: Device) -> str:
    """Return why a device is refused; empty where it is trusted."""
    try:
        require_trust(device)
    except OclGenomicsError as error:
        return f"{error}"
    return ""


def _named() -> str:
    """Return what `OCLGENOMICS_TEST_DEVICES` says."""
    return os.environ.get("OCLGENOMICS_TEST_DEVICES", "").strip()


def _wanted_devices() -> list[Device]:
    wanted = _named()
    devices = list_devices()
    if wanted and wanted != "all":
        try:
            return [select_device(request.strip()) for request in wanted.split(",")]
        except OclGenomicsError as error:
            raise pytest.UsageError(f"OCLGENOMICS_TEST_DEVICES={wanted}: {error}") from None
    if not devices:
        raise pytest.UsageError(f"there is no OpenCL device to test on; {HINT}")
    if wanted:
        return devices
    intel = [device for device in devices if device.family == "intel" and device.kind == "cpu"]
    pocl = [device for device in devices if _is_pocl_from_pip(device)]
    if (platform.system(), platform.machine()) == ("Linux", "x86_64"):  # where both come with the package
        for name, found in (("Intel's CPU runtime", intel), ("PoCL from pip", pocl)):
            if not found:
                raise pytest.UsageError(f"{name} comes with the package and has no device here; {HINT}")
    pocl = [device for device in pocl if knows_processor(device.version)]
    return sorted(intel + pocl, key=lambda device: device.index) or devices[:1]


def unknown_processor() -> bool:
    """Say whether PoCL from pip is there and compiles nothing, being older than this processor."""
    return any(_is_pocl_from_pip(device) and not knows_processor(device.version) for device in list_devices())


def _is_pocl_from_pip(device: Device) -> bool:
    return device.family == "pocl" and "debian" not in device.driver.lower()
