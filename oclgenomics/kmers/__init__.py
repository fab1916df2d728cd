"""K-mers of sequences, counted on the device.

Examples
--------
>>> from oclgenomics.kmers import CountOptions, count
>>> counted = count(["reads.fq.gz"], CountOptions(k=31))  # doctest: +SKIP
>>> print(counted)  # doctest: +SKIP
CountedKmers(k=31, canonical=True, distinct=18471310, total=96000000)

Names that counting does not need are imported when they are first used: `kmers count` would start later for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.kmers.analysis.found_kmers import FoundKmers, RecordSummaries
    from oclgenomics.kmers.analysis.histogram import Histogram, histogram
    from oclgenomics.kmers.analysis.look_up import counts_of
    from oclgenomics.kmers.analysis.query import QueryResult, query
    from oclgenomics.kmers.analysis.read_histogram import histogram_of_reads
    from oclgenomics.kmers.analysis.spectrum import Spectrum, read_spectrum
    from oclgenomics.kmers.analysis.spectrum_plot import plot_spectrum
    from oclgenomics.kmers.api import count, count_to_database
    from oclgenomics.kmers.count_matrix import CountMatrix, MatrixSummary, matrix, write_matrix
    from oclgenomics.kmers.database.reader import KmerDatabase
    from oclgenomics.kmers.filter_options import FilterOptions
    from oclgenomics.kmers.formats.dump import dump
    from oclgenomics.kmers.kmer_set import CountedKmers, KmerBlock, KmerSet
    from oclgenomics.kmers.options import CountOptions
    from oclgenomics.kmers.read_filter import filter_reads
    from oclgenomics.kmers.result import CountSummary, FilterSummary, MergeSummary
    from oclgenomics.kmers.set_merge import merge, merge_databases

__all__ = [
    "CountMatrix",
    "CountOptions",
    "CountSummary",
    "CountedKmers",
    "FilterOptions",
    "FilterSummary",
    "FoundKmers",
    "Histogram",
    "KmerBlock",
    "KmerDatabase",
    "KmerSet",
    "MatrixSummary",
    "MergeSummary",
    "QueryResult",
    "RecordSummaries",
    "Spectrum",
    "count",
    "count_to_database",
    "counts_of",
    "dump",
    "filter_reads",
    "histogram",
    "histogram_of_reads",
    "matrix",
    "merge",
    "merge_databases",
    "plot_spectrum",
    "query",
    "read_spectrum",
    "write_matrix",
]

HOMES = {
    "CountMatrix": "count_matrix",
    "CountOptions": "options",
    "CountSummary": "result",
    "CountedKmers": "kmer_set",
    "FilterOptions": "filter_options",
    "FilterSummary": "result",
    "FoundKmers": "analysis.found_kmers",
    "Histogram": "analysis.histogram",
    "KmerBlock": "kmer_set",
    "KmerDatabase": "database.reader",
    "KmerSet": "kmer_set",
    "MatrixSummary": "count_matrix",
    "MergeSummary": "result",
    "QueryResult": "analysis.query",
    "RecordSummaries": "analysis.found_kmers",
    "Spectrum": "analysis.spectrum",
    "count": "api",
    "count_to_database": "api",
    "counts_of": "analysis.look_up",
    "dump": "formats.dump",
    "filter_reads": "read_filter",
    "histogram": "analysis.histogram",
    "histogram_of_reads": "analysis.read_histogram",
    "matrix": "count_matrix",
    "merge": "set_merge",
    "merge_databases": "set_merge",
    "plot_spectrum": "analysis.spectrum_plot",
    "query": "analysis.query",
    "read_spectrum": "analysis.spectrum",
    "write_matrix": "count_matrix",
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
