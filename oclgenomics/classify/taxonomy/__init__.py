"""Taxa and targets, and what follows from them: lineages, calls, abundances, and how right calls are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.classify.taxonomy.assignment import summaries_beside, taxonomy_files
    from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
    from oclgenomics.classify.taxonomy.tree import NO_TAXON

__all__ = ["NO_TAXON", "read_taxonomy", "summaries_beside", "taxonomy_files"]

HOMES = {
    **dict.fromkeys(("summaries_beside", "taxonomy_files"), "assignment"),
    "read_taxonomy": "ncbi",
    "NO_TAXON": "tree",
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
