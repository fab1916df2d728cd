"""The counts of given k-mers and of those of sequences, and what a histogram says of a genome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.kmers.analysis.found import FoundKmers, RecordSummaries, joined_records
    from oclgenomics.kmers.analysis.query import NamedSequences, QueryResult, look_up_texts

__all__ = ["FoundKmers", "NamedSequences", "QueryResult", "RecordSummaries", "joined_records", "look_up_texts"]

HOMES = {
    "FoundKmers": "found", "NamedSequences": "query", "QueryResult": "query", "RecordSummaries": "found",
    "joined_records": "found", "look_up_texts": "query",
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
