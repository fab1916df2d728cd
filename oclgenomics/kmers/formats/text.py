"""Writes counted k-mers as text: a line or a record for each."""

from __future__ import annotations

from typing import IO

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.formats.select import SelectedKmers
from oclgenomics.kmers.keys import padded_letters
from oclgenomics.kmers.kmer_set import KmerBlock

__all__ = ["count_digits", "fasta_rows", "put_digits", "put_letters", "tsv_rows", "write_fasta", "write_tsv"]

TAB, NEWLINE, MARK, ZERO = (np.uint8(ord(letter)) for letter in "\t\n>0")
POWERS = np.array([10**power for power in range(1, 10)], np.uint32)


def write_tsv(kmers: SelectedKmers, stream: IO[bytes]) -> None:
    """Write a line for each k-mer, in ascending order: the k-mer, a tab, its count."""
    for block in kmers.blocks():
        stream.write(tsv_rows(block, kmers.k))


def write_fasta(kmers: SelectedKmers, stream: IO[bytes]) -> None:
    """Write a record for each k-mer, in ascending order, named by its count, as `jellyfish dump` does."""
    for block in kmers.blocks():
        stream.write(fasta_rows(block, kmers.k))


def tsv_rows(block: KmerBlock, k: int) -> memoryview:
    """The lines of `write_tsv`."""
    digits = count_digits(block.counts)
    ends = np.cumsum(digits + (k + 2))
    rows = np.empty(int(ends[-1]), np.uint8)
    starts = ends - digits - (k + 2)
    put_letters(rows, starts, block.keys, k)
    rows[starts + k] = TAB
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
