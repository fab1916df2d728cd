"""Selective sweeps by linkage disequilibrium: the omega statistic along an alignment.

>>> from oclgenomics.omega import ScanOptions, plot_scans, scan
>>> scans = list(scan("chr20.vcf.gz", ScanOptions(grid=500, minwin=1_000, maxwin=100_000)))  # doctest: +SKIP
>>> plot_scans(scans).savefig("chr20.png")  # doctest: +SKIP
"""

from __future__ import annotations

from oclgenomics.omega.ld.around_peak import ld_around_peak
from oclgenomics.omega.ld.options import LdOptions
from oclgenomics.omega.ld.result import LdMap
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.peaks import merge_peaks
from oclgenomics.omega.plots.scans import peak_windows, plot_scans
from oclgenomics.omega.reports.reading import read_report
from oclgenomics.omega.reports.scans import make_report, scan_record, write_report
from oclgenomics.omega.reports.thresholds import read_thresholds
from oclgenomics.omega.result import Scan
from oclgenomics.omega.scan import scan, scan_alignment
from oclgenomics.omega.significance.neutral import Significance, find_thresholds
from oclgenomics.omega.significance.peaks import Peaks, find_peaks
from oclgenomics.omega.significance.sweeps import SweepResults, detect_sweeps
from oclgenomics.omega.significance.thresholds import Maxima, p_values, thresholds
from oclgenomics.plot_style import save_plot

__all__ = [
    "LdMap",
    "LdOptions",
    "Maxima",
    "Peaks",
    "Scan",
    "ScanOptions",
    "Significance",
    "SweepResults",
    "detect_sweeps",
    "find_peaks",
    "find_thresholds",
    "ld_around_peak",
    "make_report",
    "merge_peaks",
    "p_values",
    "peak_windows",
    "plot_scans",
    "read_report",
    "read_thresholds",
    "save_plot",
    "scan",
    "scan_alignment",
    "scan_record",
    "thresholds",
    "write_report",
]
