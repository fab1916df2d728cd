"""Genomics workloads on any OpenCL device: GPUs and CPUs, from Python or the command line.

>>> import oclgenomics as og
>>> options = og.omega.ScanOptions(grid=500, minwin=1_000, maxwin=100_000)
>>> scans = og.omega.scan("chr20.vcf.gz", options, engine="gpu")  # doctest: +SKIP

Names are imported when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics import (
        classify as classify,
        fpga as fpga,
        kmers as kmers,
        omega as omega,
        sdtw as sdtw,
        signatures as signatures,
        sweeps as sweeps,
    )
    from oclgenomics.runtime import *
    from oclgenomics.variation import *

__version__ = "1.0.0"

SYSTEMS = ("classify", "fpga", "kmers", "omega", "sdtw", "signatures", "sweeps")

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "runtime": "Device Engine list_devices select_device",
        "variation": "Alignment ReadOptions read_alignments",
        "": "classify fpga kmers omega sdtw signatures sweeps",
    },
)
__all__ += ["__version__"]
