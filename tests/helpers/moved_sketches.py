"""A small job for the kernels that move sketches."""

from __future__ import annotations

import numpy as np

from oclgenomics.classify.device.sketches import Sketches, SketchRows, joined_rows, paired_rows
from oclgenomics.runtime import Engine

__all__ = ["moved_sketches"]


def moved_sketches(engine: Engine, size: int) -> None:
    """Join rows of two arrays, and bring the rows of mates together."""
    arrays = [np.arange(first, first + 9 * size, dtype=np.uint32).reshape(9, size) for first in (0, 1000)]
    one, other = (Sketches(engine.upload(array), 9) for array in arrays)
    joined = joined_rows(engine, [SketchRows(one, 2, 9), SketchRows(other, 0, 4)])
    np.testing.assert_array_equal(_rows(engine, joined), np.concatenate([arrays[0][2:9], arrays[1][:4]]))
    counts = [np.array([2, 0, 1, 3]), np.array([1, 1, 0, 2])]
    paired = paired_rows(engine, [(SketchRows(one, 3, 9), counts[0]), (SketchRows(other, 1, 5), counts[1])])
    (a, b), order = arrays, [(0, 3), (0, 4), (1, 1), (1, 2), (0, 5), (0, 6), (0, 7), (0, 8), (1, 3), (1, 4)]
    np.testing.assert_array_equal(_rows(engine, paired), [(b if which else a)[row] for which, row in order])


def _rows(engine: Engine, sketches: Sketches) -> np.ndarray:
    return engine.download(sketches.features, sketches.windows * sketches.size).reshape(-1, sketches.size)
