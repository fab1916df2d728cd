"""Reports of scans, peaks, thresholds and maps, and what is read back of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.reports import write_report as write_report
    from oclgenomics.omega.formats.ld import *
    from oclgenomics.omega.formats.scans import (
        ReportFormat as ReportFormat,
        make_report as make_report,
        read_report as read_report,
        scans_content as scans_content,
        summary_line as summary_line,
    )
    from oclgenomics.omega.formats.thresholds import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "oclgenomics.app.reports": "write_report",
        "ld": "MatrixFile PairTable parts_json parts_tsv values_format",
        "scans": "ReportFormat make_report read_report scans_content summary_line",
        "thresholds": "PeakFormat as_json as_tsv read_thresholds write_peaks",
    },
)
