"""The scan's kernels on one device, what is the same in all of a scan's passes, and the arrays of one pass.

`PassAtWork.launch` finds what a kernel takes by the names of its parameters, among the arrays and numbers of the scan,
of the pass and of the block at work.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import DeviceError
from oclgenomics.omega.device.sites import BitPlanes, DeviceSites
from oclgenomics.omega.options import EPSILON, LD_MEASURES, ScanOptions
from oclgenomics.omega.plan.batch import whole_unit
from oclgenomics.omega.plan.kernels import KERNEL_TILES
from oclgenomics.omega.plan.passes import Block, Launches, Pass
from oclgenomics.omega.plan.windows import TILE
from oclgenomics.runtime import DeviceArray, Engine, Kernel

ANY_BORDER = 1 << 30
CPU_COLUMNS = 256  # left borders a CPU work-item walks in a row
CPU_LANES = 8  # sites or scores in an explicit vector; the doubles and longs behind them fill two to four registers
FINE_RECIPROCAL = 2.0**-22  # measured error of native_recip, half of what the bounds of tiles.clh leave to it
LEAST = 2.0**-30  # instead of 0, as scan_tiles.cl says
MIN_LANES = 16  # of a work-group on GPUs: a row of items of `pair_values`
PAIR_ROW, TILE_ROW = 16, 8  # items in a row of a work-group of `pair_values`, and of `scan_tiles` on GPUs
WORK_BYTES = 256 << 20  # most memory for the candidates, and for the tiles' sums and peaks, of the windows at work

SOURCES = {
    "mark_words": "pair_values", "pair_values": "pair_values", "allele_values": "allele_values",
    "suffix_rows": "region_sums", "accumulate_columns": "region_sums", "sum_tiles": "region_sums",
    "save_carry": "region_sums", "save_left_sums": "region_sums", "scan_one": "scan_one", "scan_two": "scan_two",
    "best_omega": "best_omega", "save_left_tiles": "scan_tiles", "save_right_tiles": "scan_tiles",
    "scan_tiles": "scan_tiles", "best_tiles": "best_tiles",
}  # fmt: skip
SIZED = {"pair_values", "suffix_rows", "scan_one", "scan_two", "best_omega", "scan_tiles", "best_tiles"}
GPU_GROUPS = {  # work-items of a group, where the source is compiled for them; fewer where the device takes no more
    "pair_values": 256, "region_sums": 256, "scan_one": 128, "scan_two": 128, "best_omega": 64, "scan_tiles": 64,
    "best_tiles": 128,
}  # fmt: skip
CPU_GROUPS = {**dict.fromkeys(GPU_GROUPS, 1), "scan_one": 64}


class ScanKernels:
    """Kernels for one kind of data and precision, each built when it is first asked for: `kernels["scan_two"]`.

    Attributes
    ----------
    vector_width : int
        Sites in an explicit vector of `pair_values`.
    rows_each : int
        Rows a work-item of `pair_values` does at a time where it uses explicit vectors.
    columns : int
        Left borders a work-item of `scan_two` walks.

    Raises
    ------
    DeviceError
        The device takes too few work-items in a group.
    """

    def __init__(self, engine: Engine, planes: BitPlanes, options: ScanOptions) -> None:
        cpu, compat = engine.tuning.cpu, options.precision == "compat"
        self._engine = engine
        self._kernels: dict[str, Kernel] = {}
        self.vector_width = 1 if not cpu else 2 * CPU_LANES if engine.tuning.vector_popcount else CPU_LANES
        self.rows_each = 2 if planes.missing else 16
        self.columns = CPU_COLUMNS if cpu else 1
        self._lanes = {
            source: engine.group_size(wanted, least=min(wanted, MIN_LANES))
            for source, wanted in (CPU_GROUPS if cpu else GPU_GROUPS).items()
        }
        self._common = {"COMPAT": int(compat), "VW": 1}
        measure = {"MEASURE": LD_MEASURES.index(options.ld)}
        data = {**measure, "GENOTYPES": int(planes.genotypes), "WIDE": int(planes.wide)}
        vectors = {"VW": CPU_LANES if cpu else 1}
        self._defines: dict[str, dict[str, int]] = {
            "pair_values": {**data, "VW": self.vector_width, "MASKED": int(planes.missing)},
            "allele_values": data,
            "region_sums": {"CPU": int(cpu), "CHECKED": int(options.ld == "RSQUARE" and not compat)},
            "scan_one": measure,
            "scan_two": {**measure, **vectors, "COLUMNS": self.columns},
            "best_omega": measure,
            "scan_tiles": {**measure, **vectors, "CPU": int(cpu)},
            "best_tiles": measure,
        }

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._kernels:
            self._kernels[name] = self._fitted(name) if name in SIZED else self._built(name)
        return self._kernels[name]

    def lanes(self, name: str) -> int:
        """Work-items in a group of a kernel that is compiled for their number."""
        return self._lanes[SOURCES[self[name].name]]

    def group(self, name: str, wanted: int) -> int:
        """Work-items in a group of any other kernel: as many as wanted (a power of two), or as the device takes."""
        return self._engine.group_of(self[name], wanted)

    def _fitted(self, name: str) -> Kernel:
        """The kernel, compiled for smaller groups where the device has no registers for those that are wanted."""
        source = SOURCES[name]
        while True:
            kernel, lanes = self._built(name), self._lanes[source]
            if lanes <= kernel.max_items:
                return kernel
            if lanes <= MIN_LANES:
                most = kernel.max_items
                raise DeviceError(
                    f"{self._engine.device} takes {most} work-items a group of {name}, too few: use another `device`"
                )
            self._lanes[source] = lanes // 2

    def _built(self, name: str) -> Kernel:
        source = SOURCES[name]
        defines = {**self._common, **self._defines[source], **self._group_defines(source)}
        return self._engine.kernel(f"omega/{source}.cl", name, **defines)

    def _group_defines(self, source: str) -> dict[str, int]:
        lanes = self._lanes.get(source, 1)
        if source == "region_sums":
            return {"SCAN_LANES": lanes}
        if source == "pair_values":
            return {"SIDE_J": max(1, lanes // PAIR_ROW)}
        if source == "scan_tiles":
            columns = min(TILE_ROW, lanes)
            refine = not self._engine.tuning.cpu and self._engine.traits.reciprocal_error > FINE_RECIPROCAL
            return {"LANES": 1, "LANES_I": columns, "LANES_J": lanes // columns, "REFINE": int(refine)}
        return {"LANES": lanes}


@dataclass(frozen=True)
class ScanSetup:
    """The sites, the kernels for them, and the numbers that they get: the same in all passes of a scan.

    Attributes
    ----------
    engine : Engine
    planes : BitPlanes
        Of the sites, on the host.
    sites : DeviceSites
        The same on the device.
    kernels : ScanKernels
    launches : Launches
    options : ScanOptions
    bits : int
        Fraction bits of exact sums.
    """

    engine: Engine
    planes: BitPlanes
    sites: DeviceSites
    kernels: ScanKernels
    launches: Launches
    options: ScanOptions
    bits: int

    @classmethod
    def of(cls, engine: Engine, planes: BitPlanes, sites: DeviceSites, options: ScanOptions, *, bits: int) -> ScanSetup:
        """Prepare a scan whose exact sums have so many fraction bits."""
        launches = Launches(engine.device.compute_units, cpu=engine.tuning.cpu)
        return cls(engine, planes, sites, ScanKernels(engine, planes, options), launches, options, bits)

    @property
    def compat(self) -> bool:
        """Whether sums are OmegaPlus' float32 ones."""
        return self.options.precision == "compat"

    @property
    def scale(self) -> float:
        """What values are multiplied with in exact sums."""
        whole = whole_unit(self.planes.units, self.options, complete=not self.planes.missing)
        return float(whole or 2.0**self.bits)

    @property
    def epsilon(self) -> float:
        """What keeps omega finite, in the unit of the sums; for D and its kin the unit."""
        return EPSILON if self.compat else self.scale if self.options.ld != "RSQUARE" else EPSILON * self.scale

    @property
    def sum_type(self) -> type[np.generic]:
        """Type of the sums."""
        return np.float32 if self.compat else np.int64

    @property
    def numbers(self) -> dict[str, Any]:
        """Numbers by the names that kernels give them."""
        planes, border = self.planes, self.options.tried_border
        return {
            "words": planes.words,
            "units": planes.units,
            "haplotypes": planes.haplotypes,
            "scale": self.scale,
            "epsilon": self.epsilon,
            "border": border if border >= 0 else ANY_BORDER,
        }


