"""The counts of given k-mers and of those of sequences, and what they say of genomes and assemblies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.kmers.analysis.assembly import *
    from oclgenomics.kmers.analysis.found import *
    from oclgenomics.kmers.analysis.query import *
    from oclgenomics.kmers.analysis.spectrum import read_spectrum as read_spectrum

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "assembly": "Means assess check_assemblies",
        "found": "FoundKmers RecordSummaries joined_records",
        "query": "NamedSequences QueryResult look_up_texts",
        "spectrum": "read_spectrum",
    },
)
