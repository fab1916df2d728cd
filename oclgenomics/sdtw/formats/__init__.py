"""Files of references and thresholds, byte by byte, and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.reports import write_reports as write_reports
    from oclgenomics.sdtw.formats.reports import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "oclgenomics.app.reports": "write_reports",
        "reports": "PafReport as_json as_tsv decisions_content make_report roc_content summary_text",
    },
)
