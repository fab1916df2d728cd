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
    from oclgenomics.app.run import Run
    from oclgenomics.kmers.analysis.found import FoundKmers, RecordSummaries
    from oclgenomics.kmers.analysis.query import QueryResult
    from oclgenomics.kmers.analysis.spectrum import Spectrum, read_spectrum
    from oclgenomics.kmers.api import (
        count,
        count_to_database,
        counts_of,
        dump,
        filter_reads,
        histogram,
        histogram_of_reads,
        matrix,
        merge,
        merge_databases,
        query,
        write_matrix,
    )
    from oclgenomics.kmers.database.kmer_set import CountedKmers, KmerBlock, KmerSet
    from oclgenomics.kmers.database.section_file import is_database
    from oclgenomics.kmers.device.reader import KmerDatabase
    from oclgenomics.kmers.options import CountOptions, FilterOptions
    from oclgenomics.kmers.plots.spectrum import plot_spectrum
    from oclgenomics.kmers.result import (
        CountMatrix,
        CountSummary,
        FilterSummary,
        Histogram,
        MatrixSummary,
        MergeSummary,
    )

__all__ = [
    "CountMatrix", "CountOptions", "CountSummary", "CountedKmers", "FilterOptions", "FilterSummary", "FoundKmers",
    "Histogram", "KmerBlock", "KmerDatabase", "KmerSet", "MatrixSummary", "MergeSummary", "QueryResult",
    "RecordSummaries", "Run", "Spectrum", "count", "count_to_database", "counts_of", "dump", "filter_reads",
    "histogram", "histogram_of_reads", "is_database", "matrix", "merge", "merge_databases", "plot_spectrum", "query",
    "read_spectrum", "write_matrix",
]  # fmt: skip

HOMES = {
    "CountMatrix": "result", "CountOptions": "options", "CountSummary": "result", "CountedKmers": "database.kmer_set",
    "FilterOptions": "options", "FilterSummary": "result", "FoundKmers": "analysis.found", "Histogram": "result",
    "KmerBlock": "database.kmer_set", "KmerDatabase": "device.reader", "KmerSet": "database.kmer_set",
    "MatrixSummary": "result", "MergeSummary": "result", "QueryResult": "analysis.query",
    "RecordSummaries": "analysis.found", "Run": "oclgenomics.app.run", "Spectrum": "analysis.spectrum", "count": "api",
    "count_to_database": "api", "counts_of": "api", "dump": "api", "filter_reads": "api", "histogram": "api",
    "histogram_of_reads": "api", "is_database": "database.section_file", "matrix": "api", "merge": "api",
    "merge_databases": "api", "plot_spectrum": "plots.spectrum", "query": "api", "read_spectrum": "analysis.spectrum",
    "write_matrix": "api",
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
