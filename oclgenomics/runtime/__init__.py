"""The only part of the package that talks to PyOpenCL: devices, kernels, memory, profile.

Importing it does not import PyOpenCL; the first look at the devices does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.runtime.buffers import DeviceArray
    from oclgenomics.runtime.devices import Device, list_devices
    from oclgenomics.runtime.engine import Checkpoint, Engine
    from oclgenomics.runtime.host_memory import SharedArray
    from oclgenomics.runtime.loader import begin_loading
    from oclgenomics.runtime.memory import BufferNeed, DeviceLimits, chunks, items_that_fit
    from oclgenomics.runtime.profile import Profile
    from oclgenomics.runtime.program import Kernel
    from oclgenomics.runtime.selection import select_device
    from oclgenomics.runtime.traits import Traits
    from oclgenomics.runtime.trust import kept_verdict
    from oclgenomics.runtime.tuning import Tuning

__all__ = [
    "BufferNeed",
    "Checkpoint",
    "Device",
    "DeviceArray",
    "DeviceLimits",
    "Engine",
    "Kernel",
    "Profile",
    "SharedArray",
    "Traits",
    "Tuning",
    "begin_loading",
    "chunks",
    "items_that_fit",
    "kept_verdict",
    "list_devices",
    "select_device",
]

HOMES = {
    "BufferNeed": "memory",
    "Checkpoint": "engine",
    "Device": "devices",
    "DeviceArray": "buffers",
    "DeviceLimits": "memory",
    "Engine": "engine",
    "Kernel": "program",
    "Profile": "profile",
    "SharedArray": "host_memory",
    "Traits": "traits",
    "Tuning": "tuning",
    "begin_loading": "loader",
    "chunks": "memory",
    "items_that_fit": "memory",
    "kept_verdict": "trust",
    "list_devices": "devices",
    "select_device": "selection",
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
