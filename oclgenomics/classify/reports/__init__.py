"""What is written about classified reads: a line for each of them, or what they are together."""

from oclgenomics.classify.reports.making import FORMATS, ReportFormat, make_report
from oclgenomics.classify.reports.native_options import NativeOptions
from oclgenomics.classify.reports.report import Report, write_reports

__all__ = ["FORMATS", "NativeOptions", "Report", "ReportFormat", "make_report", "write_reports"]