@contextmanager
def pass_arrays(engine: Engine, walk: Pass, sum_type: type[np.generic]) -> Iterator[dict[str, DeviceArray]]:
    """Allocate the arrays of a pass by the names that kernels give them, and give them back at its end.

    - `windows`, int32 (windows, WINDOW_FIELDS): the table of the windows.
    - `sums` (sums_size,): values of the block's pairs, then the sums M of its regions.
    - `carry` (carry_size,): the last row of the block before.
    - `reach`, int32 (sites,): as in `Pass`.
    - `left`, and `left_float`, float32 (slots_size,): sums of the left parts of the windows under way, and rounded.
    - With windows for the tile kernel, `windows_of_i` and `windows_of_j`, int32 (tiles, 2), as in `Pass`, and
      `left_tiles`, float32 (slots * tiles_stride,): left sums less those at the corners of their tiles. On GPUs also
      `sides`, float32 (numbers, 2), of `side_numbers`.
    """
    arrays = {
        "windows": engine.upload(walk.table),
        "sums": engine.empty(walk.sums_size, sum_type),
        "carry": engine.empty(walk.carry_size, sum_type),
        "reach": engine.upload(walk.reach),
        "left": engine.empty(walk.slots_size, sum_type),
        "left_float": engine.empty(walk.slots_size, np.float32),
    }
    if any(stretch.kernel == KERNEL_TILES for block in walk.blocks for stretch in block.stretches):
        arrays["windows_of_i"] = engine.upload(walk.windows_of_i)
        arrays["windows_of_j"] = engine.upload(walk.windows_of_j)
        arrays["left_tiles"] = engine.empty(walk.slots * walk.tiles_stride, np.float32)
        if not engine.tuning.cpu:
            arrays["sides"] = engine.upload(side_numbers(walk.band))
    try:
        yield arrays
    finally:
        for array in arrays.values():
            array.release()


