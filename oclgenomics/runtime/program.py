"""Build kernels, keep their binaries on disk, and show build failures as one line about the real file."""

from __future__ import annotations

import hashlib
import os
import re
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oclgenomics import notices
from oclgenomics.errors import BuildError
from oclgenomics.runtime import diskcache, processor
from oclgenomics.runtime.devices import Device
from oclgenomics.runtime.loader import opencl
from oclgenomics.runtime.profile import Profile
from oclgenomics.runtime.signature import Signature, signatures_of
from oclgenomics.runtime.source import load_source, place_of

if TYPE_CHECKING:
    import pyopencl


Define = int | float | str | bool
_making_calls = threading.Lock()  # PyOpenCL writes a function that calls the kernel; two at a time give one name twice
_WHOLE_TEXT = re.compile(r"^<kernel>:(\d+)", re.MULTILINE)
_MESSAGE = re.compile(r'^"?([\w./-]+\.clh?)"?[:(](\d+)[:)]?(?:(\d+):)?\s*(?:fatal )?error:?\s*(.*)$', re.MULTILINE)


@dataclass(frozen=True)
class Kernel:
    """One kernel of a built program; made once per engine and reused for every launch.

    Attributes
    ----------
    max_items : int
        Work-items that the device takes in a group of this kernel.
    signature : Signature
        What it may be launched with.
    """

    name: str
    source: str
    handle: pyopencl.Kernel
    max_items: int
    signature: Signature


def build_options(device: Device, defines: Mapping[str, Define], *, exact: bool = True) -> list[str]:
    """Return the compiler's options.

    Parameters
    ----------
    device : Device
        Decides whether correctly rounded division and square root need to be, and can be, requested, and whether
        kernels have to do without built-ins of compilers, which simulators do not know.
    defines : mapping
        `-D` parameters; True and False become 1 and 0.
    exact : bool
        False allows the compiler to reorder and approximate floating point arithmetic.
    """
    options = ["-cl-std=CL1.2"]
    if device.family == "oclgrind":
        options.append("-DSIMULATED=1")
    if not exact:
        options.append("-cl-fast-relaxed-math")
    elif device.divide_rounding_option:
        options.append("-cl-fp32-correctly-rounded-divide-sqrt")
    for name, value in sorted(defines.items()):
        options.append(f"-D{name}={define_text(value)}")
    return options


def define_text(value: Define) -> str:
    """Return the value of a `-D` parameter as the compiler gets it."""
    return str(int(value) if isinstance(value, bool) else value)


def build_program(
    context: pyopencl.Context, device: Device, source: str, options: list[str], *, fresh: bool = False
) -> pyopencl.Program:
    """Build a program, or take its binary from the disk cache.

    Parameters
    ----------
    context : pyopencl.Context
    device : Device
    source : str
        Path below `kernels_cl`.
    options : list of str
        From `build_options`.
    fresh : bool
        Build it from its source and keep nothing.

    Raises
    ------
    BuildError
        The source does not compile; the message names the first error's file and line, a note holds the whole log.
    """
    text = load_source(source)
    if fresh:
        return _from_source(context, device, source, text, options)
    key = _key(device, text, options)
    program = _from_binary(context, device, diskcache.load("programs", key), options)
    if program is not None:
        return program
    with notices.doing(f"compiling {source}"):
        program = _from_source(context, device, source, text, options)
    binary = program.binaries[0]
    if binary:
        diskcache.store("programs", key, binary)
    return program


def _key(device: Device, text: str, options: list[str]) -> str:
    parts = ["1", device.key, "\n".join(options), text]
    if device.kind == "cpu":
        parts.append(processor.description())  # binaries hold machine code of this very processor
        # Intel's runtime compiles for another one, or in another way, if it is told so.
        parts += [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("CL_CONFIG_")]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _from_binary(
    context: pyopencl.Context, device: Device, binary: bytes | None, options: list[str]
) -> pyopencl.Program | None:
    if binary is None:
        return None
    cl = opencl()
    try:
        raw = cl._Program(context, [device.handle], [binary])
        _build(raw, device, options)
    except cl.Error:  # a driver may refuse its own old binary: the source is always there
        return None
    return cl.Program(raw)  # type: ignore[no-any-return]


def _from_source(
    context: pyopencl.Context, device: Device, source: str, text: str, options: list[str]
) -> pyopencl.Program:
    cl = opencl()
    # PyOpenCL's own build adds a second cache, an include path and warnings to the plain OpenCL call.
    raw = cl._Program(context, text)
    try:
        _build(raw, device, options)
    except cl.Error as error:
        raise _build_error(raw, device, source, text, options, error) from None
    return cl.Program(raw)  # type: ignore[no-any-return]


_filters = threading.Lock()  # of warnings, which are those of all threads


def _build(raw: Any, device: Device, options: list[str]) -> None:
    with _filters, warnings.catch_warnings():  # remarks of a compiler that succeeded
        warnings.simplefilter("ignore", opencl().CompilerWarning)
        raw.build(" ".join(options).encode(), [device.handle])


def _build_error(raw: Any, device: Device, source: str, text: str, options: list[str], error: Exception) -> BuildError:
    cl = opencl()
    try:
        log = str(raw.get_build_info(device.handle, cl.program_build_info.LOG))
    except cl.Error:
        log = ""
    # NVIDIA's compiler ignores #line and counts the lines of the whole text.
    log = _WHOLE_TEXT.sub(lambda match: place_of(text, int(match[1])), log.strip() or str(error))
    matches = _MESSAGE.findall(log)
    if matches:
        file, line, column, message = matches[0]
        first = f"{file}:{line}:{column + ':' if column else ''} {message.strip()}"
        more = f" (and {len(matches) - 1} more)" if len(matches) > 1 else ""
    else:
        first, more = " ".join(log.split())[:300], ""
    built = BuildError(f"{source} does not compile on {device}: {first}{more}; please report it with --debug's output")
    built.add_note(f"options: {' '.join(options)}\n{log}")
    return built


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
            with _making_calls:
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
