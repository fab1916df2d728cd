"""The scan's kernels on one device: which variant is built, and the work-group sizes it is built for."""

from __future__ import annotations

from dataclasses import dataclass

from oclgenomics.omega.matrix import SiteMatrix
from oclgenomics.omega.options import LD_MEASURES, ScanOptions
from oclgenomics.runtime import Engine
from oclgenomics.runtime.program import Kernel

__all__ = ["ScanKernels", "scan_kernels"]

CPU_COLUMNS = 256  # left borders a CPU work-item walks in a row
GPU_LANES = 128
SMALL_LANES = 64  # Kernel I on CPUs, and the merge on GPUs
MOST_VECTOR_LANES = 8  # uint lanes in pair_values: more only spill


@dataclass(frozen=True)
class ScanKernels:
    """Kernel handles of one variant and the sizes they were built for."""

    pair_values: Kernel
    allele_values: Kernel | None
    suffix_rows: Kernel | None
    accumulate: Kernel | None
    sum_tiles: Kernel | None
    save_carry: Kernel
    save_left: Kernel
    scan_one: Kernel
    scan_two: Kernel
    best: Kernel
    vector_width: int
    rows_each: int
    columns: int
    lanes_one: int
    lanes_two: int
    lanes_best: int


def scan_kernels(engine: Engine, matrix: SiteMatrix, options: ScanOptions) -> ScanKernels:
    """Build (or fetch) the kernels that a site matrix and its options ask for."""
    cpu = engine.tuning.cpu
    compat = int(options.precision == "compat")
    masked = int(matrix.missing)
    data = dict(COMPAT=compat, GENOTYPES=int(matrix.genotypes), MEASURE=LD_MEASURES.index(options.ld), WIDE=int(matrix.wide))
    vector_width = min(engine.tuning.vector_width, MOST_VECTOR_LANES)
    sums = dict(COMPAT=compat, CPU=int(cpu))
    if options.ld == "RSQUARE" and not compat:
        sums["CHECKED"] = 1
    columns, lanes_two = (CPU_COLUMNS, 1) if cpu else (1, GPU_LANES)
    lanes_one, lanes_best = (SMALL_LANES, 1) if cpu else (GPU_LANES, SMALL_LANES)
    one = dict(COMPAT=compat, COLUMNS=1, LANES=lanes_one)
    two = dict(COMPAT=compat, COLUMNS=columns, LANES=lanes_two)
    return ScanKernels(
        pair_values=engine.kernel("omega/pair_values.cl", "pair_values", MASKED=masked, VW=vector_width, **data),
        allele_values=engine.kernel("omega/allele_values.cl", "allele_values", **data) if matrix.allele_bits is not None else None,
        suffix_rows=None if compat else engine.kernel("omega/region_sums.cl", "suffix_rows", **sums),
        accumulate=None if compat else engine.kernel("omega/region_sums.cl", "accumulate_columns", **sums),
        sum_tiles=engine.kernel("omega/region_sums.cl", "sum_tiles", **sums) if compat else None,
        save_carry=engine.kernel("omega/region_sums.cl", "save_carry", **sums),
        save_left=engine.kernel("omega/region_sums.cl", "save_left_sums", **sums),
        scan_one=engine.kernel("omega/scan_windows.cl", "scan_one", **one),
        scan_two=engine.kernel("omega/scan_windows.cl", "scan_two", **two),
        best=engine.kernel("omega/best_omega.cl", "best_omega", COMPAT=compat, LANES=lanes_best),
        vector_width=vector_width,
        rows_each=2 if masked else 4,
        columns=columns,
        lanes_one=lanes_one,
        lanes_two=lanes_two,
        lanes_best=lanes_best,
    )
