"""One device at work: kernels, memory, copies and profile behind one face."""

from __future__ import annotations

import contextlib
import functools
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from oclgenomics.errors import DeviceError, OclGenomicsError
from oclgenomics.runtime.buffers import Account, DeviceArray, DeviceMemory
from oclgenomics.runtime.devices import Device, held_cores
from oclgenomics.runtime.early_context import taken_context
from oclgenomics.runtime.faults import translate, watching
from oclgenomics.runtime.host_memory import SharedArray
from oclgenomics.runtime.loader import opencl
from oclgenomics.runtime.memory import BufferNeed, DeviceLimits, items_that_fit
from oclgenomics.runtime.profile import Profile, Recorder
from oclgenomics.runtime.program import Define, Kernel, KernelCache
from oclgenomics.runtime.selection import select_device
from oclgenomics.runtime.signature import Parameter
from oclgenomics.runtime.traits import Traits, probe
from oclgenomics.runtime.transfers import Transfers
from oclgenomics.runtime.trust import require_trust
from oclgenomics.runtime.tuning import Tuning, tuning_for

if TYPE_CHECKING:
    import pyopencl


BUDGET_SHARE = 0.8  # of the device's memory; the driver, the display and other processes need some, too


class Checkpoint:
    """A moment of the compute queue, from `Engine.checkpoint`."""

    def __init__(self, transfers: Transfers, event: pyopencl.Event | None) -> None:
        self._transfers, self._event = transfers, event

    def wait(self) -> None:
        """Wait until all kernels that were enqueued before it have ended."""
        if self._event is not None:
            self._transfers.wait(self._event)


