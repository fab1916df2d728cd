"""Files of references and thresholds, byte by byte, and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.reports import write_reports
    from oclgenomics.sdtw.formats.evaluation import EvaluationReport, as_json, as_tsv
    from oclgenomics.sdtw.formats.reports import PafReport, make_report, summary_text

__all__ = ["EvaluationReport", "PafReport", "as_json", "as_tsv", "make_report", "summary_text", "write_reports"]

HOMES = {
    "EvaluationReport": "evaluation", "PafReport": "reports", "as_json": "evaluation", "as_tsv": "evaluation",
    "make_report": "reports", "summary_text": "reports", "write_reports": "oclgenomics.app.reports"
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
