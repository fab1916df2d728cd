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
    from oclgenomics.app.reports import write_reports as write_reports
    from oclgenomics.app.run import Run as Run
    from oclgenomics.signatures.api import *
    from oclgenomics.signatures.formats.reports import (
        CertaintyReport as CertaintyReport,
        SummaryReport as SummaryReport,
        make_report as make_report,
    )
    from oclgenomics.signatures.jobs import ScanJob as ScanJob
    from oclgenomics.signatures.matches.totals import ScanTotals as ScanTotals
    from oclgenomics.signatures.options import FilterOptions as FilterOptions, ScanOptions as ScanOptions
    from oclgenomics.signatures.panels.panel import Panel as Panel
    from oclgenomics.signatures.plots.choice import ChosenSamples as ChosenSamples
    from oclgenomics.signatures.plots.samples import plot_samples as plot_samples
    from oclgenomics.signatures.result import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "api": "build_panel filter_reads iter_scan read_panel scan",
        "formats.reports": "CertaintyReport SummaryReport make_report",
        "jobs": "ScanJob",
        "matches.totals": "ScanTotals",
        "oclgenomics.app.reports": "write_reports",
        "oclgenomics.app.run": "Run",
        "options": "FilterOptions ScanOptions",
        "panels.panel": "Panel",
        "plots.choice": "ChosenSamples",
        "plots.samples": "plot_samples",
        "result": "Alignments FilterSummary Matches Rivals Samples ScanPart ScanResult",
    },
    renamed={"scan_parts": "iter_scan"},
)
