"""Contexts that are there before an engine asks for them: on a GPU one takes as long as all imports of a command.

A thread makes that of NVIDIA's first GPU, which `select_device` prefers where it is the only kind of GPU. It calls the
driver directly, without PyOpenCL, whose calls would keep Python from importing meanwhile: by the table of functions
that begins each object of a driver for `cl_khr_icd` (Khronos, cl_icd.h). A context that another device needs instead is
made in the usual way, and a failure is left to that.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from typing import TYPE_CHECKING

from oclgenomics.runtime.devices import Device, held_cores
from oclgenomics.runtime.loader import begin_loading, early_drivers, library_stem, opencl

if TYPE_CHECKING:
    import pyopencl

NVIDIA = "libnvidia-opencl"
VARIABLES = ("OCLGENOMICS_DEVICE", "PYOPENCL_CTX")  # which choose another device
EXTENSION = b"clIcdGetPlatformIDsKHR"
DEVICE_IDS, CREATE_CONTEXT = 2, 4  # places in the table
GPU = 1 << 2  # CL_DEVICE_TYPE_GPU

_Handle, _Status, _Count = ctypes.c_void_p, ctypes.c_int32, ctypes.c_uint32
_Handles = ctypes.POINTER(_Handle)
_PlatformIds = ctypes.CFUNCTYPE(_Status, _Count, _Handles, ctypes.POINTER(_Count))
_DeviceIds = ctypes.CFUNCTYPE(_Status, _Handle, ctypes.c_uint64, _Count, _Handles, ctypes.POINTER(_Count))
_CreateContext = ctypes.CFUNCTYPE(
    _Handle, _Handle, _Count, _Handles, _Handle, _Handle, ctypes.POINTER(_Status)
)  # fmt: skip

_taking = threading.Lock()  # threads may open engines side by side
_making: threading.Thread | None = None
_made: list[int] = []  # by the thread, as the driver names it
_kept: dict[Device, pyopencl.Context] = {}


def begin_engine(request: str | None = None) -> None:
    """Have what an engine needs made from now on, for a command that will use a device.

    This reports no trouble: the engine does.

    Parameters
    ----------
    request : str, optional
        The device, as `select_device` takes it.
    """
    begin_gpu(request)
    begin_loading()


def begin_gpu(request: str | None = None) -> None:
    """Have a context made on the GPU that would be chosen, if it is NVIDIA's first one.

    It takes longer than anything else at the start, and next to nothing of Python's time. For another request NVIDIA's
    driver only starts: it does so at the first look at the devices, for which Python would wait.
    """
    if request is None and not any(os.environ.get(name) for name in VARIABLES):
        request = "auto"
    for library in early_drivers():
        if library_stem(library) == NVIDIA:
            begin_context(library, make=request in ("auto", "gpu"))


def begin_context(library: str, *, make: bool = True) -> None:
    """Have a thread start a driver and make a context on its first GPU.

    The process does not end before that is done.

    Parameters
    ----------
    library : str
        The driver's, with `cl_khr_icd`.
    make : bool
        Without it the driver starts, and there is no context.
    """
    global _making
    if _making is None:
        _making = threading.Thread(target=_make, args=(library, make), name="early-context")
        _making.start()


def keep_context(device: Device) -> None:
    """Make a context for the next engine on a device; where it does not give one, the engine tells."""
    if device not in _kept:
        with contextlib.suppress(opencl().Error), held_cores(device):
            _kept[device] = taken_context(device) or opencl().Context([device.handle])


def taken_context(device: Device) -> pyopencl.Context | None:
    """Return a context on a device that was made early, and let go of it; None if there is none.

    Parameters
    ----------
    device : Device

    Returns
    -------
    pyopencl.Context or None
        The caller's alone.
    """
    global _making
    with _taking:
        if device in _kept:
            return _kept.pop(device)
        if _making is None or device.family != "nvidia":
            return None
        _making.join()
        _making = None
        context = opencl().Context.from_int_ptr(_made.pop(), retain=False) if _made else None
    return context if context is not None and context.devices == [device.handle] else None


def _make(library: str, make: bool) -> None:
    """Start the driver and make the context; on any failure none is there."""
    try:
        driver = ctypes.CDLL(library)
        find = driver.clGetExtensionFunctionAddress
    except (OSError, AttributeError):
        return
    find.argtypes, find.restype = [ctypes.c_char_p], _Handle
    address = find(EXTENSION)
    platform, device, status = _Handle(), _Handle(), _Status()
    if not address or _PlatformIds(address)(1, platform, None) or not platform:
        return
    table = ctypes.cast(ctypes.cast(platform, _Handles)[0] or 0, _Handles)
    if _DeviceIds(table[DEVICE_IDS])(platform, GPU, 1, device, None) or not device or not make:
        return
    context = _CreateContext(table[CREATE_CONTEXT])(None, 1, device, None, None, status)
    if context and not status.value:
        _made.append(context)
