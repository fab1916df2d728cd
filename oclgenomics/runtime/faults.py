"""Turn PyOpenCL's exceptions into the package's own: what happened, on which device, and what to change."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from oclgenomics.errors import AllocationError, DeviceError, DeviceLostError, readable_bytes
from oclgenomics.runtime.devices import Device
from oclgenomics.runtime.limits import limits_hint
from oclgenomics.runtime.loader import opencl

# Status codes of the OpenCL specification (cl.h); -9999 is NVIDIA's for an illegal access inside a kernel.
_OUT_OF_MEMORY = {-4: "CL_MEM_OBJECT_ALLOCATION_FAILURE", -6: "CL_OUT_OF_HOST_MEMORY", -61: "CL_INVALID_BUFFER_SIZE"}
_LOST = {
    -2: "CL_DEVICE_NOT_AVAILABLE",
    -5: "CL_OUT_OF_RESOURCES",
    -14: "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
    -34: "CL_INVALID_CONTEXT",
    -36: "CL_INVALID_COMMAND_QUEUE",
    -58: "CL_INVALID_EVENT",
    -9999: "illegal memory access",
}


def translate(error: Exception, device: Device, doing: str) -> DeviceError | None:
    """Return the package's error for one of PyOpenCL's.

    Parameters
    ----------
    error : pyopencl.Error
        What was raised.
    device : Device
        Where.
    doing : str
        What was being done, to follow "while": "running count_kmers".

    Returns
    -------
    DeviceError or None
        None for codes that mean a defect in the caller (an invalid argument, say), which should stay visible as such.
    """
    code = getattr(error, "code", 0)
    if code in _OUT_OF_MEMORY:
        remedy = f"it has {readable_bytes(device.global_memory)}: lower `max_memory`, or choose another `device`"
        return AllocationError(
            f"{device} ran out of memory while {doing} ({_OUT_OF_MEMORY[code]}); {limits_hint() or remedy}"
        )
    if code in _LOST:
        remedy = (
            "run again, with a lower `max_memory` or another `device` if it happens again; `oclgenomics doctor` "
            "checks the device"
        )
        return DeviceLostError(f"{device} stopped answering while {doing} ({_LOST[code]}); {limits_hint() or remedy}")
    return None


@contextlib.contextmanager
def watching(device: Device, doing: str | Callable[[], str]) -> Iterator[None]:
    """Raise the package's errors for trouble that the device has in the body of a `with` statement.

    What was being done may be a function that says it, where that takes long and is hardly ever needed.
    """
    try:
        yield
    except opencl().Error as error:
        translated = translate(error, device, doing if isinstance(doing, str) else doing())
        if translated is None:
            raise
        raise translated from error
