"""Selective sweeps by linkage disequilibrium: the omega statistic along an alignment.

>>> from oclgenomics.omega import ScanOptions, plot_scans, scan
>>> scans = list(scan("chr20.vcf.gz", ScanOptions(grid=500, minwin=1_000, maxwin=100_000)))  # doctest: +SKIP
>>> plot_scans(scans).savefig("chr20.png")  # doctest: +SKIP
"""

from __future__ import annotations

from oclgenomics.omega.options import Scan, ScanOptions
from oclgenomics.omega.plot import peak_windows, plot_scans, save_plot
from oclgenomics.omega.report import make_report, scan_record, write_report
from oclgenomics.omega.run import scan, scan_alignment

__all__ = [
    "Scan",
    "ScanOptions",
    "make_report",
    "peak_windows",
    "plot_scans",
    "save_plot",
    "scan",
    "scan_alignment",
    "scan_record",
    "write_report",
]
