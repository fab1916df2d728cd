"""Selective sweeps by linkage disequilibrium: the omega statistic along an alignment.

>>> from oclgenomics.omega import ScanOptions, plot_scans, scan
>>> scans = scan("chr20.vcf.gz", ScanOptions(grid=500, minwin=1_000, maxwin=100_000))  # doctest: +SKIP
>>> plot_scans(scans).savefig("chr20.png")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.figures import save_plot as save_plot
    from oclgenomics.app.reports import write_report as write_report
    from oclgenomics.app.run import Run as Run
    from oclgenomics.omega.api import *
    from oclgenomics.omega.formats.scans import (
        make_report as make_report,
        read_report as read_report,
        scan_record as scan_record,
    )
    from oclgenomics.omega.formats.thresholds import read_thresholds as read_thresholds
    from oclgenomics.omega.jobs import ScanJob as ScanJob, ThresholdJob as ThresholdJob
    from oclgenomics.omega.ld.map import LdMap as LdMap
    from oclgenomics.omega.options import *
    from oclgenomics.omega.plots.scans import *
    from oclgenomics.omega.result import *
    from oclgenomics.omega.significance.peaks import merge_peaks as merge_peaks
    from oclgenomics.omega.significance.thresholds import *
    from oclgenomics.variation.alignment import AlignmentRead as AlignmentRead

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "api": "detect_sweeps find_peaks find_thresholds iter_scan ld_around_peak scan scan_alignment",
        "formats.scans": "make_report read_report scan_record",
        "formats.thresholds": "read_thresholds",
        "jobs": "ScanJob ThresholdJob",
        "ld.map": "LdMap",
        "oclgenomics.app.figures": "save_plot",
        "oclgenomics.app.reports": "write_report",
        "oclgenomics.app.run": "Run",
        "options": "LdOptions MISSING_NAMES ScanOptions scan_parameters",
        "plots.scans": "peak_windows plot_scans",
        "result": "OmegaReport Scan Scans Track",
        "significance.peaks": "merge_peaks",
        "significance.thresholds": "Maxima Peaks Significance SweepResults p_values thresholds",
        "oclgenomics.variation.alignment": "AlignmentRead",
    },
)
