"""What is written about classified reads: a line for each of them, or what they are together."""

from oclgenomics.classify.reports.abundance_lists import abundance_lists
from oclgenomics.classify.reports.bracken import bracken_table
from oclgenomics.classify.reports.cami import cami_profile
from oclgenomics.classify.reports.kreport import kreport
from oclgenomics.classify.reports.kreport_text import read_kreport
from oclgenomics.classify.reports.krona import krona_text
from oclgenomics.classify.reports.making import FORMATS, ReportFormat, make_report
from oclgenomics.classify.reports.native_options import NativeOptions
from oclgenomics.classify.reports.precision import PrecisionTally, precision_text
from oclgenomics.classify.reports.report import Report, write_reports
from oclgenomics.classify.reports.summary import summary_text
from oclgenomics.classify.reports.tally import Tally
from oclgenomics.classify.reports.target_hits import TargetHits

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
