"""Signatures: long patterns with wildcards, found exactly in samples with wildcards, and scored by quality.

Examples
--------
>>> from oclgenomics.signatures import ScanOptions, scan
>>> found = scan("samples.fastq.gz", "signatures.fasta", ScanOptions(strand="both"))  # doctest: +SKIP
>>> print(found)  # doctest: +SKIP
ScanResult(samples=1010, signatures=1000, matches=1281)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.reports import write_reports
    from oclgenomics.app.run import Run
    from oclgenomics.signatures.api import build_panel, iter_scan, read_panel, scan
    from oclgenomics.signatures.formats.reports import CertaintyReport, SummaryReport, make_report
    from oclgenomics.signatures.matches.totals import ScanTotals
    from oclgenomics.signatures.options import ScanOptions
    from oclgenomics.signatures.panels.panel import Panel
    from oclgenomics.signatures.plots.choice import ChosenSamples
    from oclgenomics.signatures.plots.samples import plot_samples
    from oclgenomics.signatures.result import Matches, Samples, ScanPart, ScanResult

__all__ = [
    "CertaintyReport",
    "ChosenSamples",
    "Matches",
    "Panel",
    "Run",
    "Samples",
    "ScanOptions",
    "ScanPart",
    "ScanResult",
    "ScanTotals",
    "SummaryReport",
    "build_panel",
    "iter_scan",
    "make_report",
    "plot_samples",
    "read_panel",
    "scan",
    "write_reports",
]

HOMES = {
    "Matches": "result", "Samples": "result", "ScanPart": "result", "ScanResult": "result",
    "build_panel": "api", "iter_scan": "api", "read_panel": "api", "scan": "api",
    "CertaintyReport": "formats.reports", "SummaryReport": "formats.reports", "make_report": "formats.reports",
    "ChosenSamples": "plots.choice", "plot_samples": "plots.samples",
    "Panel": "panels.panel", "ScanOptions": "options", "ScanTotals": "matches.totals",
    "Run": "oclgenomics.app.run", "write_reports": "oclgenomics.app.reports",
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__, renamed={"scan_parts": "iter_scan"})
