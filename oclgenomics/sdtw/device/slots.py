"""Scores that stay on the device, so that a read which goes on costs its new samples only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import Engine
from oclgenomics.sdtw.device.strips import ReferenceStrips
from oclgenomics.sdtw.plan import CellShape

__all__ = ["NO_SLOT", "Slots"]

NO_SLOT = (1 << 32) - 1


class Slots:
    """Room for the scores of some reads at all columns.

    A segment reads scores of columns that the one before it writes, so a slot has two places, which take turns.

    Parameters
    ----------
    engine : Engine
    strips : ReferenceStrips
    shape : CellShape
    bonus : bool
        Whether columns have a bonus beside the score.
    count : int
    """

    def __init__(self, engine: Engine, strips: ReferenceStrips, shape: CellShape, bonus: bool, count: int) -> None:
        self.shape = shape
        self.size = self._elements(strips, shape, bonus)
        self.kept = engine.empty((2 * count, self.size), shape.dtype)
        self.rows = np.zeros(count, np.int64)
        self._turn = np.zeros(count, np.uint32)

    @classmethod
    def bytes_of(cls, strips: ReferenceStrips, shape: CellShape, bonus: bool) -> int:
        """Return the bytes of a slot."""
        return 2 * cls._elements(strips, shape, bonus) * shape.dtype.itemsize

    @staticmethod
    def _elements(strips: ReferenceStrips, shape: CellShape, bonus: bool) -> int:
        return len(strips) * shape.strip * (2 if bonus else 1)

    def places(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the places that scores of some slots come from, and those that they go to."""
        base = 2 * numbers.astype(np.uint32)
        return base + self._turn[numbers], base + (self._turn[numbers] ^ np.uint32(1))

    def advance(self, numbers: NDArray[np.int64], rows: int) -> None:
        """Note that scores have come to their new places: so many rows are aligned."""
        self._turn[numbers] ^= np.uint32(1)
        self.rows[numbers] = rows
