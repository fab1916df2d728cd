"""The whole scan, end to end: every phase with its seconds as a range, what it moves, and what it assumes.

The rule for the total: phases follow each other, bound by bound; a phase and those that run at the same time count as
the longest of them. What runs during the pipelines is what `software_overlap` and `host_overlap` say.
"""

from __future__ import annotations

from hls_model.phases.bottleneck import (
    ScanBottleneck as ScanBottleneck,
    find_scan_bottleneck as find_scan_bottleneck,
)
from hls_model.phases.phase import Phase as Phase, added as added, total as total
from hls_model.phases.pipelines import starts_each as starts_each
from hls_model.phases.scan import (
    CardMemory as CardMemory,
    card_memory as card_memory,
    phases_of as phases_of,
    scan_phases as scan_phases,
)
