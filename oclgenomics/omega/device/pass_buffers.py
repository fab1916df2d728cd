"""Device memory of one pass: the sums of the block at work, and what its windows need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields

import numpy as np

from oclgenomics.omega.cost import KERNEL_TILES
from oclgenomics.omega.passes import Pass
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["PassBuffers", "TileBuffers", "pass_buffers", "tile_buffers"]


@dataclass(frozen=True)
class PassBuffers:
    """Arrays of all passes; sizes are those of the `Pass`.

    Attributes
    ----------
    windows : DeviceArray, int32 (windows, WINDOW_FIELDS)
        The table of the windows.
    sums : DeviceArray, int64 or float32 (sums_size,)
        Values of the block's pairs, then the sums M of its regions.
    carry : DeviceArray, int64 or float32 (carry_size,)
        The last row of the block before.
    left : DeviceArray, int64 or float32 (slots_size,)
        Sums of the left parts of the windows under way.
    left_float : DeviceArray, float32 (slots_size,)
        The same, rounded.
    """

    windows: DeviceArray
    sums: DeviceArray
    carry: DeviceArray
    left: DeviceArray
    left_float: DeviceArray


@dataclass(frozen=True)
class TileBuffers:
    """Arrays of passes with windows for the tile kernel.

    Attributes
    ----------
    windows_of_i, windows_of_j : DeviceArray, int32 (tiles, 2)
        As in `Pass`.
    left_tiles : DeviceArray, float32 (slots * tiles_stride,)
        Left sums less those at the corners of their tiles.
    """

    windows_of_i: DeviceArray
    windows_of_j: DeviceArray
    left_tiles: DeviceArray


@contextmanager
def pass_buffers(engine: Engine, walk: Pass, sum_type: type[np.generic]) -> Iterator[PassBuffers]:
    """Allocate the arrays of a pass, and give them back at its end."""
    buffers = PassBuffers(
        windows=engine.upload(walk.table),
        sums=engine.empty(walk.sums_size, sum_type),
        carry=engine.empty(walk.carry_size, sum_type),
        left=engine.empty(walk.slots_size, sum_type),
        left_float=engine.empty(walk.slots_size, np.float32),
    )
    try:
        yield buffers
    finally:
        _release(buffers)


@contextmanager
def tile_buffers(engine: Engine, walk: Pass) -> Iterator[TileBuffers | None]:
    """Allocate what the tile kernel needs, and give it back at the pass's end; None where the kernel is not used."""
    if not any(stretch.kernel == KERNEL_TILES for block in walk.blocks for stretch in block.stretches):
        yield None
        return
    buffers = TileBuffers(
        windows_of_i=engine.upload(walk.windows_of_i),
        windows_of_j=engine.upload(walk.windows_of_j),
        left_tiles=engine.empty(walk.slots * walk.tiles_stride, np.float32),
    )
    try:
        yield buffers
    finally:
        _release(buffers)


def _release(buffers: PassBuffers | TileBuffers) -> None:
    for each in fields(buffers):
        array: DeviceArray = getattr(buffers, each.name)
        array.release()
