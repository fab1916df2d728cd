"""The kernels of one engine: each is built once, and knows what it may be launched with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oclgenomics.errors import BuildError
from oclgenomics.runtime.devices import Device
from oclgenomics.runtime.loader import opencl
from oclgenomics.runtime.profile import Profile
from oclgenomics.runtime.program import Define, Kernel, build_options, build_program, define_text
from oclgenomics.runtime.signature import signatures_of
from oclgenomics.runtime.source import load_source

if TYPE_CHECKING:
    import pyopencl

__all__ = ["KernelCache"]


class KernelCache:
    """Builds kernels of one device and keeps them.

    Parameters
    ----------
    context : pyopencl.Context
    device : Device
    profile : Profile
        Is told how long builds take.
    """

    def __init__(self, context: pyopencl.Context, device: Device, profile: Profile) -> None:
        self._context, self._device, self._profile = context, device, profile
        self._programs: dict[tuple[str, ...], pyopencl.Program] = {}
        self._kernels: dict[tuple[str, ...], Kernel] = {}

    def kernel(self, source: str, name: str, defines: dict[str, Define], *, exact: bool) -> Kernel:
        """Return a kernel, built at the first call with these parameters; see `Engine.kernel`."""
        options = build_options(self._device, defines, exact=exact)
        key = (source, name, *options)
        if key not in self._kernels:
            self._kernels[key] = self._build(source, name, defines, options)
        return self._kernels[key]

    def release(self) -> None:
        """Forget all kernels."""
        self._kernels.clear()
        self._programs.clear()

    def _build(self, source: str, name: str, defines: dict[str, Define], options: list[str]) -> Kernel:
        key = (source, *options)
        if key not in self._programs:
            with self._profile.mark(f"build {source}"):
                self._programs[key] = build_program(self._context, self._device, source, options)
        try:
            handle = opencl().Kernel(self._programs[key], name)
        except opencl().Error as error:
            raise BuildError(f"{source} holds no kernel {name} ({error})") from error
        texts = tuple((key, define_text(value)) for key, value in defines.items())
        signature = signatures_of(load_source(source), texts)[name]
        return Kernel(name, source, handle, _max_items(handle, self._device), signature)


def _max_items(handle: Any, device: Device) -> int:
    """Work-items of a group that the device has registers for."""
    what = opencl().kernel_work_group_info.WORK_GROUP_SIZE
    return max(1, int(handle.get_work_group_info(what, device.handle)))
