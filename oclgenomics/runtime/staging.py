"""Copies between host and device.

Discrete devices copy pinned memory many times faster than any other, so there large arrays go through two pinned blocks
in turn: while the device empties one, the host fills the other.
"""

from __future__ import annotations

import weakref
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

BLOCK_BYTES = 16 << 20
COPY_THREADS = min(4, usable_cores())
SMALL_BYTES = 1 << 20  # below this the driver's own path is as good


class Staging:
    """The transfer queue's way to copy.

    Parameters
    ----------
    context, queue, device
        Where to copy, and on which queue.
    block_bytes : int
        Size of each of the two pinned blocks, which are allocated at the first large copy.
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
        events: list[pyopencl.Event] = []
        for number, start in enumerate(range(0, data.size, self._block_bytes)):
            block = self._block(number)
            piece = data[start : start + self._block_bytes]
            if number >= 2:
                events[number - 2].wait()
            self._copy(block[: piece.size], piece)
            events.append(
                cl.enqueue_copy(
                    self._queue,
                    target.buffer,
                    block[: piece.size],
                    dst_offset=offset + start,
                    is_blocking=False,
                    wait_for=waits or None,
                )
            )
            self._queue.flush()
        for event in events[-2:]:  # the blocks are free again for the next call
            event.wait()
        return events[-1]

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
        starts = range(0, data.size, self._block_bytes)
        events: list[pyopencl.Event] = []
        for number in range(len(starts) + 1):
            if number < len(starts):
                piece = self._block(number)[: min(self._block_bytes, data.size - starts[number])]
                events.append(
                    cl.enqueue_copy(
                        self._queue,
                        piece,
                        source.buffer,
                        src_offset=offset + starts[number],
                        is_blocking=False,
                        wait_for=waits or None,
                    )
                )
                self._queue.flush()
            if number:
                events[number - 1].wait()
                target = data[starts[number - 1] : starts[number - 1] + self._block_bytes]
                self._copy(target, self._block(number - 1)[: target.size])
        return events[-1]

    def _copy(self, target: NDArray[np.uint8], source: NDArray[np.uint8]) -> None:
        """Copy in the host's memory, with several threads where one is slower than the device's bus."""
        if target.size < SMALL_BYTES or COPY_THREADS < 2:
            target[:] = source
            return
        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor  # here, because only discrete devices need it

            self._threads = ThreadPoolExecutor(COPY_THREADS)
        step = -(-target.size // COPY_THREADS)
        slices = [slice(start, start + step) for start in range(0, target.size, step)]
        list(self._threads.map(lambda part: np.copyto(target[part], source[part]), slices))

    def _staged(self, array: NDArray[Any]) -> bool:
        if self._device.unified_memory or array.nbytes < SMALL_BYTES:
            return False
        first = array.ctypes.data
        return not any(start <= first and first + array.nbytes <= end for start, end in self._pinned.items())

    def _block(self, number: int) -> NDArray[np.uint8]:
        while len(self._blocks) < 2:
            self._blocks.append(pinned_array(self._context, self._queue, self._device, (self._block_bytes,), np.uint8))
        return self._blocks[number % 2]
