"""Writes a matrix of counts as text."""

from __future__ import annotations

from typing import IO

import numpy as np

from oclgenomics.kmers.formats.text import NEWLINE, TAB, count_digits, put_digits, put_letters
from oclgenomics.kmers.matrix_rows import MatrixRows
from oclgenomics.kmers.sets.rows import RowBlock

__all__ = ["matrix_rows", "write_matrix_tsv"]


def write_matrix_tsv(matrix: MatrixRows, stream: IO[bytes]) -> int:
    """Write a line of names, then one for each k-mer: the k-mer and its count in each sample, between tabs.

    Returns
    -------
    int
        K-mers.
    """
    stream.write("\t".join(["kmer", *matrix.names]).encode() + b"\n")
    rows = 0
    for block in matrix.blocks():
        stream.write(matrix_rows(block, matrix.k))
        rows += len(block)
    return rows


def matrix_rows(block: RowBlock, k: int) -> memoryview:
    """The lines of a block."""
    digits = count_digits(block.counts.ravel()).reshape(block.counts.shape)
    # A row is k letters, and for each count what parts it from what is before, and its digits; then a newline.
    ends = np.cumsum(digits + 1, axis=1)
    sizes = ends[:, -1] + (k + 1)
    stops = np.cumsum(sizes)
    starts = stops - sizes
    text = np.full(int(stops[-1]), TAB, np.uint8)
    put_letters(text, starts, block.keys, k)
    put_digits(text, (starts[:, None] + (k - 1) + ends).ravel(), block.counts.ravel())
    text[stops - 1] = NEWLINE
    return text.data
