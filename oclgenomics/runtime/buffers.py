"""Device memory: arrays, the account of what is taken, and pinned host memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from oclgenomics.errors import AllocationError
from oclgenomics.runtime.devices import Device
from oclgenomics.runtime.faults import readable_bytes, watching
from oclgenomics.runtime.loader import opencl

if TYPE_CHECKING:
    import pyopencl

__all__ = ["MIN_SHARED", "Account", "DeviceArray", "aligned_array", "allocate", "pinned_array", "share", "shareable"]


_PAGE = 4096
MIN_SHARED = 4096  # bytes; smaller arrays are copied


class Account:
    """Bytes of device memory in use, their peak, and the limit the user set.

    Parameters
    ----------
    limit : int or None
        Bytes that may be in use (`--max-memory`); None leaves it to the device.
    """

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.used = 0
        self.peak = 0

    def take(self, count: int) -> None:
        self.used += count
        self.peak = max(self.peak, self.used)

    def give(self, count: int) -> None:
        self.used -= count


class DeviceArray:
    """An array in device memory.

    Attributes
    ----------
    buffer : pyopencl.Buffer
        The memory.
    shape, dtype, size, nbytes
        As of a NumPy array, C order.
    ready : pyopencl.Event or None
        The last transfer into the array that compute has to wait for.
    used : pyopencl.Event or None
        The last kernel that got the array, which transfers have to wait for.
    host : ndarray or None
        The host's memory that the device works in, where it is shared.
    """

    def __init__(
        self, buffer: pyopencl.Buffer, shape: tuple[int, ...], dtype: np.dtype[Any], account: Account | None
    ) -> None:
        self.buffer: pyopencl.Buffer | None = buffer
        self.shape = shape
        self.dtype = dtype
        self.size = math.prod(shape)
        self.nbytes = self.size * dtype.itemsize
        self.ready: pyopencl.Event | None = None
        self.used: pyopencl.Event | None = None
        self.host: NDArray[Any] | None = None
        self._account = account

    def release(self) -> None:
        """Give the memory back now; twice does no harm. The device keeps it until kernels that use it have ended."""
        buffer, self.buffer = self.buffer, None
        if buffer is None:
            return
        if self._account is not None:
            self._account.give(self.nbytes)
        buffer.release()

    def __del__(self) -> None:
        if getattr(self, "buffer", None) is not None and self._account is not None:
            self._account.give(self.nbytes)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype})"


def allocate(
    context: pyopencl.Context,
    device: Device,
    account: Account,
    shape: tuple[int, ...],
    dtype: DTypeLike,
    content: NDArray[Any] | None = None,
) -> DeviceArray:
    """Allocate an array on the device, its content undefined or a copy of a contiguous array's.

    Raises
    ------
    AllocationError
        It is larger than the device's largest buffer, or passes the limit, or the device has no memory left.
    """
    cl = opencl()
    kind = np.dtype(dtype)
    nbytes = math.prod(shape) * kind.itemsize
    asked = f"{readable_bytes(nbytes)} for an array of {'x'.join(map(str, shape))} {kind.name}"
    if nbytes > device.max_allocation:
        raise AllocationError(
            f"{asked} is more than {device} gives to one buffer ({readable_bytes(device.max_allocation)}); "
            "lower --max-memory for smaller chunks, or choose another device with -d"
        )
    if account.limit is not None and account.used + nbytes > account.limit:
        raise AllocationError(
            f"{asked} with {readable_bytes(account.used)} in use passes the limit of {readable_bytes(account.limit)}; "
            "raise --max-memory"
        )
    with watching(device, f"allocating {asked}, {readable_bytes(account.used)} being in use"):
        if content is None or not nbytes:
            buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, max(nbytes, 16))
        else:
            buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, nbytes, content)
    account.take(nbytes)
    return DeviceArray(buffer, shape, kind, account)


def shareable(device: Device, array: NDArray[Any]) -> bool:
    """Say whether the device can work in the array's own memory: a CPU, and the array writable and aligned."""
    return (
        device.kind == "cpu"
        and device.unified_memory
        and array.flags.writeable
        and array.nbytes >= MIN_SHARED
        and array.ctypes.data % max(device.alignment, 64) == 0
    )


def share(context: pyopencl.Context, device: Device, array: NDArray[Any]) -> DeviceArray:
    """Make the array's own memory a device array, without a copy; it takes nothing of the account."""
    cl = opencl()
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    with watching(device, f"sharing {readable_bytes(array.nbytes)} of host memory"):
        buffer = cl.Buffer(context, flags, hostbuf=array)
    shared = DeviceArray(buffer, array.shape, array.dtype, None)
    shared.host = array
    return shared


def pinned_array(
    context: pyopencl.Context, queue: pyopencl.CommandQueue, device: Device, shape: tuple[int, ...], dtype: DTypeLike
) -> NDArray[Any]:
    """Allocate host memory that the device reads and writes at full speed; the array keeps it alive and mapped."""
    cl = opencl()
    kind = np.dtype(dtype)
    nbytes = max(math.prod(shape) * kind.itemsize, 16)
    with watching(device, f"allocating {readable_bytes(nbytes)} of pinned host memory"):
        buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR, nbytes)
        flags = cl.map_flags.READ | cl.map_flags.WRITE
        mapped, _ = cl.enqueue_map_buffer(queue, buffer, flags, 0, shape, kind, is_blocking=True)
    return mapped  # type: ignore[no-any-return]


def aligned_array(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Allocate a host array on a page boundary, which CPU devices can share without a copy."""
    kind = np.dtype(dtype)
    nbytes = math.prod(shape) * kind.itemsize
    memory = np.empty(nbytes + _PAGE, np.uint8)
    start = -memory.ctypes.data % _PAGE
    return memory[start : start + nbytes].view(kind).reshape(shape)
