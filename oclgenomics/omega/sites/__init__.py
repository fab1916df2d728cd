"""Sites before a scan: where alignments come from, what is left of them, and which are scanned together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.omega.sites.filters import filter_alignment, prepare, take_sites
    from oclgenomics.omega.sites.sources import (
        AlignmentSource,
        filtered_batches,
        first_read,
        open_alignments,
        regions_of,
    )

__all__ = [
    "AlignmentSource", "filter_alignment", "filtered_batches", "first_read", "open_alignments", "prepare", "regions_of",
    "take_sites",
]  # fmt: skip

HOMES = {
    "AlignmentSource": "sources", "filter_alignment": "filters", "filtered_batches": "sources", "first_read": "sources",
    "open_alignments": "sources", "prepare": "filters", "regions_of": "sources", "take_sites": "filters",
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
