"""Arrays that host and device both work on."""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import Any, Protocol

from numpy.typing import NDArray

from oclgenomics.errors import OclGenomicsError
from oclgenomics.runtime.buffers import DeviceArray
from oclgenomics.runtime.host_memory import PinnedMemory

__all__ = ["SharedArray"]


class Copies(Protocol):
    """What brings items to the device and waits for it."""

    def write(self, target: DeviceArray, array: NDArray[Any], offset: int, *, wait: bool) -> None: ...

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def send(self, begin: int = 0, size: int | None = None, *, wait: bool = False) -> None:
        """Let the device see items of the host's array, from `begin` on; all if `size` is not given.

        Unless `wait` is True this returns at once, and those items must not change until `self.wait()`.
        """
        if self.device.memory.host is None:
            items = self.host.reshape(-1)
            end = len(items) if size is None else begin + size
            self._copies.write(self.device, items[begin:end], begin, wait=wait)

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