def side_numbers(largest: int) -> NDArray[np.float32]:
    """Return what scan_tiles.cl needs to know of sides of so many sites at most, float32 (largest + 2 TILE, 2)."""
    n = np.arange(-TILE, largest + TILE, dtype=np.float64)
    columns = np.where(n > 0, [np.where(n == 1, LEAST, n - 1), 0.5 / np.maximum(n, 1)], 1.0)
    return np.ascontiguousarray(columns.T, np.float32)


class PassAtWork:
    """One pass of a scan on the device.

    Parameters
    ----------
    setup : ScanSetup
    walk : Pass
    arrays : dict of str to DeviceArray
        Of `pass_arrays`, and those of the best borders so far.
    """

    def __init__(self, setup: ScanSetup, walk: Pass, arrays: dict[str, DeviceArray]) -> None:
        self.setup, self.walk = setup, walk
        self.by_tiles = "left_tiles" in arrays
        self._arrays: dict[str, Any] = {**setup.sites.arrays, **arrays}
        self._numbers = {
            **setup.numbers, "stride": walk.stride, "band": walk.band, "left_stride": walk.left_stride,
            "tiles_stride": walk.tiles_stride,
        }  # fmt: skip

    def launch(
        self, name: str, size: tuple[int, ...], local: tuple[int, ...], block: Block, /, **arguments: Any
    ) -> None:
        """Enqueue a kernel for a block; `arguments` are those that neither the scan, the pass nor the block knows."""
        numbers = {**self._numbers, **block.layout, **arguments}
        known = {**self._arrays, **numbers, "block": numbers, "tiles": numbers, "walk": numbers}
        launch_known(self.setup.engine, self.setup.kernels[name], size, local, known)


def launch_known(
    engine: Engine, kernel: Kernel, size: tuple[int, ...], local: tuple[int, ...], known: dict[str, Any]
) -> None:
    """Enqueue a kernel with those of the arrays and numbers that it has parameters for."""
    engine.launch(kernel, size, local, **{name: known[name] for name in kernel.signature.places if name in known})


def work_bytes(engine: Engine) -> int:
    """Bytes that candidates, and tiles' sums and peaks, may take each."""
    return min(WORK_BYTES, engine.budget // 16, engine.max_allocation)


class Workspace:
    """Device arrays of one size whose contents nobody needs any more when they are asked for again.

    Parameters
    ----------
    engine : Engine
    *dtypes : NumPy types
        One for each array.
    """

    def __init__(self, engine: Engine, *dtypes: type[np.generic]) -> None:
        self._engine, self._dtypes = engine, dtypes
        self._arrays: list[DeviceArray] = []

    def reserve(self, count: int) -> list[DeviceArray]:
        """Return arrays of so many items at least."""
        if not self._arrays or self._arrays[0].size < count:
            self.release()
            self._arrays = [self._engine.empty(count, dtype) for dtype in self._dtypes]
        return self._arrays

    def release(self) -> None:
        """Give the memory back."""
        for array in self._arrays:
            array.release()
        self._arrays = []
