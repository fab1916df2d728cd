"""The whole scan, end to end: every phase with its seconds as a range, what it moves, and what it assumes.

The rule for the total: phases follow each other, bound by bound; a phase and those that run beside it count as the
longest of them. What runs beside the pipelines is what `software_overlap` and `host_overlap` say.
"""

from __future__ import annotations

from hls_model.phases.bottleneck import ScanBottleneck, find_scan_bottleneck
from hls_model.phases.phase import Phase, added, total
from hls_model.phases.pipelines import starts_each
from hls_model.phases.scan import CardMemory, card_memory, phases_of, scan_phases

__all__ = [
    "CardMemory",
    "Phase",
    "ScanBottleneck",
    "added",
    "card_memory",
    "find_scan_bottleneck",
    "phases_of",
    "scan_phases",
    "starts_each",
    "total",
]
