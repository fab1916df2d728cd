"""Sections of a k-mer database: some k-mers as bytes.

A section is its first key raw, the differences of neighbours among its keys as variable-length quantities, and its
counts less one in Simple-8b words.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers import simple8b, vlq
from oclgenomics.kmers.arithmetic import differences, is_ascending, running_sums
from oclgenomics.kmers.layout import SECTION_KMERS, checksum, section_bytes, section_table
from oclgenomics.kmers.sets import KmerBlock

__all__ = ["Parts", "decode_section", "encode_parts", "join_parts"]


class Parts(NamedTuple):
    """What sections are made of: the first key raw and the gaps, and the counts, of each."""

    gaps: list[memoryview]
    counts: list[memoryview]


def encode_parts(keys: NDArray[np.uint64], counts: NDArray[np.uint32]) -> Parts:
    """Encode k-mers as whole sections, of which the last one may be shorter.

    Parameters
    ----------
    keys : uint64 (words, n)
        Ascending.
    counts : uint32 (n,)
        At least 1.
    """
    words, word_starts = simple8b.encode(counts - np.uint32(1))
    packed = words.astype("<u8", copy=False).view(np.uint8).data
    starts = np.arange(0, len(counts), SECTION_KMERS)
    cuts = [*(8 * np.searchsorted(word_starts, starts)).tolist(), len(packed)]
    gaps = []
    for start in starts.tolist():
        part = keys[:, start : start + SECTION_KMERS]
        first = part[:, 0].astype("<u8").view(np.uint8)
        gaps.append(np.concatenate([first, vlq.encode(differences(part))]).data)
    return Parts(gaps, [packed[low:high] for low, high in itertools.pairwise(cuts)])


def join_parts(keys: NDArray[np.uint64], parts: Parts) -> tuple[bytes, NDArray[np.void]]:
    """Join the parts of sections.

    Parameters
    ----------
    keys : uint64 (words, n)
        What was encoded.
    parts : Parts

    Returns
    -------
    data : bytes
        The sections, one after the other.
    table : ndarray of `section_table` (sections,)
        Offsets are from the start of `data`.
    """
    words, size = keys.shape
    table = np.zeros(len(parts.gaps), section_table(words))
    starts = np.arange(0, size, SECTION_KMERS)
    table["first"] = keys[:, starts].T
    table["kmers"] = np.diff(starts, append=size)
    table["gap_bytes"] = [len(gaps) - 8 * words for gaps in parts.gaps]
    table["count_words"] = [len(counts) // 8 for counts in parts.counts]
    sections = list(zip(*parts, strict=True))
    table["checksum"] = [checksum(*section) for section in sections]
    table["offset"][1:] = np.cumsum(section_bytes(table))[:-1]
    return b"".join(itertools.chain(*sections)), table


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
