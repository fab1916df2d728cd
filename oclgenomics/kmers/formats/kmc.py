"""Writes counted k-mers as a database of KMC, in the first of its formats, in which k-mers are sorted.

A database is two files:

- `.kmc_suf` is "KMCS", for each k-mer its last k - p letters (4 a byte, the first letter first) and its counter (the
  low byte first), "KMCS".
- `.kmc_pre` is "KMCP", for each prefix of p letters the number of k-mers before the first with that prefix (uint64),
  the header, its length (uint32), "KMCP".
"""

from __future__ import annotations

import struct
from typing import IO

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.database.keys import key_bytes
from oclgenomics.kmers.database.kmer_set import KmerBlock, SelectedKmers

# Letters of a prefix. With shorter ones, `kmc_dump` 3.2.1 errs in sets so small that k-mer number k has the last
# prefix; the table of the longest takes 128 MiB.
MIN_PREFIX, MAX_PREFIX = 5, 12
HEADER_BYTES = 64
MARK_PREFIXES, MARK_SUFFIXES = b"KMCP", b"KMCS"


def prefix_length(k: int, distinct: int) -> int:
    """Letters of a prefix: whole bytes remain for the suffixes, and the files are as small as they can be."""
    if k < MIN_PREFIX:
        return k
    lengths = [p for p in range(MIN_PREFIX, min(k, MAX_PREFIX) + 1) if (k - p) % 4 == 0]
    return min(lengths, key=lambda p: 8 * 4**p + distinct * ((k - p) // 4))


def write_kmc(kmers: SelectedKmers, prefixes: IO[bytes], suffixes: IO[bytes]) -> None:
    """Write the two files.

    Parameters
    ----------
    kmers : SelectedKmers
    prefixes, suffixes : binary file
        What becomes NAME.kmc_pre and NAME.kmc_suf.
    """
    p = prefix_length(kmers.k, kmers.distinct)
    counter_bytes = max(1, -(-kmers.largest.bit_length() // 8))
    having = np.zeros(4**p, np.uint64)
    suffixes.write(MARK_SUFFIXES)
    for block in kmers.blocks():
        suffixes.write(_records(block, (kmers.k - p) // 4, counter_bytes).data)
        found, times = np.unique(_prefixes(block.keys, kmers.k, p), return_counts=True)
        having[found] += times.astype(np.uint64)
    suffixes.write(MARK_SUFFIXES)
    prefixes.write(MARK_PREFIXES)
    prefixes.write((np.cumsum(having) - having).astype("<u8").data)
    prefixes.write(_header(kmers, p, counter_bytes))
    prefixes.write(struct.pack("<I", HEADER_BYTES) + MARK_PREFIXES)


def _records(block: KmerBlock, suffix_bytes: int, counter_bytes: int) -> NDArray[np.uint8]:
    records = np.empty((len(block), suffix_bytes + counter_bytes), np.uint8)
    records[:, :suffix_bytes] = key_bytes(block.keys, suffix_bytes)
    for place in range(counter_bytes):
        records[:, suffix_bytes + place] = (block.counts >> np.uint32(8 * place)).astype(np.uint8)
    return records


def _prefixes(keys: NDArray[np.uint64], k: int, p: int) -> NDArray[np.int64]:
    """The first p letters as a number; they may lie across two words."""
    word, shift = divmod(2 * (k - p), 64)
    bits = keys[word] >> np.uint64(shift)
    if shift and word + 1 < len(keys):
        bits |= keys[word + 1] << np.uint64(64 - shift)
    prefixes: NDArray[np.int64] = (bits & np.uint64(4**p - 1)).astype(np.int64)
    return prefixes


def _header(kmers: SelectedKmers, p: int, counter_bytes: int) -> bytes:
    mode = version = 0  # counts, not sums of qualities; the first format
    low, high = kmers.max_count & 0xFFFFFFFF, kmers.max_count >> 32
    fields = struct.pack("<6IQB3xI", kmers.k, mode, counter_bytes, p, kmers.min_count, low, kmers.distinct,
                         0 if kmers.canonical else 1, high)  # fmt: skip
    return fields.ljust(HEADER_BYTES - 4, b"\0") + struct.pack("<I", version)
