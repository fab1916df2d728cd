"""Reports of scans, thresholds and peaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.reports import write_report as write_report
    from oclgenomics.sweeps.formats.scans import *
    from oclgenomics.sweeps.formats.thresholds import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "oclgenomics.app.reports": "write_report",
        "scans": "ReportFormat make_report scans_content summary_line",
        "thresholds": "PeakFormat as_json as_tsv write_peaks",
    },
)
