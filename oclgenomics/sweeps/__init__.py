"""Selective sweeps by several statistics at a time: mu, diversity, the frequency spectrum and haplotypes.

>>> from oclgenomics.sweeps import SweepOptions, plot_scans, scan
>>> scans = scan("chr20.vcf.gz", SweepOptions(statistics=("mu", "pi")))  # doctest: +SKIP
>>> plot_scans(scans).savefig("chr20.png")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.figures import save_plot as save_plot
    from oclgenomics.app.reports import write_report as write_report
    from oclgenomics.app.run import Run as Run
    from oclgenomics.sweeps.api import *
    from oclgenomics.sweeps.formats.scans import (
        make_report as make_report,
        read_report as read_report,
        scan_record as scan_record,
    )
    from oclgenomics.sweeps.formats.thresholds import read_thresholds as read_thresholds
    from oclgenomics.sweeps.jobs import (
        ScanJob as ScanJob,
        ThresholdJob as ThresholdJob,
        reading_for as reading_for,
    )
    from oclgenomics.sweeps.options import *
    from oclgenomics.sweeps.plots.scans import plot_scans as plot_scans
    from oclgenomics.sweeps.result import *
    from oclgenomics.sweeps.significance.peaks import Peaks as Peaks
    from oclgenomics.sweeps.significance.thresholds import Significance as Significance

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "api": "check_questions find_peaks find_thresholds iter_scan scan",
        "formats.scans": "make_report read_report scan_record",
        "formats.thresholds": "read_thresholds",
        "jobs": "ScanJob ThresholdJob reading_for",
        "oclgenomics.app.figures": "save_plot",
        "oclgenomics.app.reports": "write_report",
        "oclgenomics.app.run": "Run",
        "options": "DEFAULT_STATISTICS STATISTICS SweepOptions sweep_parameters",
        "plots.scans": "plot_scans",
        "result": "Scan Scans",
        "significance.peaks": "Peaks",
        "significance.thresholds": "Significance",
    },
)
