"""Writes counted k-mers, and matrices of counts, as text: a line or a record for each k-mer."""

from __future__ import annotations

from typing import IO

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.database.keys import padded_letters
from oclgenomics.kmers.database.kmer_set import KmerBlock, SelectedKmers
from oclgenomics.kmers.sets.rows import MatrixRows, RowBlock

TAB, NEWLINE, MARK, ZERO, BLANK = (np.uint8(ord(letter)) for letter in "\t\n>0 ")
POWERS = np.array([10**power for power in range(1, 10)], np.uint32)


def write_tsv(kmers: SelectedKmers, stream: IO[bytes]) -> None:
    """Write a line for each k-mer, in ascending order: the k-mer, a tab, its count."""
    for block in kmers.blocks():
        stream.write(tsv_rows(block, kmers.k))


def write_jellyfish(kmers: SelectedKmers, stream: IO[bytes]) -> None:
    """Write a line for each k-mer, in ascending order: the k-mer, a blank, its count, as `jellyfish dump -c` does."""
    for block in kmers.blocks():
        stream.write(tsv_rows(block, kmers.k, BLANK))


def write_fasta(kmers: SelectedKmers, stream: IO[bytes]) -> None:
    """Write a record for each k-mer, in ascending order, named by its count, as `jellyfish dump` does."""
    for block in kmers.blocks():
        stream.write(fasta_rows(block, kmers.k))


def tsv_rows(block: KmerBlock, k: int, between: np.uint8 = TAB) -> memoryview:
    """The lines of `write_tsv`, or with something else between a k-mer and its count."""
    digits = count_digits(block.counts)
    ends = np.cumsum(digits + (k + 2))
    rows = np.empty(int(ends[-1]), np.uint8)
    starts = ends - digits - (k + 2)
    put_letters(rows, starts, block.keys, k)
    rows[starts + k] = between
    put_digits(rows, ends - 2, block.counts)
    rows[ends - 1] = NEWLINE
    return rows.data


def fasta_rows(block: KmerBlock, k: int) -> memoryview:
    """The records of `write_fasta`."""
    digits = count_digits(block.counts)
    ends = np.cumsum(digits + (k + 3))
    rows = np.empty(int(ends[-1]), np.uint8)
    rows[ends - digits - (k + 3)] = MARK
    put_digits(rows, ends - (k + 3), block.counts)
    rows[ends - (k + 2)] = NEWLINE
    put_letters(rows, ends - (k + 1), block.keys, k)
    rows[ends - 1] = NEWLINE
    return rows.data


def count_digits(counts: NDArray[np.uint32]) -> NDArray[np.int64]:
    """How many digits each count has."""
    return np.searchsorted(POWERS, counts, side="right") + 1


def put_letters(rows: NDArray[np.uint8], places: NDArray[np.int64], keys: NDArray[np.uint64], k: int) -> None:
    """Write each k-mer from its place on, as one item of k bytes. Items of the target may overlap."""
    letters = padded_letters(keys, k)
    item = np.dtype((np.void, k))
    target = np.ndarray((len(rows) - k + 1,), item, rows.data, 0, (1,))
    target[places] = np.ndarray((len(letters),), item, letters.data, 0, letters.strides[:1])


def put_digits(rows: NDArray[np.uint8], places: NDArray[np.int64], counts: NDArray[np.uint32]) -> None:
    """Write numbers so that their last digits are at these places."""
    ten = np.uint32(10)
    while len(counts):
        rest = counts // ten
        rows[places] = (counts - rest * ten).astype(np.uint8) + ZERO
        more = np.flatnonzero(rest)
        counts, places = rest[more], places[more] - 1


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
