"""Sites before a scan: where alignments come from, what is left of them, and which are scanned together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.omega.sites.filters import *
    from oclgenomics.omega.sites.sources import *
    from oclgenomics.variation.selection import take_sites as take_sites
    from oclgenomics.variation.sources import (
        AlignmentSource as AlignmentSource,
        first_read as first_read,
        open_alignments as open_alignments,
        regions_of as regions_of,
    )

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "filters": "filter_alignment prepare",
        "oclgenomics.variation.selection": "take_sites",
        "oclgenomics.variation.sources": "AlignmentSource first_read open_alignments regions_of",
        "sources": "filtered_batches",
    },
)
