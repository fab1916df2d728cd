"""The only part of the package that talks to PyOpenCL: devices, kernels, memory, profile.

Importing it does not import PyOpenCL; the first look at the devices does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.runtime.buffers import DeviceArray as DeviceArray
    from oclgenomics.runtime.devices import *
    from oclgenomics.runtime.early_context import (
        begin_engine as begin_engine,
        begin_gpu as begin_gpu,
        keep_context as keep_context,
    )
    from oclgenomics.runtime.engine import *
    from oclgenomics.runtime.host_memory import SharedArray as SharedArray
    from oclgenomics.runtime.memory import *
    from oclgenomics.runtime.profile import Profile as Profile
    from oclgenomics.runtime.program import Kernel as Kernel
    from oclgenomics.runtime.selection import select_device as select_device, select_devices as select_devices
    from oclgenomics.runtime.traits import Traits as Traits
    from oclgenomics.runtime.trust import kept_verdict as kept_verdict
    from oclgenomics.runtime.tuning import Tuning as Tuning

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "buffers": "DeviceArray",
        "devices": "Device list_devices",
        "early_context": "begin_engine begin_gpu keep_context",
        "engine": "Checkpoint Engine HostArray",
        "host_memory": "SharedArray",
        "memory": "BufferNeed DeviceLimits chunks items_that_fit",
        "profile": "Profile",
        "program": "Kernel",
        "selection": "select_device select_devices",
        "traits": "Traits",
        "trust": "kept_verdict",
        "tuning": "Tuning",
    },
)
