"""Reports of scans, peaks, thresholds and maps, and what is read back of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.omega.formats.ld import MatrixFile, PairTable, parts_json, parts_tsv, values_format
    from oclgenomics.omega.formats.peaks import PeakFormat, write_peaks
    from oclgenomics.omega.formats.scans import ReportFormat, make_report, read_report, summary_line, write_report
    from oclgenomics.omega.formats.thresholds import as_json, as_tsv, read_thresholds

__all__ = [
    "MatrixFile", "PairTable", "PeakFormat", "ReportFormat", "as_json", "as_tsv", "make_report", "parts_json",
    "parts_tsv", "read_report", "read_thresholds", "summary_line", "values_format", "write_peaks", "write_report",
]  # fmt: skip

HOMES = {
    "MatrixFile": "ld", "PairTable": "ld", "PeakFormat": "peaks", "ReportFormat": "scans", "as_json": "thresholds",
    "as_tsv": "thresholds", "make_report": "scans", "parts_json": "ld", "parts_tsv": "ld", "read_report": "scans",
    "read_thresholds": "thresholds", "summary_line": "scans", "values_format": "ld", "write_peaks": "peaks",
    "write_report": "scans",
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
