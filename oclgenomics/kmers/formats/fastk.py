"""Writes counted k-mers as a table of FastK: a file that users name, and a hidden one next to it that has the k-mers.

K-mers are numbers of whole bytes, 4 bases each, the first one highest; bases that are missing are A. Numbers
below are little-endian. A table in one part is two files:

- `NAME.ktab` has k, the number of parts, the least count, the bytes p of a prefix (4 x int32), and for each prefix how
  many k-mers have this prefix or a lower one (int64).
- `.NAME.ktab.1` has k (int32), the number of k-mers (int64), and for each k-mer its bytes behind the prefix and its
  count (uint16), 32,767 for all higher ones.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.kmers.database.keys import key_bytes
from oclgenomics.kmers.database.kmer_set import KmerBlock, SelectedKmers

SUFFIX = ".ktab"
LARGEST = (1 << 15) - 1  # count
MAX_PREFIX_BYTES = 3  # bytes, whose table takes 128 MiB
PARTS = 1


def fastk_names(output: str) -> list[str]:
    """Return the files of a table: the one that users name, with or without its suffix, and the one with the k-mers."""
    path = Path(output)
    name = path.name.removesuffix(SUFFIX)
    return [str(path.with_name(f"{name}{SUFFIX}")), str(path.with_name(f".{name}{SUFFIX}.{PARTS}"))]


def prefix_bytes(k: int, distinct: int) -> int:
    """Bytes of a prefix: the files are as small as they can be."""
    size = kmer_bytes(k)
    return min(range(1, min(size, MAX_PREFIX_BYTES) + 1), key=lambda p: 8 * 256**p + distinct * (size - p))


def kmer_bytes(k: int) -> int:
    """Bytes of a k-mer, the last of which may be filled in part."""
    return -(-k // 4)


def write_fastk(kmers: SelectedKmers, stub: IO[bytes], part: IO[bytes]) -> None:
    """Write the two files.

    Parameters
    ----------
    kmers : SelectedKmers
    stub, part : binary file
        What becomes NAME.ktab and .NAME.ktab.1.

    Raises
    ------
    UsageError
        The k-mers are not canonical, as all of FastK's are.
    """
    if not kmers.canonical:
        raise UsageError("`format=fastk` is for canonical k-mers, and these are not; count them anew")
    p = prefix_bytes(kmers.k, kmers.distinct)
    having = np.zeros(256**p, np.int64)
    part.write(struct.pack("<iq", kmers.k, kmers.distinct))
    for block in kmers.blocks():
        whole = _whole_bytes(block, kmers.k)
        records = np.empty((len(block), whole.shape[1] - p + 2), np.uint8)
        records[:, :-2] = whole[:, p:]
        records[:, -2:] = np.minimum(block.counts, LARGEST).astype("<u2").view(np.uint8).reshape(-1, 2)
        part.write(records.data)
        prefixes = np.zeros(len(block), np.int64)
        for place in range(p):
            prefixes = prefixes << 8 | whole[:, place]
        found, times = np.unique(prefixes, return_counts=True)
        having[found] += times
    stub.write(struct.pack("<4i", kmers.k, PARTS, kmers.min_count, p))
    stub.write(np.cumsum(having).astype("<i8").data)


def _whole_bytes(block: KmerBlock, k: int) -> NDArray[np.uint8]:
    """K-mers with bases A behind them up to whole bytes, uint8 (k-mers, bytes)."""
    size = kmer_bytes(k)
    shift = np.uint64(2 * (4 * size - k))
    keys = np.zeros((len(block.keys) + 1, len(block)), np.uint64)
    keys[:-1] = block.keys << shift
    if shift:
        keys[1:] |= block.keys >> (np.uint64(64) - shift)
    return key_bytes(keys, size)
