"""Copies between host and device, in the right order with the kernels.

There are three queues, all in order: one for kernels, one for large transfers, one for small results. An array's
memory carries the event of the last transfer into it and of the last kernel that got it; transfers wait for the second,
launches for the first.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from oclgenomics.lazy_names import late
from oclgenomics.runtime import buffers
from oclgenomics.runtime.buffers import Account, DeviceArray, shape_of
from oclgenomics.runtime.devices import Device
from oclgenomics.runtime.faults import watching
from oclgenomics.runtime.host_memory import PinnedMemory, SharedArray, aligned_array, aligned_memory
from oclgenomics.runtime.loader import opencl
from oclgenomics.runtime.profile import Recorder
from oclgenomics.runtime.tuning import Tuning

if TYPE_CHECKING:
    import pyopencl

    from oclgenomics.runtime.staging import Staging

staging = late("oclgenomics.runtime.staging")


SMALL_BYTES = 1 << 16  # of a result whose way is all latency
FILL_BYTES = 256 << 20  # at a time: filling 17 GB by one command cost an H200 its context


class Transfers:
    """The copies of one engine, and the memory they need.

    Parameters
    ----------
    context, device, tuning
        Of the engine.
    compute : pyopencl.CommandQueue
        The queue of its kernels.
    memory : Account
    recorder : Recorder
    """

    def __init__(
        self,
        context: pyopencl.Context,
        device: Device,
        tuning: Tuning,
        compute: pyopencl.CommandQueue,
        memory: Account,
        recorder: Recorder,
    ) -> None:
        cl = opencl()
        flags = cl.command_queue_properties.PROFILING_ENABLE
        self.device, self.tuning, self.compute = device, tuning, compute
        self.transfer: pyopencl.CommandQueue = cl.CommandQueue(context, device.handle, flags)
        self._messages: pyopencl.CommandQueue = cl.CommandQueue(context, device.handle, flags)
        self._context, self._memory, self._recorder = context, memory, recorder
        self._pinned = PinnedMemory(context, self.transfer, device)

    @functools.cached_property
    def _staging(self) -> Staging:
        made: Staging = staging.Staging(self._context, self.transfer, self.device)
        return made

    def finish(self) -> None:
        """Wait for all transfers."""
        for queue in (self.transfer, self._messages):
            queue.finish()

    def release(self) -> None:
        """Let go of kept memory."""
        self._pinned.release()

    # Memory

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
        """Allocate an array on the device; see `Engine.empty`."""
        return buffers.allocate(self._context, self.device, self._memory, shape_of(shape), dtype)

    def pinned(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Allocate a host array that copies go to and from at full speed; see `Engine.pinned`."""
        if self.tuning.shares_memory:
            return aligned_array(shape_of(shape), dtype)
        return self._known(self._pinned.array(shape_of(shape), dtype))

    def shared(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> SharedArray:
        """Allocate an array that both sides work on; see `Engine.shared`."""
        dimensions, kind = shape_of(shape), np.dtype(dtype)
        if self.tuning.shares_memory:
            memory = aligned_memory(int(np.prod(dimensions, dtype=np.int64)) * kind.itemsize)
            device = buffers.share(self._context, self.device, self._memory, memory, dimensions, kind)
            assert device.memory.host is not None
            return SharedArray(device.memory.host, device, self, None)
        device = self.empty(dimensions, kind)
        return SharedArray(self._known(self._pinned.array(dimensions, kind)), device, self, self._pinned)

    def _known(self, array: NDArray[Any]) -> NDArray[Any]:
        """The array, which staging is told of where there is any."""
        if not self.device.unified_memory:
            self._staging.know(array if array.base is None or not isinstance(array.base, np.ndarray) else array.base)
        return array

    # To the device

    def upload(self, array: NDArray[Any], *, wait: bool) -> DeviceArray:
        """Bring an array to the device; see `Engine.upload`."""
        array = np.ascontiguousarray(array)
        if self.tuning.shares_memory:  # no command, which would wait for a core free of kernels
            with self._recorder.profile.mark("to device", "transfer"):
                return buffers.allocate(self._context, self.device, self._memory, array.shape, array.dtype, array)
        target = self.empty(array.shape, array.dtype)
        self.write(target, array, 0, wait=wait)
        return target

    def write(self, target: DeviceArray, array: NDArray[Any], offset: int, *, wait: bool) -> None:
        """Copy a host array into a device array; see `Engine.write`."""
        target.memory.check()
        array = np.ascontiguousarray(array)
        if array.dtype != target.dtype or offset < 0 or offset + array.size > target.size:
            raise ValueError(f"{array.size} items of {array.dtype} at {offset} do not fit into {target}")
        if not array.size:
            return
        start = time.perf_counter_ns()
        with watching(self.device, f"writing {array.nbytes} bytes"):
            place = offset * array.itemsize
            if array.nbytes <= SMALL_BYTES:
                event = self._write_small(target, array, place, wait)
            else:
                event = self._staging.write(target, array, place, self._transfer_waits(target), wait)
            for queue in (self.transfer, self._messages):
                queue.flush()  # a wait across queues is only certain to end when the other queue was sent off
            self._recorder.record("to device", "transfer", event, start)
        target.memory.ready = None if wait else event

    def _write_small(self, target: DeviceArray, array: NDArray[Any], place: int, wait: bool) -> pyopencl.Event:
        """Write on the queue of small transfers, behind whatever is on its way into the array."""
        waits = self._message_waits(target)
        return opencl().enqueue_copy(  # type: ignore[no-any-return]
            self._messages, target.memory.buffer, array, dst_offset=place, is_blocking=wait, wait_for=waits or None
        )

    def fill(self, array: DeviceArray, value: float | int | np.generic) -> None:
        """Set every item to one value, on the compute queue."""
        array.memory.check()
        if not array.size:
            return
        cl, memory = opencl(), array.memory
        pattern = np.array(value, array.dtype)
        waits = [] if memory.ready is None else [memory.ready]
        start = time.perf_counter_ns()
        with watching(self.device, f"filling {array.nbytes} bytes"):
            piece = max(1, FILL_BYTES // array.dtype.itemsize) * array.dtype.itemsize
            for begin in range(0, array.nbytes, piece):
                size = min(piece, array.nbytes - begin)
                event = cl.enqueue_fill_buffer(self.compute, memory.buffer, pattern, begin, size, waits or None)
                self._recorder.record("fill", "compute", event, start)
        memory.ready, memory.used = None, event

    # To the host

    def download(self, source: DeviceArray, count: int | None, offset: int, out: NDArray[Any] | None) -> NDArray[Any]:
        """Copy a device array to the host; see `Engine.download`."""
        source.memory.check()
        result = _room_for(source, count, offset, out)
        if not result.size:
            return result
        start = time.perf_counter_ns()
        with watching(self.device, f"reading {result.nbytes} bytes"):
            if self.tuning.waiting_helps and not _ended(source):
                self.compute.finish()
            elif not self.tuning.shares_memory:
                self.wait_for(source)
            self._read(result, source, offset, start)
        return result

    def _read(self, result: NDArray[Any], source: DeviceArray, offset: int, start: int) -> None:
        if source.memory.host is not None:
            self._read_shared(result, source, offset, start)
        elif result.nbytes <= SMALL_BYTES:
            self._read_small(result, source, offset, start)
        else:
            waits = self._transfer_waits(source)
            event = self._staging.read(result, source, offset * source.dtype.itemsize, waits)
            self._recorder.record("to host", "transfer", event, start)

    def _read_small(self, result: NDArray[Any], source: DeviceArray, offset: int, start: int) -> None:
        """Read on a queue of its own: this need not wait for large transfers, nor for kernels that come later."""
        waits = self._message_waits(source)
        place = offset * source.dtype.itemsize
        event = opencl().enqueue_copy(
            self._messages, result, source.memory.buffer, src_offset=place, is_blocking=True, wait_for=waits or None
        )
        self._recorder.record("to host", "transfer", event, start)

    def _read_shared(self, result: NDArray[Any], source: DeviceArray, offset: int, start: int) -> None:
        """Read memory that the device shares: a command would wait until a core is free of kernels."""
        assert source.memory.host is not None
        self.wait_for(source)
        items = source.memory.host.reshape(-1).view(source.dtype)
        result.reshape(-1)[:] = items[offset : offset + result.size]
        self._recorder.profile.add("to host", "transfer", start, time.perf_counter_ns())

    @contextlib.contextmanager
    def mapped(self, array: DeviceArray) -> Iterator[NDArray[Any]]:
        """Give the host an array as it lies in memory; see `Engine.mapped`."""
        if not self.tuning.shares_memory:
            raise ValueError(f"{self.device} has memory of its own; use download and write")
        array.memory.check()
        cl = opencl()
        flags = cl.map_flags.READ | cl.map_flags.WRITE
        self.finish()
        self.compute.finish()
        with watching(self.device, f"mapping {array.nbytes} bytes"):
            host, _ = cl.enqueue_map_buffer(self.compute, array.memory.buffer, flags, 0, array.shape, array.dtype)
        try:
            yield host
        finally:
            host.base.release(self.compute)
            self.compute.finish()

    # Order

    def wait_for(self, array: DeviceArray) -> None:
        """Wait for whatever is under way for an array.

        Where a command has to wait for one of another queue, NVIDIA's driver keeps all others from enqueuing anything
        meanwhile: copies during kernels came to 15 GB/s, and come to 48 with this wait before.
        """
        for event in (array.memory.ready, array.memory.used):
            if event is not None:
                self.wait(event)

    def wait(self, event: pyopencl.Event) -> None:
        """Wait until one command has ended."""
        with watching(self.device, "finishing its work"):
            self.compute.flush()
            event.wait()

    def _message_waits(self, array: DeviceArray) -> list[pyopencl.Event]:
        ready = array.memory.ready
        return [*self._transfer_waits(array), *([] if ready is None else [ready])]

    def _transfer_waits(self, array: DeviceArray) -> list[pyopencl.Event]:
        if array.memory.used is None:
            return []
        self.compute.flush()
        return [array.memory.used]


def _ended(array: DeviceArray) -> bool:
    """Whether the last kernel that got an array has ended, or there was none: later ones need not be waited for."""
    used = array.memory.used
    return used is None or used.command_execution_status == opencl().command_execution_status.COMPLETE


def _room_for(source: DeviceArray, count: int | None, offset: int, out: NDArray[Any] | None) -> NDArray[Any]:
    """The array to read into: `out` if that suits, or a new one."""
    size = source.size - offset if count is None else count
    if size < 0 or offset < 0 or offset + size > source.size:
        raise ValueError(f"{size} items at {offset} are not in {source}")
    if out is None:
        return np.empty(source.shape if count is None and not offset else (size,), source.dtype)
    if out.size != size or out.dtype != source.dtype or not out.flags.c_contiguous:
        raise ValueError(f"{size} items of {source.dtype} do not fit into {out.size} of {out.dtype}")
    return out
