"""Selective sweeps by linkage disequilibrium: the omega statistic along an alignment.

>>> from oclgenomics.omega import ScanOptions, plot_scans, scan
>>> scans = scan("chr20.vcf.gz", ScanOptions(grid=500, minwin=1_000, maxwin=100_000))  # doctest: +SKIP
>>> plot_scans(scans).savefig("chr20.png")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.figures import save_plot
    from oclgenomics.app.run import Run
    from oclgenomics.omega.api import (
        detect_sweeps,
        find_peaks,
        find_thresholds,
        iter_scan,
        ld_around_peak,
        scan,
        scan_alignment,
    )
    from oclgenomics.omega.formats.scans import make_report, read_report, scan_record, write_report
    from oclgenomics.omega.formats.thresholds import read_thresholds
    from oclgenomics.omega.ld.map import LdMap
    from oclgenomics.omega.options import MISSING_NAMES, LdOptions, ScanOptions, scan_parameters
    from oclgenomics.omega.plots.scans import peak_windows, plot_scans
    from oclgenomics.omega.result import OmegaReport, Scan, Scans, Track
    from oclgenomics.omega.significance.peaks import merge_peaks
    from oclgenomics.omega.significance.thresholds import (
        Maxima,
        Peaks,
        Significance,
        SweepResults,
        p_values,
        thresholds,
    )

__all__ = [
    "MISSING_NAMES", "LdMap", "LdOptions", "Maxima", "OmegaReport", "Peaks", "Run", "Scan", "ScanOptions", "Scans",
    "Significance", "SweepResults", "Track", "detect_sweeps", "find_peaks", "find_thresholds", "iter_scan",
    "ld_around_peak", "make_report", "merge_peaks", "p_values", "peak_windows", "plot_scans", "read_report",
    "read_thresholds", "save_plot", "scan", "scan_alignment", "scan_parameters", "scan_record", "thresholds",
    "write_report",
]  # fmt: skip

HOMES = {
    "LdMap": "ld.map", "LdOptions": "options", "MISSING_NAMES": "options", "Maxima": "significance.thresholds",
    "OmegaReport": "result", "Peaks": "significance.thresholds", "Run": "oclgenomics.app.run", "Scan": "result",
    "ScanOptions": "options", "Scans": "result", "Significance": "significance.thresholds",
    "SweepResults": "significance.thresholds", "Track": "result", "detect_sweeps": "api", "find_peaks": "api",
    "find_thresholds": "api", "iter_scan": "api", "ld_around_peak": "api", "make_report": "formats.scans",
    "merge_peaks": "significance.peaks", "p_values": "significance.thresholds", "peak_windows": "plots.scans",
    "plot_scans": "plots.scans", "read_report": "formats.scans", "read_thresholds": "formats.thresholds",
    "save_plot": "oclgenomics.app.figures", "scan": "api", "scan_alignment": "api", "scan_parameters": "options",
    "scan_record": "formats.scans", "thresholds": "significance.thresholds", "write_report": "formats.scans",
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
