"""Buffers that are kept from call to call."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["Rooms"]


class Rooms:
    """Device arrays by name, each made anew only when it has to be larger than it ever was.

    Parameters
    ----------
    engine : Engine
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._arrays: dict[str, DeviceArray] = {}

    def of(self, name: str, size: int, dtype: DTypeLike) -> DeviceArray:
        """Return the array of a name, with room for `size` items at least; its content is undefined.

        Raises
        ------
        AllocationError
            There is no such room on the device.
        """
        array = self._arrays.get(name)
        if array is None or array.size < size:
            if array is not None:
                array.release()
            array = self._arrays[name] = self._engine.empty(max(size, 1), np.dtype(dtype))
        return array

    def release(self) -> None:
        """Give the memory back."""
        for array in self._arrays.values():
            array.release()
        self._arrays.clear()
