"""K-mers of sequences, counted on the device.

Examples
--------
>>> from oclgenomics.kmers import CountOptions, count
>>> counted = count(["reads.fq.gz"], CountOptions(k=31))  # doctest: +SKIP
>>> print(counted)  # doctest: +SKIP
CountedKmers(k=31, canonical=True, distinct=18471310, total=96000000)
"""

from oclgenomics.kmers.count import count, count_to_database
from oclgenomics.kmers.database.reader import KmerDatabase
from oclgenomics.kmers.kmer_set import CountedKmers, KmerBlock, KmerSet
from oclgenomics.kmers.merge import merge, merge_databases
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.result import CountSummary, MergeSummary

__all__ = [
    "CountOptions",
    "CountSummary",
    "CountedKmers",
    "KmerBlock",
    "KmerDatabase",
    "KmerSet",
    "MergeSummary",
    "count",
    "count_to_database",
    "merge",
    "merge_databases",
]
