"""How a scan is cut into passes and blocks, and which kernel scores each grid position. Pure decisions; no device is
touched.

The scan walks the genome in blocks of rows (right borders). For each block it computes the sums M of those rows over
the band of sites that share a window with them, and scores all windows whose right borders lie in it. A window's left
sums are kept in a slot from the block of its centre to the block of its last row. Device memory is therefore

    block_rows * (stride + 1) * 8  +  slots * (left_stride * 12 + tiles_stride * 4)  +  bits  +  working memory

bytes whatever the length of the chromosome, where stride is at most the widest window plus 256 sites. Where the slots
alone would not fit, the grid positions are split into passes. No buffer takes more than the device gives to one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import AllocationError
from oclgenomics.omega.cost import KERNEL_ONE, KERNEL_TILES, KERNEL_TWO
from oclgenomics.omega.kernel_choice import choose_kernels, work_item_load
from oclgenomics.omega.options import KernelChoice
from oclgenomics.omega.passes import TILE, WINDOW_FIELDS, Block, Limits, Pass, Stretch, round_up
from oclgenomics.omega.windows import Windows

__all__ = ["plan_passes"]

WINDOW_BYTES = 4 * WINDOW_FIELDS
TILE_WINDOWS_BYTES = 16  # of a tile column and a tile row: the windows that reach them
TABLE_SHARE = 8  # the window table takes at most one part in so many of the budget
STRIDE_MARGIN = 256  # keeps the rows of a band apart, tiles' overhang included
SUM_BYTES = 8
SLOT_ITEMS = 16  # the left sums of a window are a multiple of it, for vectors
LEFT_BYTES = 12  # an exact left sum and its float
TILE_BYTES = 4  # its difference to the corner of its tile
CPU_BLOCK_BYTES = 12 << 20  # a block that stays in the last cache while all its windows are scored
GPU_BLOCK_BYTES = 2 << 30
FORCED = {"1": KERNEL_ONE, "2": KERNEL_TWO, "tiles": KERNEL_TILES}


def plan_passes(
    windows: Windows,
    sites: int,
    limits: Limits,
    *,
    border: int = -1,
    kernel: KernelChoice = "auto",
    tiles: bool = False,
    chunk_positions: int | None = None,
    block_rows: int | None = None,
) -> list[Pass]:
    """Cut a scan into passes and blocks.

    Parameters
    ----------
    windows : Windows
        Of all grid positions of one alignment.
    sites : int
        Sites of the alignment.
    limits : Limits
    border : int
        As in `ScanOptions`.
    kernel : {'auto', 'dynamic', '1', '2', 'tiles'}
        'auto' and 'dynamic' leave it to `choose_kernels`.
    tiles : bool
        Whether the tile kernel may be chosen: exact sums of values that are never negative, and no border.
    chunk_positions : int, optional
        Most grid positions in a pass.
    block_rows : int, optional
        Rows of a block instead of what suits the device (rounded up to whole tiles).

    Raises
    ------
    AllocationError
        Not even one row tile and one window's left sums fit.
    """
    chosen = np.flatnonzero(windows.valid)
    if not chosen.size:
        return []
    sizes = _sizes(windows, chosen, sites, limits, block_rows)
    per_pass = _positions_of_a_pass(len(chosen), chunk_positions, limits)
    max_slots = _max_slots(sizes, sites, per_pass, limits)
    scores = windows.scores(border)
    passes: list[Pass] = []
    start = 0
    while start < len(chosen):
        taken = chosen[start : start + per_pass]
        taken = taken[: _positions_that_fit(windows, taken, sizes.rows, max_slots)]
        kinds = _kernels(windows, taken, scores[taken], limits, kernel, tiles=tiles)
        passes.append(_plan_pass(windows, taken, kinds, scores, sizes, limits))
        start += len(taken)
    return passes


@dataclass(frozen=True)
class _Sizes:
    """Sizes in items that all passes of a scan share, as in `Pass`."""

    band: int
    stride: int
    rows: int
    left_stride: int
    tiles_stride: int

    @property
    def slot_bytes(self) -> int:
        """Bytes of the left sums of a window, in all buffers."""
        return self.left_stride * LEFT_BYTES + self.tiles_stride * TILE_BYTES

    @property
    def longest_slot(self) -> int:
        """Bytes of a window in the buffer that it takes most of."""
        return max(self.left_stride * SUM_BYTES, self.tiles_stride * TILE_BYTES)


def _sizes(windows: Windows, chosen: NDArray[np.int64], sites: int, limits: Limits, block_rows: int | None) -> _Sizes:
    stride, rows = _block_shape(windows.span, sites, limits, block_rows)
    left_stride = round_up(int((windows.inner_left - windows.first + 1)[chosen].max()), SLOT_ITEMS)
    return _Sizes(windows.span, stride, rows, left_stride, round_up(left_stride, TILE) + TILE)


def _max_slots(sizes: _Sizes, sites: int, per_pass: int, limits: Limits) -> int:
    """Most windows whose left sums fit beside everything else.

    Raises
    ------
    AllocationError
        None do.
    """
    held = _held_bytes(sizes, sites, limits) + per_pass * WINDOW_BYTES
    slots = min((limits.budget - held) // sizes.slot_bytes, limits.max_allocation // sizes.longest_slot)
    if slots < 1:
        raise AllocationError(
            f"a window of {sizes.band} sites needs {held + sizes.slot_bytes} bytes of device memory, but "
            f"{limits.budget} may be used; raise `max_memory`, narrow `maxwin` or choose a `device` with more memory"
        )
    return slots


def _block_shape(band: int, sites: int, limits: Limits, block_rows: int | None) -> tuple[int, int]:
    """Stride and rows of a block that suit the device; at least one row tile."""
    longest = round_up(sites, TILE) + TILE
    stride = min(round_up(band, TILE) + STRIDE_MARGIN, longest + TILE)
    target = min(CPU_BLOCK_BYTES if limits.cpu else GPU_BLOCK_BYTES, limits.max_allocation)
    room = min(target, limits.budget // 2 - (band + 2 * TILE) * limits.site_bytes)
    rows = block_rows or max(room, 0) // ((stride + 1) * SUM_BYTES + limits.site_bytes)
    return stride, min(max(round_up(rows - TILE + 1, TILE), TILE), longest)


def _held_bytes(sizes: _Sizes, sites: int, limits: Limits) -> int:
    """Bytes that a pass holds beside its slots and the table of its windows.

    A block of so many rows is round_up(band) + rows columns wide at most, so that its sums take up to rows * (stride +
    1) items (`Pass.sums_size`).

    Raises
    ------
    AllocationError
        The least block does not go into one buffer.
    """
    width = round_up(sizes.band, TILE) + sizes.rows + TILE
    sums, planes = sizes.rows * (sizes.stride + 1) * SUM_BYTES, width * limits.site_bytes
    largest = max(sums, planes // limits.planes)
    if largest > limits.max_allocation:
        raise AllocationError(
            f"a window of {sizes.band} sites needs {largest} bytes in one buffer, but the device gives "
            f"{limits.max_allocation} to one; raise `max_memory`, narrow `maxwin` or choose another `device`"
        )
    return sums + width * SUM_BYTES + planes + (sites // TILE + 2) * TILE_WINDOWS_BYTES


def _positions_of_a_pass(positions: int, wanted: int | None, limits: Limits) -> int:
    """Most grid positions of a pass: their table takes a small part of the memory."""
    room = min(limits.max_allocation, limits.budget // TABLE_SHARE) // WINDOW_BYTES
    return max(1, min(wanted or positions, positions, room))


def _first_row(first: NDArray[np.integer[Any]]) -> int:
    """The row a pass begins at, for windows that begin at the sites `first`."""
    return int(first.min()) // TILE * TILE


def _slots_needed(windows: Windows, taken: NDArray[np.int64], rows: int) -> int:
    """Left sums that live at a time: slot p % slots is free again when window p + slots begins."""
    begin = _first_row(windows.first[taken])
    centre_block, last_block = (windows.centre[taken] - begin) // rows, (windows.last[taken] - begin) // rows
    return int((np.searchsorted(centre_block, last_block, side="right") - np.arange(len(taken))).max())


def _positions_that_fit(windows: Windows, taken: NDArray[np.int64], rows: int, max_slots: int) -> int:
    count = len(taken)
    while count > 1 and _slots_needed(windows, taken[:count], rows) > max_slots:
        count = max(max_slots, count // 2) if count > max_slots else count - 1
    return count


def _kernels(
    windows: Windows, taken: NDArray[np.int64], scores: NDArray[np.int64], limits: Limits, kernel: KernelChoice, *,
    tiles: bool,
) -> NDArray[np.int64]:  # fmt: skip
    """The kernel of each position, int64: that which is forced, or the best."""
    if kernel in FORCED:
        return np.full(len(taken), FORCED[kernel])
    return choose_kernels(windows, taken, scores, limits, dynamic=kernel == "dynamic", tiles=tiles)


def _plan_pass(
    windows: Windows,
    taken: NDArray[np.int64],
    kinds: NDArray[np.int64],
    scores: NDArray[np.int64],
    sizes: _Sizes,
    limits: Limits,
) -> Pass:
    """The walk for the positions `taken`, each of which the kernel in `kinds` scores."""
    slots = _slots_needed(windows, taken, sizes.rows)
    order = np.argsort(kinds, kind="stable")
    table = _window_table(windows, taken[order], order % slots)
    ends = np.searchsorted(kinds[order], [KERNEL_ONE, KERNEL_TWO, KERNEL_TILES, KERNEL_TILES + 1])
    groups = [(kind, int(ends[kind - 1]), int(ends[kind])) for kind in (KERNEL_ONE, KERNEL_TWO, KERNEL_TILES)]
    of_i, of_j = _windows_of_tiles(table[ends[2] :], int(ends[2]), int(table[:, 4].max()) // TILE + 1)
    return Pass(
        table=table,
        band=sizes.band,
        stride=sizes.stride,
        block_rows=sizes.rows,
        slots=slots,
        left_stride=sizes.left_stride,
        tiles_stride=sizes.tiles_stride,
        windows_of_i=of_i,
        windows_of_j=of_j,
        blocks=tuple(_blocks(table, groups, scores[taken[order]], sizes, limits)),
    )


def _window_table(windows: Windows, index: NDArray[np.int64], slots: NDArray[np.int64]) -> NDArray[np.int32]:
    """Rows of `Pass.table` for the grid positions `index`."""
    table = np.zeros((len(index), WINDOW_FIELDS), np.int32)
    fields = [windows.centre, windows.first, windows.inner_left, windows.inner_right, windows.last]
    for column, values in enumerate(fields):
        table[:, column] = values[index]
    table[:, 5], table[:, 6] = slots, index
    return table


def _windows_of_tiles(table: NDArray[np.int32], offset: int, tiles: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """For each tile column and row, which windows of `table` share it: from one to another, counted from `offset`."""
    begin, end = np.arange(tiles) * TILE, np.arange(tiles) * TILE + TILE - 1
    of_i = np.stack([np.searchsorted(table[:, 2], begin), np.searchsorted(table[:, 1], end, "right")], axis=1)
    of_j = np.stack([np.searchsorted(table[:, 4], begin), np.searchsorted(table[:, 3], end, "right")], axis=1)
    return (of_i + offset).astype(np.int32), (of_j + offset).astype(np.int32)


def _blocks(
    table: NDArray[np.int32],
    groups: list[tuple[int, int, int]],
    scores: NDArray[np.int64],
    sizes: _Sizes,
    limits: Limits,
) -> Iterator[Block]:
    begin = _first_row(table[:, 1])
    end = int(table[:, 4].max()) + 1
    for row0 in range(begin, end, sizes.rows):
        stop = min(row0 + sizes.rows, end)
        col0 = max(begin, row0 - sizes.band) // TILE * TILE
        saves, stretches = [], []
        for kernel, first, last in groups:
            own = table[first:last]
            saved = first + np.searchsorted(own[:, 0], [row0, stop])
            if saved[0] < saved[1]:
                saves.append((int(saved[0]), int(saved[1])))
            stretch = _stretch(own, first, scores, kernel, row0, stop, limits)
            if stretch is not None:
                stretches.append(stretch)
        yield Block(row0, stop - row0, col0, round_up(stop, TILE) - col0, tuple(saves), tuple(stretches))


def _stretch(
    table: NDArray[np.int32], offset: int, scores: NDArray[np.int64], kernel: int, row0: int, stop: int, limits: Limits
) -> Stretch | None:
    """The windows of one kernel with right borders in rows [row0, stop)."""
    start = int(np.searchsorted(table[:, 4], row0))
    end = int(np.searchsorted(table[:, 3], stop))
    if start >= end:
        return None
    active = table[start:end]
    rows = int((np.minimum(active[:, 4], stop - 1) - np.maximum(active[:, 3], row0)).max()) + 1
    lefts = int((active[:, 2] - active[:, 1]).max()) + 1
    load = rows if limits.cpu else work_item_load(int(scores[offset + start : offset + end].max()), limits)
    tiles_i = int((active[:, 2] // TILE - active[:, 1] // TILE).max()) + 1
    top, bottom = np.minimum(active[:, 4], stop - 1) // TILE, np.maximum(active[:, 3], row0) // TILE
    return Stretch(kernel, offset + start, offset + end, lefts, rows, load, tiles_i, int((top - bottom).max()) + 1)
