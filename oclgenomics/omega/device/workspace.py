"""Working memory that grows to what is asked for."""

from __future__ import annotations

import numpy as np

from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["Workspace", "work_bytes"]

WORK_BYTES = 256 << 20  # most memory for the candidates, and for the tiles' sums and peaks, of the windows at work


def work_bytes(engine: Engine) -> int:
    """Bytes that candidates, and tiles' sums and peaks, may take each."""
    return min(WORK_BYTES, engine.budget // 16, engine.max_allocation)


class Workspace:
    """Device arrays of one size whose contents nobody needs any more when they are asked for again.

    Parameters
    ----------
    engine : Engine
    *dtypes : NumPy types
        One for each array.
    """

    def __init__(self, engine: Engine, *dtypes: type[np.generic]) -> None:
        self._engine, self._dtypes = engine, dtypes
        self._arrays: list[DeviceArray] = []

    def reserve(self, count: int) -> list[DeviceArray]:
        """Return arrays of so many items at least."""
        if not self._arrays or self._arrays[0].size < count:
            self.release()
            self._arrays = [self._engine.empty(count, dtype) for dtype in self._dtypes]
        return self._arrays

    def release(self) -> None:
        """Give the memory back."""
        for array in self._arrays:
            array.release()
        self._arrays = []
