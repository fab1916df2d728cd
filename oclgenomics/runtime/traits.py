"""What a device really can do, found by tiny kernels; extension strings are not trusted.

The answers are kept on disk, by device and driver, so that later processes do not compile the probes.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import BuildError
from oclgenomics.runtime import diskcache, processor
from oclgenomics.runtime.devices import Device
from oclgenomics.runtime.loader import opencl
from oclgenomics.runtime.program import build_options, build_program
from oclgenomics.runtime.source import load_source

if TYPE_CHECKING:
    import pyopencl


_ITEMS = 1024
_SOURCES = ("common/probe_fp64.cl", "common/probe_int64_atomics.cl", "common/probe_float.cl")


@dataclass(frozen=True)
class Traits:
    """Probed abilities.

    Attributes
    ----------
    fp64 : bool
        Double arithmetic works and rounds as IEEE 754.
    int64_atomics : bool
        64-bit atomic addition and compare-exchange work in global memory.
    timestamps : bool
        Events carry times; where not, profiles use the host's clock.
    correctly_rounded_divide : bool
        Float division and square root round as IEEE 754 in `exact` builds.
    fused_multiply_add : bool
        `fma` rounds once.
    separate_multiply_add : bool
        `FP_CONTRACT OFF` is obeyed.
    reciprocal_error : float
        Largest relative error of `native_recip` from 2^-100 to 2^100, rounded up to three digits; at most
        `idiom_values.RECIPROCAL_ERROR` on devices that pass the self-test, and 1 where it could not be measured.
    """

    fp64: bool
    int64_atomics: bool
    timestamps: bool
    correctly_rounded_divide: bool
    fused_multiply_add: bool
    separate_multiply_add: bool
    reciprocal_error: float


def probe(context: pyopencl.Context, queue: pyopencl.CommandQueue, device: Device) -> Traits:
    """Return the traits of a device: from the disk cache, else by running the probes."""
    parts = ["3", device.key, processor.description(), *map(load_source, _SOURCES)]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    kept = diskcache.load("traits", key)
    if kept is not None:
        values = json.loads(kept)
        if set(values) == {field.name for field in fields(Traits)}:
            return Traits(**values)
    run = _Probe(context, queue, device)
    rounding, error = run.float_rounding()
    traits = Traits(
        fp64=run.fp64(),
        int64_atomics=run.int64_atomics(),
        timestamps=run.timestamps,
        correctly_rounded_divide=rounding[0],
        fused_multiply_add=rounding[1],
        separate_multiply_add=rounding[2],
        reciprocal_error=error,
    )
    diskcache.store("traits", key, json.dumps(asdict(traits)).encode())
    return traits


class _Probe:
    """Builds and runs the probe kernels; every trouble a device has with one means that it lacks the trait."""

    def __init__(self, context: pyopencl.Context, queue: pyopencl.CommandQueue, device: Device) -> None:
        self.context, self.queue, self.device = context, queue, device
        self.timestamps = False

    def _run(self, name: str, inputs: list[NDArray[Any]], result: NDArray[Any]) -> NDArray[Any] | None:
        cl = opencl()
        try:
            program = build_program(self.context, self.device, f"common/{name}.cl", build_options(self.device, {}))
            kernel = cl.Kernel(program, name)
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
            buffers = [cl.Buffer(self.context, flags, hostbuf=array) for array in (*inputs, result)]
            kernel.set_args(*buffers)
            event = cl.enqueue_nd_range_kernel(self.queue, kernel, (_ITEMS,), None)
            cl.enqueue_copy(self.queue, result, buffers[-1])
            # Some runtimes report zeros or mere ordinals; nothing is queued, run and done within 100 ns.
            self.timestamps = event.profile.start > 0 and event.profile.end - event.profile.queued > 100
        except (cl.Error, BuildError):
            return None
        return result

    def fp64(self) -> bool:
        # The extension string is necessary, if not sufficient: some compilers crash rather than fail without it.
        if "cl_khr_fp64" not in self.device.extensions:
            return False
        random = np.random.default_rng(1)
        x, y = random.uniform(1, 2, (2, _ITEMS))
        found = self._run("probe_fp64", [x, y], np.zeros(_ITEMS))
        return found is not None and bool(np.array_equal(found, x * y + x / y))

    def int64_atomics(self) -> bool:
        if "cl_khr_int64_base_atomics" not in self.device.extensions:
            return False
        found = self._run("probe_int64_atomics", [], np.zeros(2, np.uint64))
        total = _ITEMS * (_ITEMS - 1) // 2 + (_ITEMS << 33)
        return found is not None and found.tolist() == [total, total]

    def float_rounding(self) -> tuple[tuple[bool, bool, bool], float]:
        random = np.random.default_rng(2)
        x, y = random.uniform(1, 2, (2, _ITEMS)).astype(np.float32)
        wide = wide_numbers(_ITEMS)
        found = self._run("probe_float", [x, y, wide], np.zeros(5 * _ITEMS, np.float32))
        if found is None:
            return (False, False, False), 1.0
        quotient, root, fused, separate, reciprocal = found.reshape(_ITEMS, 5).T
        exact = x.astype(np.float64) * y - x  # 48 and 24 bits: the difference is exact in float64
        rounding = (
            bool(np.array_equal(quotient, x / y) and np.array_equal(root, np.sqrt(x))),
            bool(np.array_equal(fused, exact.astype(np.float32))),
            bool(np.array_equal(separate, x * y - x)),
        )
        error = np.abs(reciprocal * wide.astype(np.float64) - 1).max()
        return rounding, float(f"{error * 1.005:.2e}") if error < 1 else 1.0  # also for NaN


def wide_numbers(items: int) -> NDArray[np.float32]:
    """Draw numbers from 2^-100 to 2^100, the same each time."""
    random = np.random.default_rng(8)
    return (random.uniform(1, 2, items) * np.exp2(np.linspace(-100, 99, items))).astype(np.float32)
