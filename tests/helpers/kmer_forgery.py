"""K-mer databases under right checksums, each section sound by itself, whose sections do not follow each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.database.codec import encode_sections
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.layout import HEAD_BYTES, HISTOGRAM, SECTION_KMERS, Foot, Head
from oclgenomics.kmers.options import CountOptions

__all__ = ["FORGERIES", "keys_in_order", "write_forgery", "write_sections"]

FORGERIES = {
    "beyond": (0, "reach beyond"),
    "equal": (0, "reach beyond"),
    "letters": (2, "too many bases"),
    "first": (1, "not the one that the table of sections has"),
}
"""Which section is wrong, and how the error ends."""


def keys_in_order(k: int) -> NDArray[np.uint64]:
    """Keys of two sections and a bit, uint64 (words, n), with room for another between any two."""
    numbers = np.arange(2 * SECTION_KMERS + 5, dtype=np.uint64)
    keys = np.zeros((key_words(k), len(numbers)), np.uint64)
    if len(keys) == 1:
        keys[0] = 2 * numbers + 1
    else:  # words below are 0 where sections begin
        keys[-1], keys[0] = numbers // 4, numbers % 4 << 62
    return keys


def write_forgery(path: Path, k: int, forgery: str) -> None:
    """Write a database of `FORGERIES`, or a sound one if the name is another; k = 32 has no keys of too many bases."""
    keys = keys_in_order(k)
    first = keys[:, SECTION_KMERS].copy()
    if forgery in ("beyond", "equal"):
        keys[:, SECTION_KMERS - 1] = first
        keys[0, SECTION_KMERS - 1] += np.uint64(forgery == "beyond")
    if forgery == "letters":
        keys[-1, -1] |= np.uint64(1 << (2 * k - 64 * (len(keys) - 1)))
    starts = range(0, keys.shape[1], SECTION_KMERS)
    sections = [keys[:, start : start + SECTION_KMERS] for start in starts]
    if forgery in ("beyond", "equal"):
        sections[1] = np.concatenate([first[:, None], sections[1][:, 1:]], axis=1)
    firsts = np.stack([section[:, 0] for section in sections], axis=1)
    if forgery == "first":
        firsts[:, 1] = keys[:, SECTION_KMERS + 1]
    write_sections(path, k, sections, firsts)


def write_sections(path: Path, k: int, sections: list[NDArray[np.uint64]], firsts: NDArray[np.uint64]) -> None:
    """Write keys as sections, each of them once, whatever order they have among each other.

    Parameters
    ----------
    sections : list of uint64 (words, n)
        Each in ascending order, all but the last one full.
    firsts : uint64 (words, sections)
        What the table says of first keys.
    """
    data, tables = b"", []
    for keys in sections:
        code, coded = encode_sections(np.ascontiguousarray(keys), np.ones(keys.shape[1], np.uint32))
        tables.append(coded.table.copy())
        tables[-1]["offset"] = HEAD_BYTES + len(data)
        data += code
    table = np.concatenate(tables)
    table["first"] = firsts.T
    size = sum(keys.shape[1] for keys in sections)
    histogram = np.array([(1, size)], HISTOGRAM)
    tail = table.tobytes() + histogram.tobytes()
    foot = Foot(HEAD_BYTES + len(data), len(sections), 1, size, size).pack(tail)
    path.write_bytes(Head(CountOptions(k, False), "0.1.0").pack() + data + tail + foot)
