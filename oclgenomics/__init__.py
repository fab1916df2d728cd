"""Genomics workloads on any OpenCL device: GPUs and CPUs, from Python or the command line.

>>> import oclgenomics as og
>>> options = og.omega.ScanOptions(grid=500, minwin=1_000, maxwin=100_000)
>>> scans = list(og.omega.scan("chr20.vcf.gz", options, device="gpu"))  # doctest: +SKIP

Names are imported when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in SYSTEMS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in HOMES:
        return getattr(importlib.import_module(f"{__name__}.{HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
