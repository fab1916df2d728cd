"""Selective sweeps by linkage disequilibrium: the omega statistic along an alignment.

>>> from oclgenomics.omega import ScanOptions, plot_scans, scan
>>> scans = list(scan("chr20.vcf.gz", ScanOptions(grid=500, minwin=1_000, maxwin=100_000)))  # doctest: +SKIP
>>> plot_scans(scans).savefig("chr20.png")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.figures import save_plot
    from oclgenomics.omega.api import scan, scan_alignment
    from oclgenomics.omega.formats.reading import read_report
    from oclgenomics.omega.formats.scans import make_report, scan_record, write_report
    from oclgenomics.omega.formats.thresholds import read_thresholds
    from oclgenomics.omega.ld.around_peak import ld_around_peak
    from oclgenomics.omega.ld.options import LdOptions
    from oclgenomics.omega.ld.result import LdMap
    from oclgenomics.omega.options import ScanOptions
    from oclgenomics.omega.peaks import merge_peaks
    from oclgenomics.omega.plots.scans import peak_windows, plot_scans
    from oclgenomics.omega.result import Scan
    from oclgenomics.omega.significance.neutral import Significance, find_thresholds
    from oclgenomics.omega.significance.peaks import Peaks, find_peaks
    from oclgenomics.omega.significance.sweeps import SweepResults, detect_sweeps
    from oclgenomics.omega.significance.thresholds import Maxima, p_values, thresholds

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

HOMES = {
    "LdMap": "ld.result",
    "LdOptions": "ld.options",
    "Maxima": "significance.thresholds",
    "Peaks": "significance.peaks",
    "Scan": "result",
    "ScanOptions": "options",
    "Significance": "significance.neutral",
    "SweepResults": "significance.sweeps",
    "detect_sweeps": "significance.sweeps",
    "find_peaks": "significance.peaks",
    "find_thresholds": "significance.neutral",
    "ld_around_peak": "ld.around_peak",
    "make_report": "formats.scans",
    "merge_peaks": "peaks",
    "p_values": "significance.thresholds",
    "peak_windows": "plots.scans",
    "plot_scans": "plots.scans",
    "read_report": "formats.reading",
    "read_thresholds": "formats.thresholds",
    "save_plot": "oclgenomics.app.figures",
    "scan": "api",
    "scan_alignment": "api",
    "scan_record": "formats.scans",
    "thresholds": "significance.thresholds",
    "write_report": "formats.scans",
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
