"""Files of panels, byte by byte, and reports of scans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.signatures.formats.report_lines import ScanReport as ScanReport
    from oclgenomics.signatures.formats.reports import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "report_lines": "ScanReport",
        "reports": "ALIGNED_FORMATS CertaintyReport SummaryReport check_certainty check_format make_report "
        "totals_content",
    },
)
