"""Device memory: arrays, and the account of what is taken."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from oclgenomics.errors import AllocationError, readable_bytes
from oclgenomics.runtime.devices import Device
from oclgenomics.runtime.faults import watching
from oclgenomics.runtime.loader import opencl

if TYPE_CHECKING:
    import pyopencl


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


class DeviceMemory:
    """One buffer, what it takes of the account, and what is under way for it.

    Attributes
    ----------
    buffer : pyopencl.Buffer or None
        None when it was released.
    ready : pyopencl.Event or None
        The last transfer into it that compute has to wait for.
    used : pyopencl.Event or None
        The last kernel that got it, which transfers have to wait for.
    host : ndarray or None
        The host's memory that the device works in, where it is shared.
    """

    def __init__(
        self, buffer: pyopencl.Buffer, nbytes: int, account: Account, host: NDArray[Any] | None = None
    ) -> None:
        self.buffer: pyopencl.Buffer | None = buffer
        self.ready: pyopencl.Event | None = None
        self.used: pyopencl.Event | None = None
        self.host = host
        self._nbytes, self._account = nbytes, account
        account.take(nbytes)

    def check(self) -> None:
        """Refuse memory that was given back.

        Raises
        ------
        ValueError
            It was.
        """
        if self.buffer is None:
            raise ValueError("this array was released")

    def release(self) -> None:
        """Give the memory back now; twice does no harm. The device keeps it until kernels that use it have ended."""
        buffer, self.buffer = self.buffer, None
        if buffer is not None:
            self._give()
            buffer.release()

    def _give(self) -> None:
        """Give back what it takes of the account, once."""
        nbytes, self._nbytes = self._nbytes, 0
        self._account.give(nbytes)

    def __del__(self) -> None:
        # The buffer stays: of a cycle, this may be ended before a `SharedArray`, which waits for kernels and releases.
        if getattr(self, "buffer", None) is not None:
            self._give()


class DeviceArray:
    """An array in device memory.

    Attributes
    ----------
    memory : DeviceMemory
    shape, dtype, size, nbytes
        As of a NumPy array, C order.
    """

    def __init__(self, memory: DeviceMemory, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.memory = memory
        self.shape = shape
        self.dtype = dtype
        self.size = math.prod(shape)
        self.nbytes = self.size * dtype.itemsize

    def view(self, dtype: DTypeLike) -> DeviceArray:
        """Return the same memory as an array of one dimension of another type.

        Raises
        ------
        ValueError
            The bytes are not a whole number of items.
        """
        kind = np.dtype(dtype)
        if self.nbytes % kind.itemsize:
            raise ValueError(f"{self} has {self.nbytes} bytes, no whole number of {kind.name}")
        return DeviceArray(self.memory, (self.nbytes // kind.itemsize,), kind)

    def release(self) -> None:
        """Give the memory back now, that of its views too; twice does no harm."""
        self.memory.release()

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype})"


def shape_of(shape: int | tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape as a tuple."""
    return (shape,) if isinstance(shape, int) else tuple(shape)


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
    cl, kind = opencl(), np.dtype(dtype)
    nbytes = _checked_size(device, account, shape, kind)
    with watching(device, lambda: f"allocating {_asked(shape, kind)}, {readable_bytes(account.used)} being in use"):
        flags = cl.mem_flags.READ_WRITE
        if content is None or not nbytes:
            buffer = cl.Buffer(context, flags, max(nbytes, 16))
        else:
            buffer = cl.Buffer(context, flags | cl.mem_flags.COPY_HOST_PTR, nbytes, content)
    return DeviceArray(DeviceMemory(buffer, nbytes, account), shape, kind)


def share(
    context: pyopencl.Context,
    device: Device,
    account: Account,
    memory: NDArray[np.uint8],
    shape: tuple[int, ...],
    dtype: DTypeLike,
) -> DeviceArray:
    """Make the host's memory a device array, without a copy.

    Parameters
    ----------
    memory : ndarray, uint8
        On a page's boundary; may be longer than the array.

    Raises
    ------
    AllocationError
        As `allocate`.
    """
    cl, kind = opencl(), np.dtype(dtype)
    nbytes = _checked_size(device, account, shape, kind)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    with watching(device, f"sharing {readable_bytes(nbytes)} of host memory"):
        buffer = cl.Buffer(context, flags, hostbuf=memory)
    host = memory[:nbytes].view(kind).reshape(shape)
    return DeviceArray(DeviceMemory(buffer, nbytes, account, host), shape, kind)


def _asked(shape: tuple[int, ...], kind: np.dtype[Any]) -> str:
    """What is asked for, in words."""
    nbytes = math.prod(shape) * kind.itemsize
    return f"{readable_bytes(nbytes)} for an array of {'x'.join(map(str, shape))} {kind.name}"


def _checked_size(device: Device, account: Account, shape: tuple[int, ...], kind: np.dtype[Any]) -> int:
    """Return the bytes of an array, unless it is too large for the device or passes the limit."""
    nbytes = math.prod(shape) * kind.itemsize
    if nbytes > device.max_allocation:
        raise AllocationError(
            f"{_asked(shape, kind)} is more than {device} gives to one buffer "
            f"({readable_bytes(device.max_allocation)}); lower `max_memory` for smaller chunks, or choose another "
            "`device`"
        )
    if account.limit is not None and account.used + nbytes > account.limit:
        raise AllocationError(
            f"{_asked(shape, kind)} with {readable_bytes(account.used)} in use passes the limit of "
            f"{readable_bytes(account.limit)}; raise `max_memory`"
        )
    return nbytes
