"""Reports about classified reads, of each of them or of all together, and what is read back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.reports import Report, write_reports
    from oclgenomics.classify.formats.cami import cami_profile
    from oclgenomics.classify.formats.kraken import bracken_table, kreport, krona_text, read_kreport
    from oclgenomics.classify.formats.native import NativeOptions
    from oclgenomics.classify.formats.native_lists import TargetHits, abundance_lists
    from oclgenomics.classify.formats.reports import FORMATS, ReadTexts, ReportFormat, make_report
    from oclgenomics.classify.formats.tally import Tally, summary_text
    from oclgenomics.classify.formats.truth import PrecisionTally, precision_text

__all__ = [
    "FORMATS",
    "NativeOptions",
    "PrecisionTally",
    "ReadTexts",
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
    "cami_profile": "cami",
    **dict.fromkeys(("bracken_table", "kreport", "krona_text", "read_kreport"), "kraken"),
    "NativeOptions": "native",
    **dict.fromkeys(("TargetHits", "abundance_lists"), "native_lists"),
    **dict.fromkeys(("Report", "write_reports"), "oclgenomics.app.reports"),
    **dict.fromkeys(("FORMATS", "ReadTexts", "ReportFormat", "make_report"), "reports"),
    **dict.fromkeys(("Tally", "summary_text"), "tally"),
    **dict.fromkeys(("PrecisionTally", "precision_text"), "truth"),
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
