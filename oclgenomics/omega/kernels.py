"""The scan's kernels on one device: which variant is built, and the work-group sizes it is built for."""

from __future__ import annotations

from oclgenomics.omega.matrix import SiteMatrix
from oclgenomics.omega.options import LD_MEASURES, ScanOptions
from oclgenomics.runtime import Engine
from oclgenomics.runtime.program import Kernel

__all__ = ["GPU_LANES", "ScanKernels"]

CPU_COLUMNS = 256  # left borders a CPU work-item walks in a row
CPU_LANES = 8  # sites or scores in an explicit vector; the doubles and longs behind them fill two to four registers
GPU_LANES = 128
TILE_LANES = (8, 8)  # items that share a tile on GPUs, along columns and rows: 64 entries of M each
ONE_ULP_RECIPROCAL = ("nvidia", "amd")  # families whose manuals promise it of native_recip
SMALL_LANES = 64  # Kernel I on CPUs, and the merge on GPUs

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
    lanes_one, lanes_two, lanes_best, lanes_tiles : int
        Work-group sizes of `scan_one`, `scan_two`, `best_omega` and `best_tiles`.
    lanes_tile : tuple of int
        Work-group of `scan_tiles`, columns and rows.
    """

    def __init__(self, engine: Engine, matrix: SiteMatrix, options: ScanOptions) -> None:
        cpu = engine.tuning.cpu
        self._engine = engine
        self._kernels: dict[str, Kernel] = {}
        self.vector_width = CPU_LANES if cpu else 1
        self.rows_each = 2 if matrix.missing else 4
        self.columns, self.lanes_two = (CPU_COLUMNS, 1) if cpu else (1, GPU_LANES)
        self.lanes_one, self.lanes_best = (SMALL_LANES, 1) if cpu else (GPU_LANES, SMALL_LANES)
        self.lanes_tiles = 1 if cpu else GPU_LANES
        self.lanes_tile = (1, 1) if cpu else TILE_LANES
        data = {
            "GENOTYPES": int(matrix.genotypes),
            "MEASURE": LD_MEASURES.index(options.ld),
            "WIDE": int(matrix.wide),
        }
        compat = options.precision == "compat"
        self._common = {"COMPAT": int(compat), "VW": 1}
        sums = {"CPU": int(cpu), "CHECKED": int(options.ld == "RSQUARE" and not compat)}
        self._defines: dict[str, dict[str, int]] = {
            "omega/pair_values.cl": {**data, "MASKED": int(matrix.missing), "VW": self.vector_width},
            "omega/allele_values.cl": data,
            "omega/region_sums.cl": sums,
            "omega/scan_one.cl": {"LANES": self.lanes_one},
            "omega/scan_two.cl": {
                "LANES": self.lanes_two,
                "COLUMNS": self.columns,
                "VW": CPU_LANES if cpu else 1,
            },
            "omega/best_omega.cl": {"LANES": self.lanes_best},
            "omega/scan_tiles.cl": {
                "LANES": 1,
                "LANES_I": self.lanes_tile[0],
                "LANES_J": self.lanes_tile[1],
                "CPU": int(cpu),
                "REFINE": int(engine.device.family not in ONE_ULP_RECIPROCAL),
                "VW": CPU_LANES if cpu else 1,
            },
            "omega/best_tiles.cl": {"LANES": self.lanes_tiles},
        }

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._kernels:
            source = SOURCES[name]
            self._kernels[name] = self._engine.kernel(source, name, **{**self._common, **self._defines[source]})
        return self._kernels[name]
