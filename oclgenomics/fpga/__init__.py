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

HOMES = {
    "AlignmentRun": "alignment_run",
    "Measured": "measuring",
    "RUN_COLUMNS": "alignment_run",
    "ScanProjection": "result",
    "ScanRun": "run_result",
    "project_scan": "project",
    "project_workloads": "project",
    "random_alignment": "workloads",
    "run_scan": "run",
    "workload_at": "workloads",
    "workload_of": "workloads",
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
