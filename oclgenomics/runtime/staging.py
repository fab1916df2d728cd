"""Copies between host and device.

Discrete devices copy pinned memory many times faster than any other, so there large arrays go through pinned blocks,
two in the hands of a thread: while the device fills or empties one, a core copies the other. The caller's thread is one
of them, and has no others for what it can copy sooner than they would wake.
"""

from __future__ import annotations

import contextlib
import functools
import math
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.cores import usable_cores
from oclgenomics.lazy_names import late
from oclgenomics.runtime.buffers import DeviceArray
from oclgenomics.runtime.devices import Device
from oclgenomics.runtime.host_memory import pinned_array
from oclgenomics.runtime.loader import opencl

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    import pyopencl

futures = late("concurrent.futures")


_Pair = tuple[NDArray[np.uint8], NDArray[np.uint8]]

BLOCK_BYTES = 4 << 20  # large enough for the full speed, small enough to be pinned soon
COPY_THREADS = 12  # at most; copies into new memory wait for its pages, which more threads bring faster
SMALL_BYTES = 1 << 20  # below this the driver's own path is as good
PAIR_BYTES = 32 << 20  # that a core copies in the time that two blocks take to be pinned


class Staging:
    """The transfer queue's way to copy.

    Parameters
    ----------
    context, queue, device
        Where to copy, and on which queue.
    block_bytes : int
        Size of the pinned blocks, two for each thread, which are allocated when there is enough to copy.
    """

    def __init__(
        self, context: pyopencl.Context, queue: pyopencl.CommandQueue, device: Device, block_bytes: int = BLOCK_BYTES
    ) -> None:
        self._context, self._queue, self._device = context, queue, device
        self._block_bytes = block_bytes
        self._pairs = self._copied = 0
        self._free: SimpleQueue[_Pair] = SimpleQueue()
        self._pinned: dict[int, int] = {}
        self._most = min(COPY_THREADS, usable_cores())

    @functools.cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return futures.ThreadPoolExecutor(max(1, self._most - 1), "copy")  # type: ignore[no-any-return]

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
                self._queue, target.memory.buffer, array, dst_offset=offset, is_blocking=wait, wait_for=waits or None
            )
        data = array.reshape(-1).view(np.uint8)

        def begin(block: NDArray[np.uint8], start: int) -> pyopencl.Event:
            piece = data[start : start + self._block_bytes]
            np.copyto(block[: piece.size], piece)
            place = {"dst_offset": offset + start, "is_blocking": False, "wait_for": waits or None}
            event: pyopencl.Event = cl.enqueue_copy(self._queue, target.memory.buffer, block[: piece.size], **place)
            return event

        return self._copy(begin, lambda block, start: None, data.size)

    def read(
        self, result: NDArray[Any], source: DeviceArray, offset: int, waits: list[pyopencl.Event]
    ) -> pyopencl.Event:
        """Copy bytes of `source` from `offset` on into a contiguous array; return the last event, which has ended."""
        cl = opencl()
        if not self._staged(result):
            return cl.enqueue_copy(  # type: ignore[no-any-return]
                self._queue, result, source.memory.buffer, src_offset=offset, is_blocking=True, wait_for=waits or None
            )
        data = result.reshape(-1).view(np.uint8)

        def begin(block: NDArray[np.uint8], start: int) -> pyopencl.Event:
            place = {"src_offset": offset + start, "is_blocking": False, "wait_for": waits or None}
            to = block[: len(data) - start]
            event: pyopencl.Event = cl.enqueue_copy(self._queue, to, source.memory.buffer, **place)
            return event

        def end(block: NDArray[np.uint8], start: int) -> None:
            piece = data[start : start + self._block_bytes]
            np.copyto(piece, block[: piece.size])

        return self._copy(begin, end, data.size)

    def _copy(
        self,
        begin: Callable[[NDArray[np.uint8], int], pyopencl.Event],
        end: Callable[[NDArray[np.uint8], int], None],
        size: int,
    ) -> pyopencl.Event:
        """Copy so many bytes piece by piece, with other threads; return the last piece's event.

        `begin` gets a block and where its piece starts, and enqueues a copy; when that has ended, `end` gets the same.
        A thread begins a piece before it ends the one before.
        """
        starts = range(0, size, self._block_bytes)
        pairs = self._ready(len(starts), size)
        events: dict[int, pyopencl.Event] = {}
        todo = iter(starts)  # one `next` at a time is what Python's lock sees to

        def finish(block: NDArray[np.uint8], start: int) -> None:
            events[start].wait()
            end(block, start)

        def work() -> None:
            blocks = self._free.get()
            before: tuple[NDArray[np.uint8], int] | None = None
            try:
                for number, start in enumerate(todo):
                    block = blocks[number % 2]
                    events[start] = begin(block, start)
                    self._queue.flush()
                    if before is not None:
                        finish(*before)
                    before = block, start
                if before is not None:
                    finish(*before)
            except BaseException:
                with contextlib.suppress(opencl().Error):
                    self._queue.finish()  # the next copy must have the blocks alone
                raise
            finally:
                self._free.put(blocks)

        others = [self._threads.submit(work) for _ in range(pairs - 1)]
        try:
            work()
        finally:
            futures.wait(others)
        for done in others:
            done.result()  # or its error
        return events[starts[-1]]

    def _ready(self, pieces: int, size: int) -> int:
        """Pin blocks, and return how many threads copy so many pieces, each with a pair of blocks.

        With n pairs, pinning takes n times as long as copying `PAIR_BYTES`, and all copies an n-th of their time: the
        sum is least where n is the root of the bytes copied until now, in `PAIR_BYTES`.
        """
        self._copied += size
        worth = max(1, math.isqrt(self._copied // PAIR_BYTES))
        busy = min(self._most, -(-pieces // 2))  # a thread that has two pieces copies one while the other is on its way
        while self._pairs < min(busy, worth):
            self._free.put((self._block(), self._block()))
            self._pairs += 1
        return min(busy, self._pairs)

    def _block(self) -> NDArray[np.uint8]:
        return pinned_array(self._context, self._queue, self._device, (self._block_bytes,), np.uint8)

    def _staged(self, array: NDArray[Any]) -> bool:
        if self._device.unified_memory or array.nbytes < SMALL_BYTES:
            return False
        first = array.ctypes.data
        return not any(start <= first and first + array.nbytes <= end for start, end in list(self._pinned.items()))
