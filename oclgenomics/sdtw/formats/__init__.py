"""Files of references and thresholds, byte by byte, and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.sdtw.formats.reports import PafReport, Report, make_report, write_report

__all__ = [
    "PafReport",
    "Report",
    "make_report",
    "write_report",
]

HOMES = {
    "PafReport": "reports",
    "Report": "reports",
    "make_report": "reports",
    "write_report": "reports",
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
