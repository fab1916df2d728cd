"""Signatures: long patterns with wildcards, found exactly in samples with wildcards, and scored by quality.

Examples
--------
>>> from oclgenomics.signatures import ScanOptions, scan
>>> found = scan("samples.fastq.gz", "signatures.fasta", ScanOptions(strand="both"))  # doctest: +SKIP
>>> print(found)  # doctest: +SKIP
ScanResult(samples=1010, signatures=1000, matches=1281)
"""

from oclgenomics.signatures.build import build_panel
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panel import Panel
from oclgenomics.signatures.plots.choice import ChosenSamples
from oclgenomics.signatures.plots.samples import plot_samples
from oclgenomics.signatures.reports.matches import make_report
from oclgenomics.signatures.reports.writing import write_reports
from oclgenomics.signatures.result import Matches, Samples, ScanPart, ScanResult
from oclgenomics.signatures.scan import scan, scan_parts
from oclgenomics.signatures.source import read_panel

__all__ = [
    "ChosenSamples",
    "Matches",
    "Panel",
    "Samples",
    "ScanOptions",
    "ScanPart",
    "ScanResult",
    "build_panel",
    "make_report",
    "plot_samples",
    "read_panel",
    "scan",
    "scan_parts",
    "write_reports",
]
