"""Real scans on FPGA designs, by the model of `hls_model`.

>>> from oclgenomics.fpga import project_scan
>>> from oclgenomics.omega import ScanOptions
>>> options = ScanOptions(grid=1_000, minwin=1_000, maxwin=100_000)
>>> found = project_scan("chr20.vcf.gz", options, ["u200", "zcu102"])  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.fpga.api import project_scan, project_workloads, run_scan
    from oclgenomics.fpga.comparison import RUN_COLUMNS, AlignmentRun
    from oclgenomics.fpga.measuring import Measured
    from oclgenomics.fpga.options import random_alignment, workload_at, workload_of
    from oclgenomics.fpga.result import ScanProjection, ScanRun

__all__ = [
    "RUN_COLUMNS",
    "AlignmentRun",
    "Measured",
    "ScanProjection",
    "ScanRun",
    "project_scan",
    "project_workloads",
    "random_alignment",
    "run_scan",
    "workload_at",
    "workload_of",
]

HOMES = {
    "AlignmentRun": "comparison",
    "Measured": "measuring",
    "RUN_COLUMNS": "comparison",
    "ScanProjection": "result",
    "ScanRun": "result",
    "project_scan": "api",
    "project_workloads": "api",
    "random_alignment": "options",
    "run_scan": "api",
    "workload_at": "options",
    "workload_of": "options",
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
