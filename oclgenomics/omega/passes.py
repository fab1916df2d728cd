"""What a plan of a scan is made of: passes over the genome, their blocks of rows, and stretches of windows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["TILE", "WINDOW_FIELDS", "Block", "Limits", "Pass", "Stretch", "round_up"]

TILE = 64  # sites; blocks and columns begin at multiples of it
WINDOW_FIELDS = 8  # ints in a row of the window table; kernels_cl/omega/layout.clh


@dataclass(frozen=True)
class Limits:
    """What of the device the plan depends on.

    Attributes
    ----------
    budget : int
        Bytes that blocks and slots may take together.
    max_allocation : int
        Bytes that one buffer may take.
    compute_units, warp : int
        Of the device.
    cpu : bool
        Blocks stay within a cache rather than fill the memory.
    site_bytes : int
        Bytes of one site's bits where they are uploaded block by block; 0 where all sites are on the device.
    planes : int
        Buffers among which `site_bytes` are shared out.
    """

    budget: int
    max_allocation: int
    compute_units: int
    warp: int
    cpu: bool
    site_bytes: int = 0
    planes: int = 1


@dataclass(frozen=True)
class Stretch:
    """Windows [start, stop) of a pass's table that one kernel scores in one block."""

    kernel: int
    start: int
    stop: int
    lefts: int  # most left borders of any window of the stretch
    rows: int  # most rows of this block in any window of the stretch
    load: int  # rows a work-item walks (Kernel II)
    tiles_i: int  # most tile columns of any window of the stretch
    tiles_j: int  # most tile rows of this block in any window of the stretch


@dataclass(frozen=True)
class Block:
    """Rows [row0, row0 + rows) of M over columns from col0 on, and what is done with them."""

    row0: int
    rows: int
    col0: int
    width: int
    saves: tuple[tuple[int, int], ...]  # windows whose left sums are saved, as ranges of the table
    stretches: tuple[Stretch, ...]

    @property
    def layout(self) -> dict[str, int]:
        """Where the block lies, by the names that kernels give it."""
        return {"row0": self.row0, "rows": self.rows, "col0": self.col0}


@dataclass(frozen=True)
class Pass:
    """One walk along the genome for some of the grid positions.

    Attributes
    ----------
    table : ndarray, int32 (windows, 8)
        Centre, first, inner left, inner right, last, slot, grid index, 0; first the windows of Kernel I, then those
        of Kernel II.
    band : int
        Sites in the widest window.
    stride, block_rows, slots, left_stride, tiles_stride : int
        Sizes in items.
    windows_of_i, windows_of_j : ndarray, int32 (tiles, 2)
        For each tile column and row: the first window of the tile kernel that reaches it, and the first that has left
        it.
    blocks : tuple of Block
    """

    table: NDArray[np.int32]
    band: int
    stride: int
    block_rows: int
    slots: int
    left_stride: int
    tiles_stride: int
    windows_of_i: NDArray[np.int32]
    windows_of_j: NDArray[np.int32]
    blocks: tuple[Block, ...]

    @property
    def columns(self) -> int:
        """Columns of the widest block."""
        return max(block.width for block in self.blocks)

    @property
    def sums_size(self) -> int:
        """Items of a block's rows, one stride apart; tiles reach beyond the last one's columns."""
        return (max(block.rows for block in self.blocks) - 1) * self.stride + self.columns + TILE

    @property
    def carry_size(self) -> int:
        """Items of the row that goes from block to block."""
        return self.columns + TILE

    @property
    def slots_size(self) -> int:
        """Items of all left sums."""
        return self.slots * self.left_stride


def round_up(value: int, multiple: int) -> int:
    """The smallest multiple of `multiple` that is not below `value`."""
    return -(-value // multiple) * multiple
