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
    from oclgenomics import classify, fpga, kmers, omega, sdtw, signatures
    from oclgenomics.runtime import Device, Engine, list_devices, select_device
    from oclgenomics.variation import Alignment, ReadOptions, read_alignments

__version__ = "0.1.0"

__all__ = [
    "Alignment",
    "Device",
    "Engine",
    "ReadOptions",
    "__version__",
    "classify",
    "fpga",
    "kmers",
    "list_devices",
    "omega",
    "read_alignments",
    "sdtw",
    "select_device",
    "signatures",
]

SYSTEMS = ("classify", "fpga", "kmers", "omega", "sdtw", "signatures")
HOMES = {
    "Alignment": "variation", "ReadOptions": "variation", "read_alignments": "variation",
    "Device": "runtime", "Engine": "runtime", "list_devices": "runtime", "select_device": "runtime",
} | dict.fromkeys(SYSTEMS, "")  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
