"""Values of the pairs of a block of rows, and their sums over regions: what a pass enqueues before it scores.

M[i, j] is the sum of the values of all pairs of the sites i to j. Exact sums come from two passes over the block; those
of compat precision from OmegaPlus' own recurrence, whose roundings they repeat.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oclgenomics.omega.device.kernels import PAIR_ROW, PassAtWork
from oclgenomics.omega.device.sites import SITE_GROUP
from oclgenomics.omega.plan.passes import Block
from oclgenomics.omega.plan.windows import TILE, round_up

ALLELE_LANES = 16
COLUMN_LANES = 128  # of `accumulate_columns` on GPUs
STRIP = 64  # columns of a work-item there on CPUs
WAVE = 32  # sides of the tiles of OmegaPlus' recurrence
SLOT_LANES = 16


def compute_values(work: PassAtWork, block: Block) -> None:
    """Compute the linkage disequilibrium of a block's pairs, into the memory of its sums."""
    setup = work.setup
    planes = setup.sites.planes(block)
    if not (setup.compat and len(setup.planes.listed)):
        _values_of_two_states(work, block, planes)
    if len(setup.planes.listed):
        _values_of_more_states(work, block, planes)


def _values_of_two_states(work: PassAtWork, block: Block, planes: dict[str, Any]) -> None:
    """All pairs, as if their sites had two states: some row tiles a launch, so that none is long."""
    setup, host = work.setup, work.setup.planes
    kernels, lanes = setup.kernels, setup.kernels.lanes("pair_values")
    if setup.sites.unmarked:
        work.launch("mark_words", (host.marks, len(planes["marks"]) // SITE_GROUP), (1, 1), block, **planes)
        setup.sites.unmarked = False
    columns = min((work.walk.band + TILE - 1) // TILE + 1, block.width // TILE)
    tiles = -(-block.rows // TILE)
    at_once = setup.launches.row_tiles(columns, host.words * host.counts)
    for first in range(0, tiles, at_once):
        if kernels.vector_width == 1:
            size = (PAIR_ROW * columns, lanes // PAIR_ROW * min(at_once, tiles - first))
            local = (PAIR_ROW, lanes // PAIR_ROW)
        else:
            rows = min(at_once * TILE, block.rows - first * TILE)
            size, local = (columns, -(-rows // kernels.rows_each)), (1, 1)
        work.launch("pair_values", size, local, block, **planes, first_tile=first)


def _values_of_more_states(work: PassAtWork, block: Block, planes: dict[str, Any]) -> None:
    """Pairs with a site of three or more states (all pairs in OmegaPlus' DNA mode)."""
    setup, listed, end = work.setup, work.setup.planes.listed, block.row0 + block.rows
    lanes = setup.kernels.group("allele_values", ALLELE_LANES)
    roles = [(0, np.searchsorted(listed, [block.row0, end]), work.walk.band)]
    if not setup.compat:
        roles.append((1, np.searchsorted(listed, [block.col0, end]), block.rows))
    for as_column, (low, high), away in roles:
        at_once = setup.launches.listed_sites(away, setup.planes.words)
        for start in range(int(low), int(high), at_once):
            size = (round_up(away, lanes), min(at_once, int(high) - start))
            work.launch("allele_values", size, (lanes, 1), block, **planes, list0=start, as_column=as_column)


def sum_regions(work: PassAtWork, block: Block) -> None:
    """Turn the values of a block's pairs into sums."""
    kernels, cpu = work.setup.kernels, work.setup.engine.tuning.cpu
    if work.setup.compat:  # OmegaPlus' recurrence, one diagonal of tiles after the other
        lanes = 1 if cpu else kernels.group("sum_tiles", WAVE)
        tiles = -(-block.rows // WAVE)
        for diagonal in range(min(-(-work.walk.band // WAVE) + 1, block.width // WAVE)):
            work.launch("sum_tiles", (tiles * lanes,), (lanes,), block, diagonal=diagonal)
        return
    lanes = kernels.lanes("suffix_rows")
    work.launch("suffix_rows", (block.rows * lanes,), (lanes,), block)
    lanes = 1 if cpu else kernels.group("accumulate_columns", COLUMN_LANES)
    strips = -(-block.width // STRIP) if cpu else round_up(block.width, lanes)
    work.launch("accumulate_columns", (strips,), (lanes,), block, width=block.width)


def save_carry(work: PassAtWork, block: Block, following: Block) -> None:
    """Keep the block's last row for the following block."""
    lanes = work.setup.kernels.group("save_carry", TILE)
    size = round_up(following.row0 - following.col0 + 1, lanes)
    work.launch("save_carry", (size,), (lanes,), block, next_col0=following.col0)


def save_left_sums(work: PassAtWork, block: Block, start: int, stop: int) -> None:
    """Keep the sums of the left parts of the windows from `start` to `stop`, whose centres lie in the block."""
    kernels, walk = work.setup.kernels, work.walk
    lanes = kernels.group("save_left_sums", SLOT_LANES)
    size = (round_up(walk.left_stride, lanes), stop - start)
    work.launch("save_left_sums", size, (lanes, 1), block, window0=start)
    if work.by_tiles:
        lanes = kernels.group("save_left_tiles", TILE)
        work.launch("save_left_tiles", (walk.tiles_stride, stop - start), (lanes, 1), block, window0=start)
