"""The devices that the tests run on."""

from __future__ import annotations

import dataclasses
import math
import os
from typing import Any

from oclgenomics.runtime import Device, Engine, list_devices, select_device

__all__ = ["LimitedEngine", "devices_under_test"]


class LimitedEngine(Engine):
    """An engine with GPUs' kernels, on a device that takes groups of a few work-items only, and refuses larger ones."""

    def __init__(self, device: Device, most_items: int) -> None:
        super().__init__(dataclasses.replace(device, max_work_group=most_items))
        self.tuning = dataclasses.replace(self.tuning, cpu=False, vector_width=1, local_size=256)

    def launch(self, kernel: Any, global_size: Any, local_size: Any, *args: Any, **options: Any) -> Any:
        """Launch, as a device does that has this limit."""
        items = math.prod(local_size or (1,))
        assert items <= self.device.max_work_group, f"{kernel.name}: INVALID_WORK_GROUP_SIZE, {items} work-items"
        return super().launch(kernel, global_size, local_size, *args, **options)


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