class Engine:
    """One device, its kernels and its memory; a context manager that closes it.

    Transfers and kernels run side by side; arrays carry what keeps them in the right order, so callers do not have to.
    An engine belongs to one thread.

    Parameters
    ----------
    device : Device or str, optional
        A device, or a request as `select_device` takes it.
    max_memory : int, optional
        Bytes of device memory that may be in use at a time.
    profile : bool
        Keep the times of kernels and transfers.
    tuning : Tuning, optional
        How kernels are specialised, instead of what suits the device's class.

    Raises
    ------
    NoDeviceError, UnknownDeviceError, UntrustedDeviceError
        From `select_device`.
    """

    def __init__(
        self,
        device: Device | str | None = None,
        *,
        max_memory: int | None = None,
        profile: bool = False,
        tuning: Tuning | None = None,
    ) -> None:
        if isinstance(device, Device):
            require_trust(device)
        self.device = device if isinstance(device, Device) else select_device(device)
        self.tuning = tuning_for(self.device) if tuning is None else tuning
        self.max_memory = max_memory
        self.memory = Account(max_memory)
        self.profile = Profile(profile)
        self._recorder = Recorder(self.profile, lambda: self.traits.timestamps)
        cl = opencl()
        with watching(self.device, "starting"):
            with held_cores(self.device):
                self._context: pyopencl.Context = taken_context(self.device) or cl.Context([self.device.handle])
            flags = cl.command_queue_properties.PROFILING_ENABLE
            self._compute: pyopencl.CommandQueue = cl.CommandQueue(self._context, self.device.handle, flags)
            self._transfers = Transfers(
                self._context, self.device, self.tuning, self._compute, self.memory, self._recorder
            )
        self._cache = KernelCache(self._context, self.device, self.profile)
        self._held: weakref.WeakSet[DeviceMemory] = weakref.WeakSet()  # which views keep alive, too
        self._last: pyopencl.Event | None = None
        self._closed = False

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        if kind is None:
            self.finish()
        self.close()

    def close(self) -> None:
        """Release all arrays and kernels when the device has done everything; twice does no harm."""
        if self._closed:
            return
        with contextlib.suppress(OclGenomicsError):  # a device that is lost has nothing to wait for
            self.finish()
        for memory in list(self._held):
            memory.release()
        self._transfers.release()
        self._cache.release()
        self._last, self._closed = None, True

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError(f"the engine on {self.device} is closed; make another one")

    @functools.cached_property
    def traits(self) -> Traits:
        """What the device can do, probed by tiny kernels the first time and then remembered on disk."""
        return probe(self._context, self._compute, self.device)

    # Planning

    @property
    def budget(self) -> int:
        """Bytes of device memory that a plan may use."""
        share = int(BUDGET_SHARE * self.device.global_memory)
        return share if self.max_memory is None else min(self.max_memory, share)

    @property
    def max_allocation(self) -> int:
        """Bytes that one buffer may take."""
        return min(self.device.max_allocation, self.budget)

    def limits(self, taken: int = 0) -> DeviceLimits:
        """Return what plans have to know of the device, of which so many bytes are taken."""
        free, device = max(self.budget - taken, 0), self.device
        return DeviceLimits(free, self.max_allocation, device.compute_units, device.warp, self.tuning.cpu)

    def items_that_fit(self, needs: Sequence[BufferNeed], *, minimum: int = 1, item: str = "item") -> int:
        """Return how many items fit in addition to what is in use already; see `runtime.memory.items_that_fit`."""
        free = self.budget - self.memory.used
        return items_that_fit(needs, budget=free, max_allocation=self.max_allocation, minimum=minimum, item=item)

    def group_size(self, wanted: int, *, least: int = 1) -> int:
        """Return the size of a kernel's work-groups: the size wanted, or the largest that the device takes.

        Parameters
        ----------
        wanted : int
            A power of two; it is halved until the device takes it.
        least : int
            The fewest work-items that the kernel works with.

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

    def group_of(self, kernel: Kernel, wanted: int) -> int:
        """Return the work-group size of a built kernel: the size wanted (a power of two), or the largest that fits."""
        lanes = self.group_size(wanted)
        while lanes > kernel.max_items:
            lanes //= 2
        return lanes

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
            `-D` parameters, in addition to those of the tuning (`VW`, `BUILTIN_POPCOUNT`), which they replace.

        Raises
        ------
        BuildError
            It does not compile, or the source holds no such kernel.
        """
        self._check_open()
        return self._cache.kernel(source, name, {**self.tuning.defines(), **defines}, exact=bool(exact))

    def launch(
        self, kernel: Kernel, global_size: tuple[int, ...], local_size: tuple[int, ...] | None, /, **arguments: Any
    ) -> None:
        """Enqueue a kernel on the compute queue.

        Parameters
        ----------
        kernel : Kernel
            From `kernel`.
        global_size, local_size : tuple of int
            Work-items in each dimension; the local size has to divide the global one.
        **arguments
            A value for each parameter of the kernel, by its name: a `DeviceArray` of the items' type for a pointer, or
            None where the variant does not read it; a number for anything else, which is cast to the parameter's type;
            for a structure that is passed by value a mapping that has a number for each member, by its name.

        Raises
        ------
        TypeError
            An argument is missing, unknown or of the wrong type.
        ValueError
            A number does not fit into the parameter's type, or an array was released.
        DeviceLostError, AllocationError
            The device gave up.
        """
        self._check_open()
        cl = opencl()
        kernel.signature.check_names(arguments)
        arrays = _bind(kernel, arguments)
        waits = [array.memory.ready for array in arrays if array.memory.ready is not None]
        try:
            start = time.perf_counter_ns()
            event = cl.enqueue_nd_range_kernel(
                self._compute, kernel.handle, global_size, local_size, wait_for=waits or None
            )
            self._recorder.record(kernel.name, "compute", event, start)
        except cl.Error as error:
            translated = translate(error, self.device, f"running {kernel.name}")
            if translated is None:
                raise
            raise translated from error
        for array in arrays:
            array.memory.ready, array.memory.used = None, event
        self._last = event

    def launch_items(self, kernel: Kernel, items: int, /, *, lanes: int | None = None, **arguments: Any) -> None:
        """Enqueue a kernel with a work-item for each item; work-items past the last item have to do nothing.

        Parameters
        ----------
        kernel : Kernel
            Of one dimension.
        items : int
            Nothing is enqueued for 0.
        lanes : int, optional
            The work-group's size; that of the tuning if not given. Fewer where the device or the kernel takes no more.
        **arguments
            As `launch` takes them.
        """
        lanes = self.group_of(kernel, self.tuning.local_size if lanes is None else lanes)
        if items:
            self.launch(kernel, (-(-items // lanes) * lanes,), (lanes,), **arguments)

    # Order

    def finish(self) -> None:
        """Wait until the device has done everything."""
        with watching(self.device, "finishing its work"):
            self._transfers.finish()
            self._compute.finish()

    def checkpoint(self) -> Checkpoint:
        """Return the present moment of the compute queue, to wait for later."""
        return Checkpoint(self._transfers, self._last)

    def wait_for(self, array: DeviceArray) -> None:
        """Wait until all that is under way for an array has ended."""
        self._transfers.wait_for(array)

    # Memory

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
        """Allocate an array on the device, its content undefined.

        Raises
        ------
        AllocationError
            What was asked, what there is and what to change.
        """
        self._check_open()
        return self._noted(self._transfers.empty(shape, dtype))

    def shared(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> SharedArray:
        """Allocate an array that host and device both work on: shared memory on CPU devices, pinned memory on others.

        It counts once as memory in use.

        Raises
        ------
        AllocationError
            As `empty`.
        """
        self._check_open()
        shared = self._transfers.shared(shape, dtype)
        self._noted(shared.device)
        return shared

    def pinned(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Allocate a host array that copies go to and from at full speed."""
        self._check_open()
        return self._transfers.pinned(shape, dtype)

    def upload(self, array: NDArray[Any], *, wait: bool = True) -> DeviceArray:
        """Bring an array to the device.

        Parameters
        ----------
        array : ndarray
            Any shape; made contiguous where it is not.
        wait : bool
            False returns before the copy has ended; the array must not change until then.
        """
        self._check_open()
        return self._noted(self._transfers.upload(array, wait=wait))

    def write(self, target: DeviceArray, array: NDArray[Any], offset_items: int = 0, *, wait: bool = True) -> None:
        """Copy a host array into a device array, from item `offset_items` (of the flattened target) on."""
        self._check_open()
        self._transfers.write(target, array, offset_items, wait=wait)

    def download(
        self, source: DeviceArray, count: int | None = None, offset: int = 0, *, out: NDArray[Any] | None = None
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
        self._check_open()
        return self._transfers.download(source, count, offset, out)

    @contextlib.contextmanager
    def mapped(self, array: DeviceArray) -> Iterator[NDArray[Any]]:
        """Lend the host a CPU device's array in place, after everything enqueued for it.

        No kernel may get the array before the `with` block has ended.

        Raises
        ------
        ValueError
            The device does not share the host's memory.
        """
        self._check_open()
        with self._transfers.mapped(array) as host:
            yield host

    def fill(self, array: DeviceArray, value: float | int | np.generic) -> None:
        """Set every item to one value, on the compute queue."""
        self._check_open()
        self._transfers.fill(array, value)

    def _noted(self, array: DeviceArray) -> DeviceArray:
        self._held.add(array.memory)
        return array


class HostArray:
    """An array that the device writes and the host keeps: the same memory where the two share it.

    Parameters
    ----------
    engine : Engine
    shape, dtype
        As `Engine.empty` takes them.

    Attributes
    ----------
    device : DeviceArray
    """

    def __init__(self, engine: Engine, shape: int | tuple[int, ...], dtype: DTypeLike) -> None:
        self._engine = engine
        self._shared = engine.shared(shape, dtype) if engine.tuning.shares_memory else None
        self.device = engine.empty(shape, dtype) if self._shared is None else self._shared.device

    def read(self) -> NDArray[Any]:
        """Return it as the device has left it, and keep it on the device; neither side may change it any more."""
        if self._shared is None:
            return self._engine.download(self.device)
        self._shared.wait()
        return self._shared.host

    def fetch(self) -> NDArray[Any]:
        """Return it as the device has left it; no kernel may get it any more. The host's memory is the caller's."""
        if self._shared is None:
            return self._engine.download(self.device)
        self._shared.wait()
        self._shared.release()
        return self._shared.host


def _bind(kernel: Kernel, arguments: Mapping[str, Any]) -> list[DeviceArray]:
    """Set a kernel's arguments, checked against its signature; return the arrays among them."""
    arrays: list[DeviceArray] = []
    handle: Any = kernel.handle
    for place, parameter in enumerate(kernel.signature.parameters):
        value = arguments[parameter.name]
        try:
            if parameter.pointer:
                handle.set_arg(place, _buffer(parameter, value))
                if value is not None:
                    arrays.append(value)
            else:
                # set_arg takes 18 microseconds to find out that a scalar is none of its other kinds; this takes 0.4.
                handle._set_arg_buf(place, parameter.cast(value))
        except (TypeError, ValueError) as error:
            raise type(error)(f"{kernel.name}, argument {parameter.name}: {error}") from None
    return arrays


def _buffer(parameter: Parameter, value: DeviceArray | None) -> pyopencl.Buffer | None:
    """The buffer of an array that suits a pointer."""
    if value is None:
        return None
    if not isinstance(value, DeviceArray):
        raise TypeError(f"{value!r} of type {type(value).__name__} is no DeviceArray, for {parameter.kind} *")
    # Types of NumPy's own are one object each, which is sooner compared than what they hold.
    if parameter.dtype is not None and value.dtype is not parameter.dtype and value.dtype != parameter.dtype:
        raise TypeError(f"{value} does not suit {parameter.kind} *")
    if value.memory.buffer is None:
        raise ValueError(f"{value} was released")
    return value.memory.buffer
