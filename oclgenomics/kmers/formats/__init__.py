"""Files that are no databases: exports, matrices, reads, and reports of queries and histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.kmers.formats.histogram import histogram_json, histogram_table, reading_lines
    from oclgenomics.kmers.formats.kmc import write_kmc
    from oclgenomics.kmers.formats.npz import write_matrix_npz, write_npz
    from oclgenomics.kmers.formats.parquet import require_pyarrow, write_matrix_parquet, write_parquet
    from oclgenomics.kmers.formats.query import CountLines, JsonRows, RowLines, records_of, rows_of, write_counts_npz
    from oclgenomics.kmers.formats.reads import (
        MateFiles,
        check_filter_inputs,
        check_outputs,
        mate_files,
        output_names,
        read_writer,
    )
    from oclgenomics.kmers.formats.text import write_fasta, write_matrix_tsv, write_tsv

__all__ = [
    "CountLines", "JsonRows", "MateFiles", "RowLines", "check_filter_inputs", "check_outputs", "histogram_json",
    "histogram_table", "mate_files", "output_names", "read_writer", "reading_lines", "records_of", "require_pyarrow",
    "rows_of", "write_counts_npz", "write_fasta", "write_kmc", "write_matrix_npz", "write_matrix_parquet",
    "write_matrix_tsv", "write_npz", "write_parquet", "write_tsv",
]  # fmt: skip

HOMES = {
    "CountLines": "query", "JsonRows": "query", "MateFiles": "reads", "RowLines": "query",
    "check_filter_inputs": "reads", "check_outputs": "reads", "histogram_json": "histogram",
    "histogram_table": "histogram", "mate_files": "reads", "output_names": "reads", "read_writer": "reads",
    "reading_lines": "histogram", "records_of": "query", "require_pyarrow": "parquet", "rows_of": "query",
    "write_counts_npz": "query", "write_fasta": "text", "write_kmc": "kmc", "write_matrix_npz": "npz",
    "write_matrix_parquet": "parquet", "write_matrix_tsv": "text", "write_npz": "npz", "write_parquet": "parquet",
    "write_tsv": "text",
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
