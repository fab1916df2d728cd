"""The only part of the package that talks to PyOpenCL: devices, kernels, memory, profile.

Importing it does not import PyOpenCL; the first look at the devices does.
"""

from oclgenomics.runtime.buffers import DeviceArray
from oclgenomics.runtime.devices import Device, list_devices
from oclgenomics.runtime.engine import Checkpoint, Engine
from oclgenomics.runtime.lending import lent_engine
from oclgenomics.runtime.loader import begin_loading
from oclgenomics.runtime.memory import BufferNeed, DeviceLimits, chunks, items_that_fit
from oclgenomics.runtime.profile import Profile
from oclgenomics.runtime.program import Kernel
from oclgenomics.runtime.selection import select_device
from oclgenomics.runtime.shared_array import SharedArray
from oclgenomics.runtime.traits import Traits
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
    "lent_engine",
    "list_devices",
    "select_device",
]
