"""Sites before a scan: where alignments come from, what is left of them, and which are scanned together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.omega.sites.filters import *
    from oclgenomics.omega.sites.sources import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "filters": "filter_alignment prepare take_sites",
        "sources": "AlignmentSource filtered_batches first_read open_alignments regions_of",
    },
)
