"""The idioms that kernels are made of, each as a tiny kernel: what a device has to compute correctly to be used.

An idiom is a kernel in `kernels_cl/common/check_*.cl` and a function of the same name in `idiom_values`, in NumPy. "The
same bytes on every device" rests on them: on conversions, on division that is rounded correctly, on products and sums
that are not fused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import BuildError
from oclgenomics.runtime.devices import Device, held_cores
from oclgenomics.runtime.loader import opencl
from oclgenomics.runtime.program import build_options, build_program
from oclgenomics.runtime.tuning import tuning_for
from oclgenomics.selftest import idiom_values as values
from oclgenomics.selftest.idiom_values import ITEMS, Case

if TYPE_CHECKING:
    import pyopencl


SCALAR, VECTOR, DOUBLE = "common/check_scalar.cl", "common/check_vector.cl", "common/check_fp64.cl"
SOURCES = (SCALAR, VECTOR, DOUBLE)
CPU_WIDTH = 8  # of the vectors that kernels have on all CPUs; others are as wide as the tuning says
BYTES_WIDTH = 16  # of vectors of bytes
CPU_GROUP, GPU_GROUP = 64, 256


@dataclass(frozen=True)
class Idiom:
    """One kernel and its expected results.

    Attributes
    ----------
    kernel : str
        Its name.
    source : str
        Its file below `kernels_cl`.
    case : callable
        Returns inputs and outputs.
    width : int
        Lanes of vectors (`-D VW`).
    each : int
        Items per work-item.
    group : int, optional
        Work-items of a group.
    """

    kernel: str
    source: str
    case: Callable[[], Case]
    width: int = 1
    each: int = 1
    group: int | None = None

    @property
    def name(self) -> str:
        """The kernel's name in words, and the width of its vectors."""
        name = self.kernel.replace("_", " ")
        return name if self.width == 1 else f"{name} x {self.width}"


def idioms_for(device: Device) -> list[Idiom]:
    """List the idioms that a device needs: vectors where its kernels have them, doubles where it has any."""
    tuning = tuning_for(device)
    widths = sorted({CPU_WIDTH, tuning.vector_width} - {1}) if tuning.cpu else []
    group = group_size(device)
    found = [Idiom(case.__name__, SCALAR, case) for case in values.PLAIN_CASES]
    found.append(Idiom("groups", SCALAR, lambda: values.groups(group), group=group))
    found.append(Idiom("ordered_groups", SCALAR, lambda: values.ordered_groups(group), group=group))
    if tuning.cpu:
        found.append(Idiom("loose_memory", SCALAR, values.loose_memory))
        found.append(Idiom("vector_shifts", VECTOR, values.vector_shifts, CPU_WIDTH, 8))
        found.append(Idiom("vector_bytes", VECTOR, values.vector_bytes, BYTES_WIDTH, BYTES_WIDTH))
        found.append(Idiom("vector_marks", VECTOR, values.vector_marks, BYTES_WIDTH, BYTES_WIDTH))
        found.append(Idiom("vector_windows", VECTOR, values.vector_windows, BYTES_WIDTH, BYTES_WIDTH))
        found.append(Idiom("vector_lines", VECTOR, values.vector_lines, BYTES_WIDTH, BYTES_WIDTH))
        wide = tuning.vector_bytes // 4
        found.append(Idiom("vector_shorts", VECTOR, lambda: values.vector_shorts(2 * wide), wide, 2 * wide))
        found.append(Idiom("vector_columns", VECTOR, lambda: values.vector_columns(wide), wide, 16))
        found.append(Idiom("vector_scores", VECTOR, lambda: values.vector_scores(wide), wide, wide))
        found.append(Idiom("vector_lists", VECTOR, lambda: values.vector_lists(wide), wide, wide))
    for width in widths:
        found += _vectors(width)
    if "cl_khr_fp64" in device.extensions:
        found += [Idiom("doubles", DOUBLE, values.doubles, w, w) for w in (1, *([CPU_WIDTH] if tuning.cpu else []))]
    return found


def group_size(device: Device) -> int:
    """Return the size of the work-groups that are tried: a power of two."""
    most = CPU_GROUP if tuning_for(device).cpu else GPU_GROUP
    return min(most, 1 << (device.max_work_group.bit_length() - 1))


def _vectors(width: int) -> list[Idiom]:
    cases: dict[str, Callable[[], Case]] = {
        "vector_conversions": values.vector_conversions,
        "vector_masks": lambda: values.vector_masks(width),
        "vector_arithmetic": lambda: values.vector_arithmetic(width),
        "vector_longs": lambda: values.vector_longs(width),
        "vector_popcount": lambda: values.vector_popcount(width),
        "vector_memory": lambda: values.vector_memory(width),
    }
    return [Idiom(name, VECTOR, case, width, width) for name, case in cases.items()]


class Trial:
    """Runs idioms on one device, with every program built once.

    Parameters
    ----------
    device : Device
    alone : bool
        Build nothing but the kernel of the idiom that is run.
    """

    def __init__(self, device: Device, *, alone: bool = False) -> None:
        cl = opencl()
        self.device, self.alone = device, alone
        with held_cores(device):
            self.context = cl.Context([device.handle])
        self.queue = cl.CommandQueue(self.context, device.handle, cl.command_queue_properties.PROFILING_ENABLE)
        self._programs: dict[tuple[str, ...], pyopencl.Program] = {}

    def run(self, idiom: Idiom) -> str | None:
        """Return what is wrong with an idiom, or None."""
        case = idiom.case()
        try:
            found = self._results(idiom, case)
        except (opencl().Error, BuildError) as error:
            return " ".join(str(error).split())
        wrong = case.wrong(found)
        total = sum(array.size for array in case.after)
        places = ", ".join(str(number) for number, count in enumerate(wrong) if count)
        return f"{sum(wrong)} of {total} values are wrong (result {places})" if any(wrong) else None

    def _results(self, idiom: Idiom, case: Case) -> list[NDArray[Any]]:
        cl = opencl()
        kernel = cl.Kernel(self._program(idiom), idiom.kernel)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        arrays = [np.ascontiguousarray(array) for array in (*case.inputs, *case.before)]
        buffers = [cl.Buffer(self.context, flags, hostbuf=array) for array in arrays]
        kernel.set_args(*buffers)
        local = None if idiom.group is None else (idiom.group,)
        cl.enqueue_nd_range_kernel(self.queue, kernel, (ITEMS // idiom.each,), local)
        found = [np.empty_like(array) for array in case.before]
        for array, buffer in zip(found, buffers[len(case.inputs) :], strict=True):
            cl.enqueue_copy(self.queue, array, buffer)
        return found

    def _program(self, idiom: Idiom) -> pyopencl.Program:
        popcount = tuning_for(self.device).builtin_popcount
        defines: dict[str, Any] = {"ITEMS": ITEMS, "VW": idiom.width, "BUILTIN_POPCOUNT": popcount}
        if idiom.source == SCALAR:
            defines["LANES"] = group_size(self.device)
        if self.alone:
            defines |= {"ONLY": 1, f"ONLY_{idiom.kernel}": 1}
        key = (idiom.source, *build_options(self.device, defines))
        if key not in self._programs:
            self._programs[key] = build_program(self.context, self.device, key[0], list(key[1:]), fresh=True)
        return self._programs[key]
