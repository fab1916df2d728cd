"""Short strings of bytes, copied from many places of an array at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["bytes_at"]


def bytes_at(data: NDArray[np.uint8], begins: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
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
    items: NDArray[np.void] = np.ndarray((len(data) - width + 1,), f"V{width}", data, 0, (1,))
    return items[begins].view(np.uint8).reshape(len(begins), width)
