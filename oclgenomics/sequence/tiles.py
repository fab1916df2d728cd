"""Text cut into tiles, each of which a work-item takes."""

from __future__ import annotations

from typing import Any

from numpy.typing import DTypeLike

from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel

__all__ = ["MAX_BYTES", "NOTHING", "Tiles", "filled"]

MAX_BYTES = 1 << 29  # of a block: places in it are 30 bits
NOTHING = 0xFFFFFFFF  # in a report, before anything is found; its counter goes on from there
GPU_TILE = 256  # bytes
CPU_TILES, CPU_TILE = 64, 4096  # at most so many tiles, at least so many bytes each


class Tiles:
    """Launches the kernels of one source with a work-item a tile.

    Parameters
    ----------
    engine : Engine
    size : int
        Bytes of the text.
    source : str
        Path below `kernels_cl`.
    **wanted : bool
        Names that are defined as 1 where True.

    Attributes
    ----------
    tiles : int

    Raises
    ------
    ValueError
        A text without bytes, or with more than `MAX_BYTES`.
    """

    def __init__(self, engine: Engine, size: int, source: str, **wanted: bool) -> None:
        if not 0 < size <= MAX_BYTES:
            raise ValueError(f"a block has 1 to {MAX_BYTES} bytes, not {size}")
        cpu = engine.tuning.cpu
        self._engine, self._source = engine, source
        self._defines = {name: 1 for name, asked in wanted.items() if asked}
        if cpu:
            self._defines["WIDE"] = 1
        self._lanes = 1 if cpu else None  # the tuning's
        tile = max(CPU_TILE, -(-size // CPU_TILES)) if cpu else GPU_TILE
        self.tiles = -(-size // tile)
        self._cut = {"size": size, "tile": tile, "tiles": self.tiles}

    def __call__(self, name: str, **arguments: Any) -> None:
        kernel: Kernel = self._engine.kernel(self._source, name, **self._defines)
        self._engine.launch_items(kernel, self.tiles, lanes=self._lanes, **self._cut, **arguments)


def filled(engine: Engine, size: int, dtype: DTypeLike, value: int) -> DeviceArray:
    """Allocate an array with one value everywhere."""
    array = engine.empty(size, dtype)
    engine.fill(array, value)
    return array
