"""Reports as text, written part by part."""

from oclgenomics.sdtw.formats.paf import PafReport
from oclgenomics.sdtw.formats.tables import Report, make_report
from oclgenomics.sdtw.formats.writing import write_report

__all__ = ["PafReport", "Report", "make_report", "write_report"]
