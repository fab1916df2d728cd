"""Real scans on FPGA designs, by the model of `hls_model`.

>>> from oclgenomics.fpga import project_scan
>>> from oclgenomics.omega import ScanOptions
>>> options = ScanOptions(grid=1_000, minwin=1_000, maxwin=100_000)
>>> found = project_scan("chr20.vcf.gz", options, ["u200", "zcu102"])  # doctest: +SKIP
"""

from __future__ import annotations

from oclgenomics.fpga.alignment_run import RUN_COLUMNS, AlignmentRun
from oclgenomics.fpga.measuring import Measured
from oclgenomics.fpga.project import project_scan, project_workloads
from oclgenomics.fpga.result import ScanProjection
from oclgenomics.fpga.run import run_scan
from oclgenomics.fpga.run_result import ScanRun
from oclgenomics.fpga.workloads import random_alignment, workload_at, workload_of

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
