"""The scan's kernels on one device: which variant is built, and the work-group sizes it is built for."""

from __future__ import annotations

from oclgenomics.errors import DeviceError
from oclgenomics.omega.device.bit_planes import BitPlanes
from oclgenomics.omega.ld.measures import LD_MEASURES
from oclgenomics.omega.options import ScanOptions
from oclgenomics.runtime import Engine
from oclgenomics.runtime.program import Kernel

__all__ = ["ScanKernels"]

CPU_COLUMNS = 256  # left borders a CPU work-item walks in a row
CPU_LANES = 8  # sites or scores in an explicit vector; the doubles and longs behind them fill two to four registers
FINE_RECIPROCAL = 2.0**-22  # measured error of native_recip, half of what the bounds of tiles.clh leave to it
MIN_LANES = 16  # of a work-group on GPUs: a row of items of `pair_values`
PAIR_ROW, TILE_ROW = 16, 8  # items in a row of a work-group of `pair_values`, and of `scan_tiles` on GPUs

SOURCES = {
    "pair_values": "omega/pair_values.cl",
    "allele_values": "omega/allele_values.cl",
    "suffix_rows": "omega/region_sums.cl",
    "accumulate_columns": "omega/region_sums.cl",
    "sum_tiles": "omega/region_sums.cl",
    "save_carry": "omega/region_sums.cl",
    "save_left_sums": "omega/region_sums.cl",
    "scan_one": "omega/scan_one.cl",
    "scan_two": "omega/scan_two.cl",
    "best_omega": "omega/best_omega.cl",
    "save_left_tiles": "omega/scan_tiles.cl",
    "save_right_tiles": "omega/scan_tiles.cl",
    "scan_tiles": "omega/scan_tiles.cl",
    "best_tiles": "omega/best_tiles.cl",
}
GPU_GROUPS = {  # work-items of a group, where the source is compiled for them; fewer where the device takes no more
    "omega/pair_values.cl": 256,
    "omega/region_sums.cl": 256,  # suffix_rows
    "omega/scan_one.cl": 128,
    "omega/scan_two.cl": 128,
    "omega/best_omega.cl": 64,
    "omega/scan_tiles.cl": 64,
    "omega/best_tiles.cl": 128,
}
CPU_GROUPS = {**dict.fromkeys(GPU_GROUPS, 1), "omega/scan_one.cl": 64}
SIZED = {"pair_values", "suffix_rows", "scan_one", "scan_two", "best_omega", "scan_tiles", "best_tiles"}


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
        cpu = engine.tuning.cpu
        self._engine = engine
        self._kernels: dict[str, Kernel] = {}
        self.vector_width = CPU_LANES if cpu else 1
        self.rows_each = 2 if planes.missing else 4
        self.columns = CPU_COLUMNS if cpu else 1
        self._lanes = {
            source: engine.group_size(wanted, least=min(wanted, MIN_LANES))
            for source, wanted in (CPU_GROUPS if cpu else GPU_GROUPS).items()
        }
        data = {
            "GENOTYPES": int(planes.genotypes),
            "MEASURE": LD_MEASURES.index(options.ld),
            "WIDE": int(planes.wide),
        }
        compat = options.precision == "compat"
        self._common = {"COMPAT": int(compat), "VW": 1}
        measure = {"MEASURE": data["MEASURE"]}
        sums = {"CPU": int(cpu), "CHECKED": int(options.ld == "RSQUARE" and not compat)}
        self._defines: dict[str, dict[str, int]] = {
            "omega/pair_values.cl": {**data, "MASKED": int(planes.missing), "VW": self.vector_width},
            "omega/allele_values.cl": data,
            "omega/region_sums.cl": sums,
            "omega/scan_one.cl": measure,
            "omega/scan_two.cl": {**measure, "COLUMNS": self.columns, "VW": CPU_LANES if cpu else 1},
            "omega/best_omega.cl": measure,
            "omega/scan_tiles.cl": {
                **measure,
                "CPU": int(cpu),
                "VW": CPU_LANES if cpu else 1,
            },
            "omega/best_tiles.cl": measure,
        }

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._kernels:
            self._kernels[name] = self._fitted(name) if name in SIZED else self._built(name)
        return self._kernels[name]

    def lanes(self, name: str) -> int:
        """Work-items in a group of a kernel that is compiled for their number."""
        kernel = self[name]
        return self._lanes[kernel.source]

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
        return self._engine.kernel(source, name, **defines)

    def _group_defines(self, source: str) -> dict[str, int]:
        lanes = self._lanes.get(source, 1)
        if source == "omega/region_sums.cl":
            return {"SCAN_LANES": lanes}
        if source == "omega/pair_values.cl":
            return {"SIDE_J": max(1, lanes // PAIR_ROW)}
        if source == "omega/scan_tiles.cl":
            columns = min(TILE_ROW, lanes)
            refine = not self._engine.tuning.cpu and self._engine.traits.reciprocal_error > FINE_RECIPROCAL
            return {"LANES": 1, "LANES_I": columns, "LANES_J": lanes // columns, "REFINE": int(refine)}
        return {"LANES": lanes}
