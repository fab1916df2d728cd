"""Which windows of a sequence have a sketch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import SketchOptions

__all__ = ["count_windows", "range_width"]


def count_windows(letters: NDArray[np.int64], options: SketchOptions) -> NDArray[np.int64]:
    """Return the number of windows of sequences.

    Windows start at multiples of `winstride`. Whole ones follow each other as long as they fit; the one behind them
    has what is left. A window of fewer than `kmerlen` letters is none.

    Parameters
    ----------
    letters : ndarray, int64
        Lengths of sequences.
    options : SketchOptions
    """
    whole = np.maximum(letters - options.winlen, -1) // options.winstride + 1
    whole = np.where(letters < options.winlen, 0, whole)
    left = letters - whole * options.winstride
    complete = letters == options.winlen  # nothing is left of a sequence that is one window
    return np.where(complete, 1, whole + (left >= options.kmerlen))


def range_width(letters: NDArray[np.int64], insertsize: int, winstride: int) -> NDArray[np.int64]:
    """Return how many neighbouring windows of a target a read may hit.

    Parameters
    ----------
    letters : ndarray, int64
        Of a read, or of both mates together.
    insertsize : int
    winstride : int
        Of the database.
    """
    return 2 + np.maximum(letters, insertsize) // winstride
