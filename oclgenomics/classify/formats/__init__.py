"""What is written about classified reads: a line for each of them, or what they are together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.classify.formats.abundance_lists import abundance_lists
    from oclgenomics.classify.formats.bracken import bracken_table
    from oclgenomics.classify.formats.cami import cami_profile
    from oclgenomics.classify.formats.kreport import kreport
    from oclgenomics.classify.formats.kreport_text import read_kreport
    from oclgenomics.classify.formats.krona import krona_text
    from oclgenomics.classify.formats.making import FORMATS, ReportFormat, make_report
    from oclgenomics.classify.formats.native_options import NativeOptions
    from oclgenomics.classify.formats.precision import PrecisionTally, precision_text
    from oclgenomics.classify.formats.report import Report, write_reports
    from oclgenomics.classify.formats.summary import summary_text
    from oclgenomics.classify.formats.tally import Tally
    from oclgenomics.classify.formats.target_hits import TargetHits

__all__ = [
    "FORMATS",
    "NativeOptions",
    "PrecisionTally",
    "Report",
    "ReportFormat",
    "Tally",
    "TargetHits",
    "abundance_lists",
    "bracken_table",
    "cami_profile",
    "kreport",
    "krona_text",
    "make_report",
    "precision_text",
    "read_kreport",
    "summary_text",
    "write_reports",
]

HOMES = {
    "FORMATS": "making",
    "NativeOptions": "native_options",
    "PrecisionTally": "precision",
    "Report": "report",
    "ReportFormat": "making",
    "Tally": "tally",
    "TargetHits": "target_hits",
    "abundance_lists": "abundance_lists",
    "bracken_table": "bracken",
    "cami_profile": "cami",
    "kreport": "kreport",
    "krona_text": "krona",
    "make_report": "making",
    "precision_text": "precision",
    "read_kreport": "kreport_text",
    "summary_text": "summary",
    "write_reports": "report",
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
