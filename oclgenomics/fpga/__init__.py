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
    from oclgenomics.fpga.api import *
    from oclgenomics.fpga.comparison import *
    from oclgenomics.fpga.measuring import Measured as Measured
    from oclgenomics.fpga.options import *
    from oclgenomics.fpga.result import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "api": "project_scan project_workloads run_scan",
        "comparison": "AlignmentRun RUN_COLUMNS",
        "measuring": "Measured",
        "options": "random_alignment workload_at workload_of",
        "result": "ScanProjection ScanRun",
    },
)
