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
    from oclgenomics.app.run import Run as Run
    from oclgenomics.kmers.analysis.found import *
    from oclgenomics.kmers.analysis.query import QueryResult as QueryResult
    from oclgenomics.kmers.analysis.spectrum import *
    from oclgenomics.kmers.api import *
    from oclgenomics.kmers.database.kmer_set import *
    from oclgenomics.kmers.database.section_file import is_database as is_database
    from oclgenomics.kmers.device.reader import KmerDatabase as KmerDatabase
    from oclgenomics.kmers.jobs import CountJob as CountJob
    from oclgenomics.kmers.options import *
    from oclgenomics.kmers.plots.copies import plot_copies as plot_copies
    from oclgenomics.kmers.plots.spectrum import plot_spectrum as plot_spectrum
    from oclgenomics.kmers.result import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "analysis.found": "FoundKmers RecordSummaries",
        "analysis.query": "QueryResult",
        "analysis.spectrum": "Spectrum read_spectrum",
        "api": (
            "count count_to_database counts_of dump filter_reads histogram histogram_of_reads matrix merge "
            "merge_databases query qv write_matrix"
        ),
        "database.kmer_set": "CountedKmers KmerBlock KmerSet",
        "database.section_file": "is_database",
        "device.reader": "KmerDatabase",
        "jobs": "CountJob",
        "oclgenomics.app.run": "Run",
        "options": "CountOptions FilterOptions MergeOptions QualityOptions",
        "plots.copies": "plot_copies",
        "plots.spectrum": "plot_spectrum",
        "result": (
            "AssemblyQuality CopySpectrum CountMatrix CountSummary FilterSummary Histogram MatrixSummary MergeSummary "
            "QualityReport SequenceQualities"
        ),
    },
)
