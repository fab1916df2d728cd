"""The whole scan, end to end: every phase with its seconds as a range, what it moves, and what it assumes.

The rule for the total: phases follow each other, bound by bound; a phase and those that run beside it count as the
longest of them. What runs beside the pipelines is what `software_overlap` and `host_overlap` say.
"""

from __future__ import annotations

from hls_model.phases.bottleneck import ScanBottleneck, find_scan_bottleneck
from hls_model.phases.omega import starts_each
from hls_model.phases.phase import Phase, added, total
from hls_model.phases.scan import phases_of, scan_phases
from hls_model.phases.stretches import CardMemory, card_memory

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
