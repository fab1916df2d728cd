"""Sums of regions of pairs: from the values of a block's pairs, and what the next block and the windows need of them.

M[i, j] is the sum of the values of all pairs of the sites i to j. Exact sums come from two passes over the block; those
of compat precision from OmegaPlus' own recurrence, whose roundings they repeat.
"""

from __future__ import annotations

from oclgenomics.omega.device.pass_buffers import PassBuffers, TileBuffers
from oclgenomics.omega.device.setup import ScanSetup
from oclgenomics.omega.passes import TILE, Block, Pass, round_up
from oclgenomics.runtime import DeviceArray

__all__ = ["RegionSums"]

COLUMN_LANES = 128  # of `accumulate_columns` on GPUs
STRIP = 64  # columns of a work-item there on CPUs
WAVE = 32  # sides of the tiles of OmegaPlus' recurrence
SLOT_LANES = 16


class RegionSums:
    """Sums of the regions of a pass, block by block.

    Parameters
    ----------
    setup : ScanSetup
    walk : Pass
    buffers : PassBuffers
        `sums` holds the values of the block's pairs.
    tiles : TileBuffers, optional
        If there are windows for the tile kernel.
    overflow : DeviceArray, int32 (1,)
        Set where an exact sum outgrows its format.
    """

    def __init__(
        self, setup: ScanSetup, walk: Pass, buffers: PassBuffers, tiles: TileBuffers | None, overflow: DeviceArray
    ) -> None:
        self._setup, self._walk, self._buffers, self._tiles, self._overflow = setup, walk, buffers, tiles, overflow

    def enqueue(self, block: Block) -> None:
        """Turn the values of a block's pairs into sums."""
        if self._setup.compat:
            self._sum_by_recurrence(block)
        else:
            self._sum_rows(block)
            self._sum_columns(block)

    def _sum_rows(self, block: Block) -> None:
        setup, walk = self._setup, self._walk
        lanes = setup.kernels.lanes("suffix_rows")
        setup.engine.launch(
            setup.kernels["suffix_rows"],
            (block.rows * lanes,),
            (lanes,),
            sums=self._buffers.sums,
            row0=block.row0,
            col0=block.col0,
            stride=walk.stride,
            band=walk.band,
        )

    def _sum_columns(self, block: Block) -> None:
        setup, walk = self._setup, self._walk
        cpu = setup.engine.tuning.cpu
        lanes = 1 if cpu else setup.kernels.group("accumulate_columns", COLUMN_LANES)
        strips = -(-block.width // STRIP) if cpu else round_up(block.width, lanes)
        setup.engine.launch(
            setup.kernels["accumulate_columns"],
            (strips,),
            (lanes,),
            sums=self._buffers.sums,
            carry=self._buffers.carry,
            overflow=self._overflow,
            **block.layout,
            stride=walk.stride,
            band=walk.band,
            width=block.width,
        )

    def _sum_by_recurrence(self, block: Block) -> None:
        """OmegaPlus' recurrence, one diagonal of tiles after the other."""
        setup, walk = self._setup, self._walk
        lanes = 1 if setup.engine.tuning.cpu else setup.kernels.group("sum_tiles", WAVE)
        tiles = -(-block.rows // WAVE)
        for diagonal in range(min(-(-walk.band // WAVE) + 1, block.width // WAVE)):
            setup.engine.launch(
                setup.kernels["sum_tiles"],
                (tiles * lanes,),
                (lanes,),
                sums=self._buffers.sums,
                carry=self._buffers.carry,
                **block.layout,
                stride=walk.stride,
                band=walk.band,
                diagonal=diagonal,
            )

    def save_carry(self, block: Block, following: Block) -> None:
        """Keep the block's last row for the following block."""
        setup, walk = self._setup, self._walk
        lanes = setup.kernels.group("save_carry", TILE)
        setup.engine.launch(
            setup.kernels["save_carry"],
            (round_up(following.row0 - following.col0 + 1, lanes),),
            (lanes,),
            sums=self._buffers.sums,
            carry=self._buffers.carry,
            **block.layout,
            stride=walk.stride,
            band=walk.band,
            next_col0=following.col0,
        )

    def save_left_sums(self, block: Block, start: int, stop: int) -> None:
        """Keep the sums of the left parts of the windows from `start` to `stop`, whose centres lie in the block."""
        setup, walk, buffers = self._setup, self._walk, self._buffers
        lanes = setup.kernels.group("save_left_sums", SLOT_LANES)
        setup.engine.launch(
            setup.kernels["save_left_sums"],
            (round_up(walk.left_stride, lanes), stop - start),
            (lanes, 1),
            sums=buffers.sums,
            windows=buffers.windows,
            window0=start,
            left=buffers.left,
            left_float=buffers.left_float,
            left_stride=walk.left_stride,
            row0=block.row0,
            col0=block.col0,
            stride=walk.stride,
        )
        if self._tiles is not None:
            self._save_left_tiles(self._tiles, start, stop)

    def _save_left_tiles(self, tiles: TileBuffers, start: int, stop: int) -> None:
        setup, walk = self._setup, self._walk
        lanes = setup.kernels.group("save_left_tiles", TILE)
        setup.engine.launch(
            setup.kernels["save_left_tiles"],
            (walk.tiles_stride, stop - start),
            (lanes, 1),
            left=self._buffers.left,
            left_stride=walk.left_stride,
            windows=self._buffers.windows,
            window0=start,
            left_tiles=tiles.left_tiles,
            tiles_stride=walk.tiles_stride,
        )
