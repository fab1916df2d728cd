"""Sections of a k-mer database: some k-mers as bytes.

A section is its first key raw, the differences of neighbours among its keys as variable-length quantities, and its
counts less one in Simple-8b words.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oclgenomics.kmers.arithmetic import differences, is_ascending, running_sums
from oclgenomics.kmers.database.layout import SECTION_KMERS, checksum, section_table
from oclgenomics.kmers.database.sections import simple8b, vlq
from oclgenomics.kmers.kmer_set import KmerBlock
from oclgenomics.kmers.tally import Tally

__all__ = ["Coded", "decode_section", "encode_sections", "table_of"]


class Coded(NamedTuple):
    """What is kept of sections that were encoded.

    Attributes
    ----------
    table : ndarray of `section_table` (sections,)
        All but the offsets.
    tally : Tally
        Their counts.
    first, last : uint64 (words,)
        The first and the last key.
    """

    table: NDArray[np.void]
    tally: Tally
    first: NDArray[np.uint64]
    last: NDArray[np.uint64]


def table_of(
    firsts: NDArray[np.uint64],
    size: int,
    gap_bytes: ArrayLike,
    count_words: ArrayLike,
    checksums: ArrayLike,
) -> NDArray[np.void]:
    """Make the table of sections, without offsets; `size` is the number of k-mers, `firsts` has (words, sections)."""
    words, sections = firsts.shape
    table = np.zeros(sections, section_table(words))
    table["first"] = firsts.T
    table["kmers"] = np.diff(np.arange(sections) * SECTION_KMERS, append=size)
    table["gap_bytes"], table["count_words"], table["checksum"] = gap_bytes, count_words, checksums
    return table


def encode_sections(keys: NDArray[np.uint64], counts: NDArray[np.uint32]) -> tuple[bytes, Coded]:
    """Encode k-mers as whole sections, of which the last one may be shorter; return them one after the other.

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
    sections = [
        (_encode_keys(keys[:, start : start + SECTION_KMERS]), packed[low:high])
        for start, (low, high) in zip(starts.tolist(), itertools.pairwise(cuts), strict=True)
    ]
    table = table_of(
        keys[:, starts],
        len(counts),
        [len(gaps) - 8 * len(keys) for gaps, _ in sections],
        [len(packed) // 8 for _, packed in sections],
        [checksum(*section) for section in sections],
    )
    data = b"".join(itertools.chain(*sections))
    return data, Coded(table, Tally(counts), keys[:, 0].copy(), keys[:, -1].copy())


def _encode_keys(keys: NDArray[np.uint64]) -> memoryview:
    """The first key raw and the gaps."""
    first = keys[:, 0].astype("<u8").view(np.uint8)
    return np.concatenate([first, vlq.encode(differences(keys))]).data


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
