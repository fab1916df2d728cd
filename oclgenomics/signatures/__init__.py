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
    from oclgenomics.signatures.api import scan, scan_parts
    from oclgenomics.signatures.build import build_panel
    from oclgenomics.signatures.formats.matches import make_report
    from oclgenomics.signatures.formats.writing import write_reports
    from oclgenomics.signatures.options import ScanOptions
    from oclgenomics.signatures.panel import Panel
    from oclgenomics.signatures.plots.choice import ChosenSamples
    from oclgenomics.signatures.plots.samples import plot_samples
    from oclgenomics.signatures.result import Matches, Samples, ScanPart, ScanResult
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

HOMES = {
    "ChosenSamples": "plots.choice",
    "Matches": "result",
    "Panel": "panel",
    "Samples": "result",
    "ScanOptions": "options",
    "ScanPart": "result",
    "ScanResult": "result",
    "build_panel": "build",
    "make_report": "formats.matches",
    "plot_samples": "plots.samples",
    "read_panel": "source",
    "scan": "api",
    "scan_parts": "api",
    "write_reports": "formats.writing",
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
