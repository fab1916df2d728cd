"""Reports as text, written part by part."""

from oclgenomics.sdtw.reports.paf import PafReport
from oclgenomics.sdtw.reports.tables import Report, make_report
from oclgenomics.sdtw.reports.writing import write_report

__all__ = ["PafReport", "Report", "make_report", "write_report"]
