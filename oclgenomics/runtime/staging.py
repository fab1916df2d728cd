"""Copies between host and device.

Discrete devices copy pinned memory many times faster than any other, so there large arrays go through pinned blocks,
each in the hands of a thread: while the device fills or empties some, the host's cores copy the others.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime.buffers import DeviceArray, pinned_array
from oclgenomics.runtime.devices import Device
from oclgenomics.runtime.loader import opencl
from oclgenomics.threads import usable_cores

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    import pyopencl

__all__ = ["Staging"]

BLOCK_BYTES = 8 << 20
COPY_THREADS = min(12, usable_cores())  # copies into new memory wait for its pages, which more threads bring faster
SMALL_BYTES = 1 << 20  # below this the driver's own path is as good


class Staging:
    """The transfer queue's way to copy.

    Parameters
    ----------
    context, queue, device
        Where to copy, and on which queue.
    block_bytes : int
        Size of the pinned blocks, one for each thread, which are allocated at the first large copy.
    """

    def __init__(
        self, context: pyopencl.Context, queue: pyopencl.CommandQueue, device: Device, block_bytes: int = BLOCK_BYTES
    ) -> None:
        self._context, self._queue, self._device = context, queue, device
        self._block_bytes = block_bytes
        self._blocks: list[NDArray[np.uint8]] = []
        self._pinned: dict[int, int] = {}
        self._threads: ThreadPoolExecutor | None = None

    def know(self, array: NDArray[Any]) -> None:
        """Remember a pinned array, which needs no staging."""
        address = array.ctypes.data
        self._pinned[address] = address + array.nbytes
        weakref.finalize(array, self._pinned.pop, address, None)

    def write(
        self, target: DeviceArray, array: NDArray[Any], offset: int, waits: list[pyopencl.Event], wait: bool
    ) -> pyopencl.Event:
        """Copy a contiguous array to `target` from byte `offset` on; return the last copy's event."""
        cl = opencl()
        if not self._staged(array):
            return cl.enqueue_copy(  # type: ignore[no-any-return]
                self._queue, target.buffer, array, dst_offset=offset, is_blocking=wait, wait_for=waits or None
            )
        data = array.reshape(-1).view(np.uint8)

        def copy(block: NDArray[np.uint8], start: int) -> pyopencl.Event:
            piece = data[start : start + self._block_bytes]
            np.copyto(block[: piece.size], piece)
            event = cl.enqueue_copy(
                self._queue,
                target.buffer,
                block[: piece.size],
                dst_offset=offset + start,
                is_blocking=False,
                wait_for=waits or None,
            )
            self._queue.flush()
            event.wait()
            return event  # type: ignore[no-any-return]

        return self._in_turn(copy, data.size)

    def read(
        self, result: NDArray[Any], source: DeviceArray, offset: int, waits: list[pyopencl.Event]
    ) -> pyopencl.Event:
        """Copy bytes of `source` from `offset` on into a contiguous array; return the last event, which has ended."""
        cl = opencl()
        if not self._staged(result):
            return cl.enqueue_copy(  # type: ignore[no-any-return]
                self._queue, result, source.buffer, src_offset=offset, is_blocking=True, wait_for=waits or None
            )
        data = result.reshape(-1).view(np.uint8)

        def copy(block: NDArray[np.uint8], start: int) -> pyopencl.Event:
            target = data[start : start + self._block_bytes]
            event = cl.enqueue_copy(
                self._queue,
                block[: target.size],
                source.buffer,
                src_offset=offset + start,
                is_blocking=False,
                wait_for=waits or None,
            )
            self._queue.flush()
            event.wait()
            np.copyto(target, block[: target.size])
            return event  # type: ignore[no-any-return]

        return self._in_turn(copy, data.size)

    def _in_turn(self, copy: Callable[[NDArray[np.uint8], int], pyopencl.Event], size: int) -> pyopencl.Event:
        """Call `copy` for each piece of so many bytes with a block of its own; return the last one's event."""
        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor  # here, because only discrete devices need it

            self._threads = ThreadPoolExecutor(COPY_THREADS, "copy")
            shape = (self._block_bytes,)
            self._blocks = [
                pinned_array(self._context, self._queue, self._device, shape, np.uint8) for _ in range(COPY_THREADS)
            ]
        copies: list[Future[pyopencl.Event]] = []
        for number, start in enumerate(range(0, size, self._block_bytes)):
            if number >= COPY_THREADS:
                copies[number - COPY_THREADS].result()  # the block is free again
            copies.append(self._threads.submit(copy, self._blocks[number % COPY_THREADS], start))
        return [done.result() for done in copies][-1]

    def _staged(self, array: NDArray[Any]) -> bool:
        if self._device.unified_memory or array.nbytes < SMALL_BYTES:
            return False
        first = array.ctypes.data
        return not any(start <= first and first + array.nbytes <= end for start, end in list(self._pinned.items()))
