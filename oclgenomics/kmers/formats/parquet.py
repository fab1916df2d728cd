"""Writes counted k-mers, and matrices of counts, as tables in Apache Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.database.keys import letters_of
from oclgenomics.kmers.database.kmer_set import SelectedKmers
from oclgenomics.kmers.sets.rows import MatrixRows
from oclgenomics.lazy_names import optional

ROW_GROUP = 1 << 20  # k-mers; readers take one at a time


def require_pyarrow() -> tuple[Any, Any]:
    """Return pyarrow and its module for Parquet.

    Raises
    ------
    MissingDependencyError
        pyarrow is not installed.
    """
    need = "`format=parquet` needs pyarrow, which is not installed; pip install 'oclgenomics[parquet]'"
    return optional("pyarrow", need), optional("pyarrow.parquet", need)


def write_parquet(kmers: SelectedKmers, stream: IO[bytes]) -> None:
    """Write columns `kmer` (text) and `count` (uint32), in ascending order, compressed with zstd.

    The metadata of the schema hold `k` and `canonical`.

    Raises
    ------
    MissingDependencyError
        pyarrow is not installed.
    """
    _write(stream, kmers, ["count"], ((block.keys, block.counts[:, None]) for block in kmers.blocks()))


def write_matrix_parquet(matrix: MatrixRows, stream: IO[bytes]) -> int:
    """Write a column `kmer` (text) and one for each sample (uint32), as `write_parquet` does.

    Returns
    -------
    int
        K-mers.

    Raises
    ------
    MissingDependencyError
        pyarrow is not installed.
    """
    return _write(stream, matrix, matrix.names, ((block.keys, block.counts) for block in matrix.blocks()))


def _write(
    stream: IO[bytes],
    kind: SelectedKmers | MatrixRows,
    names: Sequence[str],
    blocks: Iterable[tuple[NDArray[np.uint64], NDArray[np.uint32]]],
) -> int:
    """Write blocks of keys and their counts, (words, n) and (n, names); return how many k-mers there were."""
    arrow, parquet = require_pyarrow()
    about = {"k": str(kind.k), "canonical": str(kind.canonical).lower()}
    columns = [
        arrow.field("kmer", arrow.string(), False),
        *(arrow.field(name, arrow.uint32(), False) for name in names),
    ]
    schema = arrow.schema(columns, metadata=about)
    encodings = {"kmer": "DELTA_BYTE_ARRAY"} | dict.fromkeys(names, "DELTA_BINARY_PACKED")  # neighbours begin alike
    rows = 0
    with parquet.ParquetWriter(
        stream, schema, compression="zstd", use_dictionary=False, column_encoding=encodings
    ) as writer:
        waiting: list[Any] = []
        for keys, counts in blocks:
            arrays = [arrow.array(np.ascontiguousarray(column)) for column in counts.T]  # their memory is NumPy's
            waiting.append(arrow.RecordBatch.from_arrays([text_array(arrow, keys, kind.k), *arrays], schema=schema))
            rows += len(counts)
            if sum(len(batch) for batch in waiting) >= ROW_GROUP:
                writer.write_table(arrow.Table.from_batches(waiting))
                waiting = []
        writer.write_table(arrow.Table.from_batches(waiting, schema))
    return rows


def text_array(arrow: Any, keys: NDArray[np.uint64], k: int) -> Any:
    """K-mers as an Arrow array of text."""
    size = keys.shape[1]
    offsets = np.arange(size + 1, dtype=np.int32) * np.int32(k)
    letters = np.ascontiguousarray(letters_of(keys, k))
    return arrow.StringArray.from_buffers(size, arrow.py_buffer(offsets), arrow.py_buffer(letters))
