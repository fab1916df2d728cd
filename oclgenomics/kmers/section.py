"""Sections of a k-mer database: some k-mers as bytes.

A section is its first key raw, the differences of neighbours among its keys as variable-length quantities, and its
counts less one in Simple-8b words.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers import simple8b, vlq
from oclgenomics.kmers.arithmetic import differences, is_ascending, running_sums
from oclgenomics.kmers.layout import SECTION_KMERS, checksum, section_bytes, section_table
from oclgenomics.kmers.sets import KmerBlock

__all__ = ["decode_section", "encode_sections"]


def encode_sections(keys: NDArray[np.uint64], counts: NDArray[np.uint32]) -> tuple[bytes, NDArray[np.void]]:
    """Encode k-mers as whole sections, of which the last one may be shorter.

    Parameters
    ----------
    keys : uint64 (words, n)
        Ascending.
    counts : uint32 (n,)
        At least 1.

    Returns
    -------
    data : bytes
        The sections, one after the other.
    table : ndarray of `section_table` (sections,)
        Offsets are from the start of `data`.
    """
    words, word_starts = simple8b.encode(counts - np.uint32(1))
    packed = words.astype("<u8", copy=False).view(np.uint8).data
    starts = range(0, len(counts), SECTION_KMERS)
    cuts = [*(8 * np.searchsorted(word_starts, np.array(starts))).tolist(), len(packed)]
    table = np.zeros(len(starts), section_table(len(keys)))
    parts: list[bytes | memoryview] = []
    for entry, start, low, high in zip(table, starts, cuts[:-1], cuts[1:], strict=True):
        part = keys[:, start : start + SECTION_KMERS]
        entry["first"] = part[:, 0]
        entry["kmers"] = part.shape[1]
        section = entry["first"].tobytes(), vlq.encode(differences(part)).data, packed[low:high]
        entry["gap_bytes"], entry["count_words"] = len(section[1]), (high - low) // 8
        entry["checksum"] = checksum(*section)
        parts += section
    table["offset"][1:] = np.cumsum(section_bytes(table))[:-1]
    return b"".join(parts), table


def decode_section(data: bytes, words: int, kmers: int, gap_bytes: int) -> KmerBlock:
    """Decode a section.

    Parameters
    ----------
    data : bytes
        All of the section.
    words : int
        Words of a key.
    kmers : int
    gap_bytes : int
        Bytes of the differences; what follows them are the counts.

    Raises
    ------
    ValueError
        The bytes are no such section.
    """
    raw = np.frombuffer(data, np.uint8)
    gaps_end = 8 * words + gap_bytes
    first = raw[: 8 * words].view("<u8")
    gaps = vlq.decode(raw[8 * words : gaps_end], kmers - 1, words)
    keys = running_sums(first, gaps)
    if not is_ascending(keys):
        raise ValueError("its k-mers are not in ascending order")
    packed = np.frombuffer(data, "<u8", offset=gaps_end).astype(np.uint64)
    counts = simple8b.decode(packed, kmers)
    counts += np.uint32(1)
    if not counts.all():
        raise ValueError("a count is larger than 32 bits hold")
    return KmerBlock(keys, counts)
