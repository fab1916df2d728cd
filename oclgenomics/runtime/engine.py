"""One device at work: context, queues, programs, memory and profile."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from oclgenomics.errors import BuildError, DeviceError
from oclgenomics.runtime import buffers
from oclgenomics.runtime.buffers import Account, DeviceArray
from oclgenomics.runtime.devices import Device
from oclgenomics.runtime.faults import translate, watching
from oclgenomics.runtime.loader import opencl
from oclgenomics.runtime.memory import BufferNeed, items_that_fit
from oclgenomics.runtime.profile import Profile
from oclgenomics.runtime.program import Define, Kernel, build_options, build_program
from oclgenomics.runtime.selection import select_device
from oclgenomics.runtime.staging import Staging
from oclgenomics.runtime.traits import Traits, probe
from oclgenomics.runtime.trust import require_trust
from oclgenomics.runtime.tuning import Tuning, tuning_for

if TYPE_CHECKING:
    import pyopencl

__all__ = ["Engine"]

SMALL_BYTES = 1 << 16  # of a result whose way is all latency
FILL_BYTES = 256 << 20  # at a time: filling 17 GB by one command cost an H200 its context
KEPT_BYTES = 512 << 20  # of pinned memory
BUDGET_SHARE = 0.8  # of the device's memory; the driver, the display and other processes need some, too


class Engine:
    """One device with a compute queue and a transfer queue, both in order, and a third one for small results.

    Transfers and kernels run side by side; an array carries the events that keep them in the right order, so callers do
    not have to. An engine belongs to one thread.

    Parameters
    ----------
    device : Device or str, optional
        A device, or a request as `select_device` takes it.
    max_memory : int, optional
        Bytes of device memory that may be in use at a time.
    profile : bool
        Keep the times of kernels and transfers.

    Raises
    ------
    NoDeviceError, UnknownDeviceError, UntrustedDeviceError
        From `select_device`.
    """

    def __init__(
        self, device: Device | str | None = None, *, max_memory: int | None = None, profile: bool = False
    ) -> None:
        if isinstance(device, Device):
            require_trust(device)
        self.device = device if isinstance(device, Device) else select_device(device)
        self.tuning: Tuning = tuning_for(self.device)
        self.max_memory = max_memory
        self.memory = Account(max_memory)
        self.profile = Profile(profile)
        cl = opencl()
        with watching(self.device, "starting"):
            self.context: pyopencl.Context = cl.Context([self.device.handle])
            flags = cl.command_queue_properties.PROFILING_ENABLE
            self.compute: pyopencl.CommandQueue = cl.CommandQueue(self.context, self.device.handle, flags)
            self.transfer: pyopencl.CommandQueue = cl.CommandQueue(self.context, self.device.handle, flags)
            self._messages: pyopencl.CommandQueue = cl.CommandQueue(self.context, self.device.handle, flags)
        self._programs: dict[tuple[str, tuple[str, ...]], pyopencl.Program] = {}
        self._kernels: dict[tuple[str, str, tuple[str, ...]], Kernel] = {}
        self._kept: list[NDArray[np.uint8]] = []  # pinned memory, for the next one who wants some

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()

    @functools.cached_property
    def traits(self) -> Traits:
        """What the device can do, probed by tiny kernels the first time and then remembered on disk."""
        return probe(self.context, self.compute, self.device)

    @functools.cached_property
    def _staging(self) -> Staging:
        return Staging(self.context, self.transfer, self.device)

    @property
    def budget(self) -> int:
        """Bytes of device memory that a plan may use."""
        share = int(BUDGET_SHARE * self.device.global_memory)
        return share if self.max_memory is None else min(self.max_memory, share)

    @property
    def max_allocation(self) -> int:
        """Bytes that one buffer may take."""
        return min(self.device.max_allocation, self.budget)

    def items_that_fit(self, needs: Sequence[BufferNeed], *, minimum: int = 1, item: str = "item") -> int:
        """Return how many items fit beside what is in use already; see `runtime.memory.items_that_fit`."""
        free = self.budget - self.memory.used
        return items_that_fit(needs, budget=free, max_allocation=self.max_allocation, minimum=minimum, item=item)

    def group_size(self, wanted: int, *, least: int = 1) -> int:
        """Return how many work-items a group of a kernel shall have: as many as wanted, or as the device takes.

        Parameters
        ----------
        wanted : int
            A power of two; it is halved until the device takes it.
        least : int
            The kernel cannot do with fewer.

        Raises
        ------
        DeviceError
            The device takes fewer than `least`.
        """
        while wanted > self.device.max_work_group:
            wanted //= 2
        if wanted < least:
            most = self.device.max_work_group
            raise DeviceError(f"{self.device} takes {most} work-items a group, too few: use another device")
        return wanted

    # Kernels

    def kernel(self, source: str, name: str, *, exact: Define = True, **defines: Define) -> Kernel:
        """Return a kernel, built at the first call with these parameters.

        Parameters
        ----------
        source : str
            Path below `kernels_cl`: "omega/ld.cl".
        name : str
            Name of the kernel in that source.
        exact : bool
            False allows approximate floating point arithmetic.
        **defines
            `-D` parameters, beside those of the tuning (`VW`, `BUILTIN_POPCOUNT`), which they replace.

        Raises
        ------
        BuildError
            It does not compile, or the source holds no such kernel.
        """
        options = build_options(self.device, {**self.tuning.defines(), **defines}, exact=bool(exact))
        key = (source, name, tuple(options))
        if key not in self._kernels:
            program = self._program(source, options)
            try:
                handle = opencl().Kernel(program, name)
            except opencl().Error as error:
                raise BuildError(f"{source} holds no kernel {name} ({error})") from error
            self._kernels[key] = Kernel(name, source, handle, _most_items(handle, self.device))
        return self._kernels[key]

    def _program(self, source: str, options: list[str]) -> pyopencl.Program:
        key = (source, tuple(options))
        if key not in self._programs:
            with self.profile.mark(f"build {source}"):
                self._programs[key] = build_program(self.context, self.device, source, options)
        return self._programs[key]

    def launch(
        self,
        kernel: Kernel,
        global_size: tuple[int, ...],
        local_size: tuple[int, ...] | None,
        *args: Any,
        after: Iterable[pyopencl.Event] = (),
    ) -> pyopencl.Event:
        """Enqueue a kernel on the compute queue.

        Parameters
        ----------
        kernel : Kernel
            From `kernel`.
        global_size, local_size : tuple of int
            Work-items in each dimension; the local size has to divide the global one.
        *args
            `DeviceArray`, NumPy scalars, `local(nbytes)`; a Python int becomes 32 bits where it fits and 64 where not,
            a Python float becomes 32 bits.
        after : iterable of pyopencl.Event
            Events to wait for beside those that the arrays carry.

        Returns
        -------
        pyopencl.Event

        Raises
        ------
        DeviceLostError, AllocationError
            The device gave up.
        """
        cl = opencl()
        arrays = [arg for arg in args if isinstance(arg, DeviceArray)]
        waits = [*after, *(array.ready for array in arrays if array.ready is not None)]
        try:
            for index, value in enumerate(args):
                _bind(kernel.handle, index, value)
            start = time.perf_counter_ns()
            event = cl.enqueue_nd_range_kernel(
                self.compute, kernel.handle, global_size, local_size, wait_for=waits or None
            )
            if self.profile.enabled:
                self._record(kernel.name, "compute", event, start)
        except cl.Error as error:
            translated = translate(error, self.device, f"running {kernel.name}")
            if translated is None:
                raise
            raise translated from error
        for array in arrays:
            array.ready, array.used = None, event
        return event  # type: ignore[no-any-return]

    def group_of(self, kernel: Kernel, wanted: int) -> int:
        """Return how many work-items a group of a built kernel has: as many as wanted (a power of two), or as fit."""
        lanes = self.group_size(wanted)
        while lanes > kernel.most_items:
            lanes //= 2
        return lanes

    def launch_items(self, kernel: Kernel, items: int, *args: Any, lanes: int | None = None) -> None:
        """Enqueue a kernel with a work-item for each item; it has to do nothing for those that fill the last group.

        Parameters
        ----------
        kernel : Kernel
            Of one dimension.
        items : int
            Nothing is enqueued for 0.
        *args
            As `launch` takes them.
        lanes : int, optional
            The work-group's size; that of the tuning if not given. Fewer where the device or the kernel takes no more.
        """
        lanes = self.group_of(kernel, self.tuning.local_size if lanes is None else lanes)
        if items:
            self.launch(kernel, (-(-items // lanes) * lanes,), (lanes,), *args)

    @staticmethod
    def local(nbytes: int) -> pyopencl.LocalMemory:
        """Return a kernel argument that stands for so many bytes of local memory."""
        return opencl().LocalMemory(nbytes)  # type: ignore[no-any-return]

    def finish(self) -> None:
        """Wait until the device has done everything."""
        with watching(self.device, "finishing its work"):
            for queue in (self.transfer, self._messages, self.compute):
                queue.finish()

    def wait(self, event: pyopencl.Event) -> None:
        """Wait until one launch has ended."""
        with watching(self.device, "finishing its work"):
            self.compute.flush()
            event.wait()

    # Memory

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
        """Allocate an array on the device, its content undefined.

        Raises
        ------
        AllocationError
            What was asked, what there is and what to change.
        """
        dimensions = (shape,) if isinstance(shape, int) else tuple(shape)
        return buffers.allocate(self.context, self.device, self.memory, dimensions, dtype)

    def pinned(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Allocate a host array that GPUs read and write at full speed and CPU devices share without a copy."""
        dimensions = (shape,) if isinstance(shape, int) else tuple(shape)
        if self.device.unified_memory:
            return buffers.aligned_array(dimensions, dtype)
        array = buffers.pinned_array(self.context, self.transfer, self.device, dimensions, dtype)
        self._staging.know(array)
        return array

    @contextlib.contextmanager
    def lent_pinned(self, size: int) -> Iterator[NDArray[np.uint8]]:
        """Lend pinned memory for the `with` block, uint8 (size,); the next block may get the same.

        To pin memory takes longer than to read most files, so what was given back last is kept, up to `KEPT_BYTES`.
        """
        kept = [array for array in self._kept if array.size == size]
        array = kept[-1] if kept else self.pinned(size, np.uint8)
        self._kept = [other for other in self._kept if other is not array]
        yield array
        if not self.device.unified_memory and size <= KEPT_BYTES:
            self._kept.append(array)
            while sum(other.size for other in self._kept) > KEPT_BYTES:
                del self._kept[0]

    def upload(self, array: NDArray[Any], *, wait: bool = True, share: bool = False) -> DeviceArray:
        """Bring an array to the device.

        Parameters
        ----------
        array : ndarray
            Any shape; made contiguous where it is not.
        wait : bool
            False returns before the copy has ended; the array must not change until then.
        share : bool
            True lets a CPU device work in the array's own memory if that is writable and aligned, as `pinned` makes it:
            until the device array is released, what either side writes, both see.
        """
        array = np.ascontiguousarray(array)
        if share and buffers.shareable(self.device, array):
            return buffers.share(self.context, self.device, array)
        if self.tuning.cpu and self.device.unified_memory:  # no command, which would wait for a core free of kernels
            with self.profile.mark("to device", "transfer"):
                return buffers.allocate(self.context, self.device, self.memory, array.shape, array.dtype, array)
        target = self.empty(array.shape, array.dtype)
        self.write(target, array, wait=wait)
        return target

    def write(self, target: DeviceArray, array: NDArray[Any], offset_items: int = 0, *, wait: bool = True) -> None:
        """Copy a host array into a device array, from item `offset_items` (of the flattened target) on."""
        array = np.ascontiguousarray(array)
        if array.dtype != target.dtype or offset_items < 0 or offset_items + array.size > target.size:
            raise ValueError(f"{array.size} items of {array.dtype} at {offset_items} do not fit into {target}")
        if not array.size:
            return
        start = time.perf_counter_ns()
        with watching(self.device, f"writing {array.nbytes} bytes"):
            place = offset_items * array.itemsize
            if array.nbytes <= SMALL_BYTES:
                event = self._write_small(target, array, place, wait)
            else:
                event = self._staging.write(target, array, place, self._transfer_waits(target), wait)
            for queue in (self.transfer, self._messages):
                queue.flush()  # a wait across queues is only certain to end when the other queue was sent off
            self._record("to device", "transfer", event, start)
        target.ready = None if wait else event

    def download(
        self,
        source: DeviceArray,
        count: int | None = None,
        offset: int = 0,
        *,
        out: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """Copy a device array to the host, after everything enqueued for it.

        Parameters
        ----------
        source : DeviceArray
        count : int, optional
            Items of the flattened array; all, in the array's shape, when missing.
        offset : int
            First item.
        out : ndarray, optional
            Contiguous array of the same dtype and size to fill and return; one from `pinned` is fastest.
        """
        size = source.size - offset if count is None else count
        if size < 0 or offset < 0 or offset + size > source.size:
            raise ValueError(f"{size} items at {offset} are not in {source}")
        result = (
            np.empty(source.shape if count is None and not offset else (size,), source.dtype) if out is None else out
        )
        if result.size != size or result.dtype != source.dtype or not result.flags.c_contiguous:
            raise ValueError(f"{size} items of {source.dtype} do not fit into {result.size} of {result.dtype}")
        if not size:
            return result
        start = time.perf_counter_ns()
        with watching(self.device, f"reading {result.nbytes} bytes"):
            if self.tuning.waiting_helps:
                self.compute.finish()
            elif not self.tuning.cpu:
                self._settle(source)
            if source.host is not None:
                self._read_shared(result, source, offset, start)
            elif result.nbytes <= SMALL_BYTES:
                self._read_small(result, source, offset, start)
            else:
                waits = self._transfer_waits(source)
                event = self._staging.read(result, source, offset * source.dtype.itemsize, waits)
                self._record("to host", "transfer", event, start)
        return result

    def _write_small(self, target: DeviceArray, array: NDArray[Any], place: int, wait: bool) -> pyopencl.Event:
        """Write on the queue of small transfers, behind whatever is on its way into the array."""
        waits = self._message_waits(target)
        return opencl().enqueue_copy(  # type: ignore[no-any-return]
            self._messages, target.buffer, array, dst_offset=place, is_blocking=wait, wait_for=waits or None
        )

    def _read_small(self, result: NDArray[Any], source: DeviceArray, offset: int, start: int) -> None:
        """Read on a queue of its own: this need not wait for large transfers, nor for kernels that come later."""
        waits = self._message_waits(source)
        place = offset * source.dtype.itemsize
        event = opencl().enqueue_copy(
            self._messages, result, source.buffer, src_offset=place, is_blocking=True, wait_for=waits or None
        )
        self._record("to host", "transfer", event, start)

    def _read_shared(self, result: NDArray[Any], source: DeviceArray, offset: int, start: int) -> None:
        """Read memory that the device shares: a command would wait until a core is free of kernels."""
        assert source.host is not None
        self._settle(source)
        result.reshape(-1)[:] = source.host.reshape(-1)[offset : offset + result.size]
        self.profile.add("to host", "transfer", start, time.perf_counter_ns())

    @contextlib.contextmanager
    def mapped(self, array: DeviceArray) -> Iterator[NDArray[Any]]:
        """Give the host a CPU device's array as it lies in memory, after everything enqueued for it.

        No kernel may get the array before the `with` block has ended.

        Raises
        ------
        ValueError
            The device does not share the host's memory.
        """
        if not self.tuning.cpu:
            raise ValueError(f"{self.device} has memory of its own; use download and write")
        cl = opencl()
        flags = cl.map_flags.READ | cl.map_flags.WRITE
        self.finish()
        with watching(self.device, f"mapping {array.nbytes} bytes"):
            host, _ = cl.enqueue_map_buffer(self.compute, array.buffer, flags, 0, array.shape, array.dtype)
        try:
            yield host
        finally:
            host.base.release(self.compute)
            self.compute.finish()

    def fill(self, array: DeviceArray, value: float | int | np.generic) -> pyopencl.Event | None:
        """Set every item to one value, on the compute queue."""
        if not array.size:
            return None
        cl = opencl()
        pattern = np.array(value, array.dtype)
        waits = [] if array.ready is None else [array.ready]
        start = time.perf_counter_ns()
        with watching(self.device, f"filling {array.nbytes} bytes"):
            piece = max(1, FILL_BYTES // array.dtype.itemsize) * array.dtype.itemsize
            for begin in range(0, array.nbytes, piece):
                size = min(piece, array.nbytes - begin)
                event = cl.enqueue_fill_buffer(self.compute, array.buffer, pattern, begin, size, waits or None)
                self._record("fill", "compute", event, start)
        array.ready, array.used = None, event
        return event  # type: ignore[no-any-return]

    def _settle(self, array: DeviceArray) -> None:
        """Wait for whatever is under way for an array.

        Where a command has to wait for one of another queue, NVIDIA's driver keeps all others from enqueuing anything
        meanwhile: copies beside kernels came to 15 GB/s, and come to 48 with this wait before.
        """
        for event in (array.ready, array.used):
            if event is not None:
                self.wait(event)

    def _message_waits(self, array: DeviceArray) -> list[pyopencl.Event]:
        return [*self._transfer_waits(array), *([] if array.ready is None else [array.ready])]

    def _transfer_waits(self, array: DeviceArray) -> list[pyopencl.Event]:
        if array.used is None:
            return []
        self.compute.flush()
        return [array.used]

    def _record(self, name: str, lane: str, event: pyopencl.Event, start: int) -> None:
        if not self.profile.enabled:
            return
        if self.traits.timestamps:
            self.profile.record(name, lane, event, start)
        else:  # the runtime reports zeros: wait, and take the host's clock
            event.wait()
            self.profile.add(name, lane, start, time.perf_counter_ns())


def _most_items(handle: Any, device: Device) -> int:
    """Work-items of a group that the device has registers for."""
    what = opencl().kernel_work_group_info.WORK_GROUP_SIZE
    return max(1, int(handle.get_work_group_info(what, device.handle)))


def _bind(handle: Any, index: int, value: Any) -> None:
    """Set one kernel argument."""
    if isinstance(value, DeviceArray):
        if value.buffer is None:
            raise ValueError(f"argument {index}, {value}, was released")
        handle.set_arg(index, value.buffer)
    elif isinstance(value, (np.generic, bool, int, float)):
        # set_arg takes 18 microseconds to find out that a scalar is none of its other kinds; this takes 0.4.
        handle._set_arg_buf(index, _scalar(value))
    else:
        handle.set_arg(index, value)


def _scalar(value: np.generic | float) -> np.generic:
    if isinstance(value, np.generic):
        return value
    if isinstance(value, float):
        return np.float32(value)
    if -(1 << 31) <= value < 1 << 31:
        return np.int32(value)
    return np.uint32(value) if 0 <= value < 1 << 32 else np.int64(value)
