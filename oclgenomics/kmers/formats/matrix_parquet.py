"""Writes a matrix of counts as a table in Apache Parquet."""

from __future__ import annotations

from typing import IO, Any

import numpy as np

from oclgenomics.kmers.formats.parquet import ROW_GROUP, require_pyarrow, text_array
from oclgenomics.kmers.matrix_rows import KMER_COLUMN, MatrixRows
from oclgenomics.kmers.sets.rows import RowBlock

__all__ = ["write_matrix_parquet"]


def write_matrix_parquet(matrix: MatrixRows, stream: IO[bytes]) -> int:
    """Write a column `kmer` (text) and one for each sample (uint32), in ascending order, compressed with zstd.

    The metadata of the schema hold `k` and `canonical`.

    Returns
    -------
    int
        K-mers.

    Raises
    ------
    MissingDependencyError
        pyarrow is not installed.
    """
    arrow, parquet = require_pyarrow()
    about = {"k": str(matrix.k), "canonical": str(matrix.canonical).lower()}
    columns = [arrow.field(KMER_COLUMN, arrow.string(), False)]
    columns += [arrow.field(name, arrow.uint32(), False) for name in matrix.names]
    schema = arrow.schema(columns, metadata=about)
    encodings = {KMER_COLUMN: "DELTA_BYTE_ARRAY"} | dict.fromkeys(matrix.names, "DELTA_BINARY_PACKED")
    rows = 0
    with parquet.ParquetWriter(
        stream, schema, compression="zstd", use_dictionary=False, column_encoding=encodings
    ) as writer:
        waiting: list[Any] = []
        for block in matrix.blocks():
            waiting.append(_batch(arrow, schema, block, matrix.k))
            rows += len(block)
            if sum(len(batch) for batch in waiting) >= ROW_GROUP:
                writer.write_table(arrow.Table.from_batches(waiting))
                waiting = []
        writer.write_table(arrow.Table.from_batches(waiting, schema))
    return rows


def _batch(arrow: Any, schema: Any, block: RowBlock, k: int) -> Any:
    counts = [arrow.array(np.ascontiguousarray(column)) for column in block.counts.T]
    return arrow.RecordBatch.from_arrays([text_array(arrow, block.keys, k), *counts], schema=schema)
