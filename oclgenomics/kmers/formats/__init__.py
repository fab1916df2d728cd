"""Files that are no databases: exports, matrices, reads, and reports of queries and histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.read_files import *
    from oclgenomics.kmers.formats.exports import *
    from oclgenomics.kmers.formats.histogram import *
    from oclgenomics.kmers.formats.quality import *
    from oclgenomics.kmers.formats.query import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "exports": "check_export dump_names write_dump write_matrix",
        "histogram": (
            "count_content fastk_histogram genomescope_table histogram_json histogram_table reading_lines "
            "spectrum_content"
        ),
        "oclgenomics.app.read_files": "MateFiles check_filter_inputs check_outputs mate_files output_names read_writer",
        "quality": "TrackWriter copy_table quality_json quality_lines quality_table sequence_table track_names",
        "query": (
            "CountLines IntervalLines JsonRows KmerLines SummaryLines pieces_of records_of write_counts_npz write_lines"
        ),
    },
)
