"""Which chunks of a pool belong to which bin, and how many lines each has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.device.layout import CHUNK_LINES

__all__ = ["ChunkLists"]


@dataclass(frozen=True)
class ChunkLists:
    """Chunks sorted by bin.

    Attributes
    ----------
    begins : ndarray, uint32 (bins + 1,)
        Chunks of bin b are chunks[begins[b]] to chunks[begins[b + 1] - 1].
    chunks : ndarray, uint32 (n,)
        Numbers of chunks in the pool.
    lines : ndarray, uint32 (n,)
        Lines that each of `chunks` has.
    """

    begins: NDArray[np.uint32]
    chunks: NDArray[np.uint32]
    lines: NDArray[np.uint32]

    @classmethod
    def of(cls, owners: NDArray[np.uint16], places: NDArray[np.uint32], bins: int) -> ChunkLists:
        """Sort chunks.

        Parameters
        ----------
        owners : ndarray, uint16 (n,)
            The bin of each chunk.
        places : ndarray, uint32
            Lines of the pool behind the last one that was stored, for each bin and walker. Where it is a multiple of
            `CHUNK_LINES`, no chunk is open; other chunks are whole.
        bins : int
        """
        lines = np.full(len(owners), CHUNK_LINES, np.uint32)
        unfinished = places[places % CHUNK_LINES > 0]
        lines[unfinished // CHUNK_LINES] = unfinished % CHUNK_LINES
        order = np.argsort(owners, kind="stable").astype(np.uint32)
        begins = np.zeros(bins + 1, np.uint32)
        np.cumsum(np.bincount(owners, minlength=bins), out=begins[1:])
        return cls(begins, order, lines[order])

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Lines of each bin, int64 (bins,)."""
        before = np.concatenate([[0], np.cumsum(self.lines, dtype=np.int64)])
        sizes: NDArray[np.int64] = np.diff(before[self.begins])
        return sizes
