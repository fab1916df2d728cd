"""Short strings of bytes at many places of an array, and tables that classify bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

__all__ = ["byte_table", "bytes_at"]


def bytes_at(data: np.ndarray, begins: np.ndarray, width: int) -> np.ndarray:
    """Copy `width` bytes from each begin; uint8 (len(begins), width), writable.

    The places are seen as overlapping items of `width` bytes, so that one item is one copy of memory.

    Parameters
    ----------
    data : ndarray of uint8, contiguous
        Must reach `width` bytes beyond the last begin.
    begins : ndarray of int64
        Offsets.
    width : int
        Bytes.
    """
    if width == 0 or len(begins) == 0:
        return np.zeros((len(begins), width), np.uint8)
    items = np.ndarray((len(data) - width + 1,), f"V{width}", data, 0, (1,))
    return items[begins].view(np.uint8).reshape(len(begins), width)


def byte_table(default: int, classes: Mapping[str, int | Sequence[int]]) -> np.ndarray:
    """A table of 256 codes: the characters of each key get its code, or the codes one by one."""
    table = np.full(256, default, np.uint8)
    for characters, codes in classes.items():
        table[list(characters.encode())] = codes
    return table
