"""Writes counted k-mers as a table in Apache Parquet."""

from __future__ import annotations

from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import MissingDependencyError
from oclgenomics.kmers.formats.select import SelectedKmers
from oclgenomics.kmers.keys import letters_of
from oclgenomics.kmers.kmer_set import KmerBlock

__all__ = ["ROW_GROUP", "require_pyarrow", "text_array", "write_parquet"]

ROW_GROUP = 1 << 20  # k-mers; readers take one at a time
# Neighbours begin alike, and counts are small.
ENCODINGS = {"kmer": "DELTA_BYTE_ARRAY", "count": "DELTA_BINARY_PACKED"}


def require_pyarrow() -> tuple[Any, Any]:
    """Return pyarrow and its module for Parquet.

    Raises
    ------
    MissingDependencyError
        pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError(
            "`format=parquet` needs pyarrow, which is not installed; pip install 'oclgenomics[parquet]'"
        ) from None
    return pyarrow, pyarrow.parquet


def write_parquet(kmers: SelectedKmers, stream: IO[bytes]) -> None:
    """Write columns `kmer` (text) and `count` (uint32), in ascending order, compressed with zstd.

    The metadata of the schema hold `k` and `canonical`.

    Raises
    ------
    MissingDependencyError
        pyarrow is not installed.
    """
    arrow, parquet = require_pyarrow()
    about = {"k": str(kmers.k), "canonical": str(kmers.canonical).lower()}
    columns = [arrow.field("kmer", arrow.string(), False), arrow.field("count", arrow.uint32(), False)]
    schema = arrow.schema(columns, metadata=about)
    with parquet.ParquetWriter(
        stream, schema, compression="zstd", use_dictionary=False, column_encoding=ENCODINGS
    ) as writer:
        waiting: list[Any] = []
        for block in kmers.blocks():
            waiting.append(_batch(arrow, schema, block, kmers.k))
            if sum(len(batch) for batch in waiting) >= ROW_GROUP:
                writer.write_table(arrow.Table.from_batches(waiting))
                waiting = []
        writer.write_table(arrow.Table.from_batches(waiting, schema))


def _batch(arrow: Any, schema: Any, block: KmerBlock, k: int) -> Any:
    """A block as Arrow arrays, whose memory is NumPy's."""
    return arrow.RecordBatch.from_arrays([text_array(arrow, block.keys, k), arrow.array(block.counts)], schema=schema)


def text_array(arrow: Any, keys: NDArray[np.uint64], k: int) -> Any:
    """K-mers as an Arrow array of text."""
    size = keys.shape[1]
    offsets = np.arange(size + 1, dtype=np.int32) * np.int32(k)
    letters = np.ascontiguousarray(letters_of(keys, k))
    return arrow.StringArray.from_buffers(size, arrow.py_buffer(offsets), arrow.py_buffer(letters))
