"""Host memory that devices reach at full speed: pinned for GPUs, on page boundaries for CPU devices."""

from __future__ import annotations

import contextlib
import math
import mmap
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from oclgenomics.errors import OclGenomicsError, readable_bytes
from oclgenomics.runtime.buffers import DeviceArray
from oclgenomics.runtime.devices import Device
from oclgenomics.runtime.faults import watching
from oclgenomics.runtime.loader import opencl

if TYPE_CHECKING:
    import pyopencl


class Copies(Protocol):
    """What brings items to the device and waits for it."""

    def write(self, target: DeviceArray, array: NDArray[Any], offset: int, *, wait: bool) -> None: ...

    def download(
        self, source: DeviceArray, count: int | None, offset: int, out: NDArray[Any] | None
    ) -> NDArray[Any]: ...

    def wait_for(self, array: DeviceArray) -> None: ...


class SharedArray:
    """An array that the host and the device both work on; a context manager that releases it.

    On devices that share the host's memory it is there once, and what either side writes, both see. On others `host`
    is pinned memory and `device` an array of its own: `send` brings items there, and `Engine.download` fetches them.

    Attributes
    ----------
    host : ndarray
    device : DeviceArray
    """

    def __init__(self, host: NDArray[Any], device: DeviceArray, copies: Copies, pinned: PinnedMemory | None) -> None:
        self.host, self.device = host, device
        self._copies, self._pinned = copies, pinned

    def __enter__(self) -> SharedArray:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def send(self, begin: int = 0, size: int | None = None, *, wait: bool = False) -> None:
        """Let the device see items of the host's array, from `begin` on; all if `size` is not given.

        Unless `wait` is True this returns at once, and those items must not change until `self.wait()`.
        """
        if self.device.memory.host is None:
            items = self.host.reshape(-1)
            end = len(items) if size is None else begin + size
            self._copies.write(self.device, items[begin:end], begin, wait=wait)

    def fetch(self, size: int) -> NDArray[Any]:
        """Return the first items of the host's array, as the device has left them."""
        items = self.host.reshape(-1)[:size]
        if self.device.memory.host is None:
            return self._copies.download(self.device, size, 0, items)
        self.wait()
        return items

    def wait(self) -> None:
        """Wait until all that is under way for the array has ended."""
        self._copies.wait_for(self.device)

    def release(self) -> None:
        """Give the memory back when the last kernel that works in it has ended; twice does no harm."""
        if self.device.memory.buffer is None:
            return
        with contextlib.suppress(OclGenomicsError):  # a device that is lost does not touch it any more
            self.wait()
        self.device.release()
        if self._pinned is not None:
            self._pinned.keep(self.host)

    def __del__(self) -> None:
        if hasattr(self, "device"):
            self.release()


PAGE = 4096  # bytes; Intel's runtime shares no less
KEPT_BYTES = 512 << 20  # of pinned memory
HUGE_PAGE = 2 << 20
LARGE_BYTES = 32 << 20  # of arrays that are not worth keeping for the next one to use
HUGE_ADVICE: int | None = getattr(mmap, "MADV_HUGEPAGE", None)  # Linux has it


class PinnedMemory:
    """Pinned host memory of one engine. To pin takes longer than to read most files, so what came back last is kept.

    Parameters
    ----------
    context, queue, device
        What the memory is pinned for.
    """

    def __init__(self, context: pyopencl.Context, queue: pyopencl.CommandQueue, device: Device) -> None:
        self._context, self._queue, self._device = context, queue, device
        self._kept: list[NDArray[np.uint8]] = []

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array of new or kept memory, its content undefined."""
        kind = np.dtype(dtype)
        nbytes = math.prod(shape) * kind.itemsize
        memory = self._taken(max(nbytes, 1))
        if memory is None:
            memory = pinned_array(self._context, self._queue, self._device, (max(nbytes, 1),), np.uint8)
        return memory[:nbytes].view(kind).reshape(shape)

    def _taken(self, size: int) -> NDArray[np.uint8] | None:
        """The smallest kept memory of at least so many bytes, of which whole pages that are left over stay; or None."""
        fitting = [place for place, memory in enumerate(self._kept) if memory.size >= size]
        if not fitting:
            return None
        memory = self._kept.pop(min(fitting, key=lambda place: self._kept[place].size))
        pages = -(-size // PAGE) * PAGE
        if memory.size > pages:
            self._kept.append(memory[pages:])
        return memory[:size]

    def keep(self, array: NDArray[Any]) -> None:
        """Take memory back that nobody uses any more, for the next ones who want as much or less."""
        if not 0 < array.nbytes <= KEPT_BYTES:
            return
        self._kept.append(array.reshape(-1).view(np.uint8))
        # A part keeps all that was pinned with it, so that counts, and goes together.
        while sum({id(whole): whole.nbytes for whole in map(_pinned_with, self._kept)}.values()) > KEPT_BYTES:
            oldest = _pinned_with(self._kept[0])
            self._kept = [memory for memory in self._kept if _pinned_with(memory) is not oldest]

    def release(self) -> None:
        """Forget what was kept."""
        self._kept.clear()


def _pinned_with(memory: NDArray[np.uint8]) -> NDArray[Any]:
    """Return all that was pinned together with a part of it."""
    return memory.base if isinstance(memory.base, np.ndarray) else memory


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
    """Allocate a host array on a page's boundary, of whole pages, which CPU devices can share without a copy."""
    kind = np.dtype(dtype)
    nbytes = math.prod(shape) * kind.itemsize
    return aligned_memory(nbytes)[:nbytes].view(kind).reshape(shape)


def aligned_memory(nbytes: int) -> NDArray[np.uint8]:
    """Allocate whole pages of host memory, at least so many bytes and one page.

    A large array lies on huge pages where the system has them to give: they are there 4 times as soon when they are
    first written, and a processor finds them without looking their addresses up.
    """
    if nbytes >= LARGE_BYTES and HUGE_ADVICE is not None:
        return _huge_memory(nbytes, HUGE_ADVICE)
    whole = max(-(-nbytes // PAGE), 1) * PAGE
    memory = np.empty(whole + PAGE, np.uint8)
    start = -memory.ctypes.data % PAGE
    return memory[start : start + whole]


def _huge_memory(nbytes: int, advice: int) -> NDArray[np.uint8]:
    """Whole huge pages; ordinary ones where the system refuses."""
    whole = -(-nbytes // HUGE_PAGE) * HUGE_PAGE
    # Private: what processes could share lies on ordinary pages.
    mapping = mmap.mmap(-1, whole + HUGE_PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory = np.frombuffer(mapping, np.uint8)  # which keeps the mapping
    start = -memory.ctypes.data % HUGE_PAGE
    with contextlib.suppress(OSError):  # a kernel without them
        mapping.madvise(advice, start, whole)
    return memory[start : start + whole]
