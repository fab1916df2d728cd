"""K-mers of sequences, counted on the device.

Examples
--------
>>> from oclgenomics.kmers import CountOptions, count
>>> from oclgenomics.runtime import Engine
>>> with Engine() as engine:  # doctest: +SKIP
...     counted = count(["reads.fq.gz"], CountOptions(k=31), engine=engine)
"""

from oclgenomics.kmers.count import Summary, count, count_to_database
from oclgenomics.kmers.database.reader import KmerDatabase
from oclgenomics.kmers.kmer_set import CountedKmers, KmerBlock, KmerSet
from oclgenomics.kmers.options import CountOptions

__all__ = [
    "CountOptions",
    "CountedKmers",
    "KmerBlock",
    "KmerDatabase",
    "KmerSet",
    "Summary",
    "count",
    "count_to_database",
]
