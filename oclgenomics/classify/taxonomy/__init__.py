"""Taxa and targets, and what follows from them: lineages, calls, abundances, and how right calls are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.classify.taxonomy.assignment import *
    from oclgenomics.classify.taxonomy.ncbi import read_taxonomy as read_taxonomy
    from oclgenomics.classify.taxonomy.tree import NO_TAXON as NO_TAXON

__getattr__, __dir__, __all__ = found_in(
    __name__, {"assignment": "summaries_beside taxonomy_files", "ncbi": "read_taxonomy", "tree": "NO_TAXON"}
)
