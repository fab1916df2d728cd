"""Throughput by the shape of the kernel (Fig. 9 of the paper: by the threads of a block).

On GPUs: work-items of a group, and columns whose scores a work-item holds in registers. On CPUs a work-item is a vector
of reads and groups have one, so what corresponds is the reads of a work-item, in one vector or two, and the columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from sdtw_bench import Bench
from sdtw_data import PREFIX
from sdtw_timing import measure

from oclgenomics.runtime import Engine
from oclgenomics.runtime.tuning import Tuning
from oclgenomics.sdtw.device import aligner as aligning, strips as strip_aligner
from oclgenomics.sdtw.device.aligner import Aligner
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.plan import CellShape, cell_shape

__all__ = ["shape_rows"]

GROUPS = (32, 64, 128, 256, 512, 1024)
GPU_STRIPS = (24, 48, 96)
CPU_VECTORS = (1, 2)
CPU_STRIPS = (1, 2, 4, 8, 12, 16)


@contextmanager
def shaped(group: int, shape: CellShape) -> Iterator[None]:
    """Let aligners that are made and called in a `with` statement have another shape."""
    with (
        patch.object(strip_aligner, "GROUP", group),
        patch.object(aligning, "cell_shape", lambda *args, **options: shape),
    ):
        yield


def shapes(tuning: Tuning) -> Iterator[tuple[int, CellShape]]:
    """Sizes of groups and shapes."""
    options = AlignOptions()
    usual = cell_shape(options, options.rows(PREFIX), vector_bytes=tuning.vector_bytes if tuning.cpu else 0)
    if tuning.cpu:
        lanes = [vectors * usual.lanes for vectors in CPU_VECTORS]
        yield from ((1, replace(usual, lanes=count, strip=strip)) for count in lanes for strip in CPU_STRIPS)
    else:
        yield from ((group, replace(usual, strip=strip)) for strip in GPU_STRIPS for group in GROUPS)


def shape_rows(bench: Bench) -> list[dict[str, Any]]:
    """Time all shapes with one variant, lambda and one number of reads."""
    rows = []
    reads = bench.reads.some(bench.counts[0 if bench.cpu else 1])
    for group, shape in shapes(bench.engine.tuning):
        row: dict[str, Any] = {"group": group, "lanes": shape.lanes, "strip": shape.strip, "reads": len(reads)}
        found: dict[str, Any] = {}
        if fits(bench.engine, group, shape):
            with shaped(group, shape):
                aligner = Aligner(bench.engine, [bench.first])
                found = measure(bench.engine, aligner, reads, bench.clock, variant="default", ghz=bench.ghz)
        row |= {name: found.get(name) for name in ("best", "median", "samples_per_s", "kernel_cells_per_s")}
        rows.append(row | {"cells_per_core_s": found.get("cells_per_core_s")})
    return rows


def fits(engine: Engine, group: int, shape: CellShape) -> bool:
    """Whether the device takes groups of this kernel that are so large."""
    kernel = engine.kernel(strip_aligner.SOURCE, "align_strips", **shape.defines(AlignOptions(), state=False))
    return group <= kernel.max_items
