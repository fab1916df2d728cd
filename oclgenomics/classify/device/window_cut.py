"""Which windows of records lie in the pieces of a block of text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.by_length import by_length
from oclgenomics.classify.options import SketchOptions
from oclgenomics.classify.windows import count_windows
from oclgenomics.sequence.pieces import Pieces

__all__ = ["WindowCut", "cut_windows"]


@dataclass(frozen=True)
class WindowCut:
    """Windows that start in what pieces own; arrays with an item a piece.

    Window i of piece p has the letters letters[p] + i * winstride .. of the text, `winlen` of them or as many as there
    are up to the piece's end.

    Attributes
    ----------
    letters : ndarray, uint32
        Place in the text of the first letter of the piece's first window.
    sizes : ndarray, uint32
        Letters from there to the piece's end; of no meaning where the piece has no window.
    first : ndarray, uint32 (pieces + 1,)
        Windows of the pieces before.
    windows : ndarray, int64
        Number of the piece's first window in its record.
    """

    letters: NDArray[np.uint32]
    sizes: NDArray[np.uint32]
    first: NDArray[np.uint32]
    windows: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.uint32]:
        """Windows of each piece."""
        counts: NDArray[np.uint32] = np.diff(self.first)
        return counts

    @property
    def size(self) -> int:
        """Windows of all pieces."""
        return int(self.first[-1])


def cut_windows(pieces: Pieces, options: SketchOptions) -> WindowCut:
    """Say which windows start in what each piece owns.

    Those of a record start at multiples of the stride. A piece that does not end its record has all letters of windows
    that start in what it owns; the last one knows the length of the record, and so its last window.

    Parameters
    ----------
    pieces : Pieces
        With an overlap of `winlen` - 1 letters.
    options : SketchOptions
    """
    stride = options.winstride
    # of records that are one piece, as most are
    counts = by_length(lambda sizes: count_windows(sizes, options).astype(np.uint32), pieces.size)
    letters, sizes, windows = pieces.letters, pieces.size, np.zeros(len(pieces), np.int64)
    parts = np.flatnonzero((pieces.start > 0) | ~pieces.ends)
    if len(parts):
        begin, ends = pieces.start[parts], pieces.ends[parts]
        first = -(-begin // stride)
        last = np.where(
            ends,
            count_windows(begin + pieces.size[parts], options),
            -(-(begin + pieces.owned[parts]) // stride),
        )
        windows[parts], counts[parts] = first, last - first
        left_out = np.minimum(first * stride - begin, pieces.size[parts]).astype(np.uint32)
        letters, sizes = letters.copy(), sizes.copy()
        letters[parts] += left_out
        sizes[parts] -= left_out
    before = np.zeros(len(pieces) + 1, np.uint32)
    np.cumsum(counts, out=before[1:])
    return WindowCut(letters, sizes, before, windows)
