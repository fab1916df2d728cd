"""The devices that the tests run on."""

from __future__ import annotations

import os

from oclgenomics.runtime import Device, list_devices, select_device

__all__ = ["devices_under_test"]


def devices_under_test() -> list[Device]:
    """List the devices the tests run on."""
    wanted = os.environ.get("OCLGENOMICS_TEST_DEVICES", "").strip()
    devices = list_devices()
    if wanted == "all":
        return devices
    if wanted:
        return [select_device(request.strip()) for request in wanted.split(",")]
    return [device for device in devices if device.family == "intel" or _is_pocl_from_pip(device)] or devices[:1]


def _is_pocl_from_pip(device: Device) -> bool:
    return device.family == "pocl" and "debian" not in device.driver.lower()
