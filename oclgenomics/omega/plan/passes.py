"""How a scan is cut into passes over the genome, their blocks of rows, stretches of windows, and launches.

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
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import AllocationError
from oclgenomics.omega.options import KernelChoice
from oclgenomics.omega.plan.kernels import (
    KERNEL_ONE,
    KERNEL_TILES,
    KERNEL_TWO,
    choose_kernels,
    costs_of,
    work_item_load,
)
from oclgenomics.omega.plan.windows import TILE, Windows, round_up

if TYPE_CHECKING:
    from oclgenomics.runtime import DeviceLimits


WINDOW_FIELDS = 8  # ints in a row of the window table; kernels_cl/omega/layout.clh
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
LAUNCH_NS = 100e6
WORD_NS = 0.5  # a population count of a pair of words, on a compute unit of a modest GPU; of an H200 0.05
ALLELE_COUNTS = 64  # a word of a pair of sites of two states each: 4 pairs of rows, 4 counts, nothing kept in registers
MAX_WINDOWS = 65_535  # some drivers take no more work-groups in the third dimension
ENDLESS = 1 << 31


@dataclass(frozen=True)
class SiteUploads:
    """What sites take on the device that do not stay there, but are uploaded block by block.

    Attributes
    ----------
    site_bytes : int
        Bytes of one site's bits; 0 where all sites are on the device.
    buffers : int
        Buffers among which they are shared out.
    """

    site_bytes: int = 0
    buffers: int = 1


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
class Sizes:
    """Sizes in items that all passes of a scan share; `band` is the sites in the widest window."""

    band: int
    stride: int
    block_rows: int
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


@dataclass(frozen=True)
class Pass(Sizes):
    """One walk along the genome for some of the grid positions.

    Attributes
    ----------
    table : ndarray, int32 (windows, 8)
        Centre, first, inner left, inner right, last, slot, grid index, 0; first the windows of Kernel I, then those
        of Kernel II.
    slots : int
        Windows whose left sums are held at a time.
    windows_of_i, windows_of_j : ndarray, int32 (tiles, 2)
        For each tile column and row: the first window of the tile kernel that reaches it, and the first that has left
        it.
    blocks : tuple of Block
    """

    table: NDArray[np.int32]
    slots: int
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
    def reach(self) -> NDArray[np.int32]:
        """For each site, the last row of any window that begins there or before; -1 if none does."""
        reach = np.full(max(block.col0 + block.width for block in self.blocks), -1, np.int32)
        first, last = self.table[:, 1], self.table[:, 4]
        np.maximum.at(reach, first, last)
        reached: NDArray[np.int32] = np.maximum.accumulate(reach)
        return reached

    @property
    def slots_size(self) -> int:
        """Items of all left sums."""
        return self.slots * self.left_stride


def plan_passes(
    windows: Windows,
    sites: int,
    limits: DeviceLimits,
    *,
    border: int = -1,
    kernel: KernelChoice = "auto",
    tiles: bool = False,
    chunk_positions: int | None = None,
    block_rows: int | None = None,
    uploads: SiteUploads = SiteUploads(),
) -> list[Pass]:
    """Cut a scan into passes and blocks.

    Parameters
    ----------
    windows : Windows
        Of all grid positions of one alignment.
    sites : int
        Sites of the alignment.
    limits : DeviceLimits
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
    uploads : SiteUploads
        What sites take that are uploaded block by block.

    Raises
    ------
    AllocationError
        Not even one row tile and one window's left sums fit.
    """
    chosen = np.flatnonzero(windows.valid)
    if not chosen.size:
        return []
    sizes = _sizes(windows, sites, limits, uploads, block_rows)
    room = min(limits.max_allocation, limits.budget // TABLE_SHARE) // WINDOW_BYTES  # of the table of windows
    per_pass = max(1, min(chunk_positions or len(chosen), len(chosen), room))
    max_slots = _max_slots(sizes, sites, per_pass, limits, uploads)
    scores = windows.scores(border)
    passes: list[Pass] = []
    start = 0
    while start < len(chosen):
        taken = chosen[start : start + per_pass]
        taken = taken[: _positions_that_fit(windows, taken, sizes.block_rows, max_slots)]
        if kernel in FORCED:
            kinds = np.full(len(taken), FORCED[kernel])
        else:
            dynamic = kernel == "dynamic"
            kinds = choose_kernels(windows, taken, scores[taken], limits, dynamic=dynamic, tiles=tiles)
        passes.append(_plan_pass(windows, taken, kinds, scores, sizes, limits))
        start += len(taken)
    return passes


def _sizes(windows: Windows, sites: int, limits: DeviceLimits, uploads: SiteUploads, block_rows: int | None) -> Sizes:
    """Sizes that suit the device; a block has at least one row tile."""
    band, longest = windows.span, round_up(sites, TILE) + TILE
    stride = min(round_up(band, TILE) + STRIDE_MARGIN, longest + TILE)
    target = min(CPU_BLOCK_BYTES if limits.cpu else GPU_BLOCK_BYTES, limits.max_allocation)
    room = min(target, limits.budget // 2 - (band + 2 * TILE) * uploads.site_bytes)
    rows = block_rows or max(room, 0) // ((stride + 1) * SUM_BYTES + uploads.site_bytes)
    rows = min(max(round_up(rows - TILE + 1, TILE), TILE), longest)
    left_stride = round_up(int((windows.inner_left - windows.first + 1)[windows.valid].max()), SLOT_ITEMS)
    return Sizes(band, stride, rows, left_stride, round_up(left_stride, TILE) + TILE)


def _max_slots(sizes: Sizes, sites: int, per_pass: int, limits: DeviceLimits, uploads: SiteUploads) -> int:
    """Most windows whose left sums fit together with everything else.

    A block of so many rows is round_up(band) + rows columns wide at most, so that its sums take up to rows * (stride +
    1) items (`Pass.sums_size`).

    Raises
    ------
    AllocationError
        None do, or the least block does not go into one buffer.
    """
    width = round_up(sizes.band, TILE) + sizes.block_rows + TILE
    sums, planes = sizes.block_rows * (sizes.stride + 1) * SUM_BYTES, width * uploads.site_bytes
    largest = max(sums, planes // uploads.buffers)
    if largest > limits.max_allocation:
        raise AllocationError(
            f"a window of {sizes.band} sites needs {largest} bytes in one buffer, but the device gives "
            f"{limits.max_allocation} to one; raise `max_memory`, narrow `maxwin` or choose another `device`"
        )
    tables = (sites // TILE + 2) * TILE_WINDOWS_BYTES + per_pass * WINDOW_BYTES
    held = sums + width * SUM_BYTES + planes + tables
    slots = min((limits.budget - held) // sizes.slot_bytes, limits.max_allocation // sizes.longest_slot)
    if slots < 1:
        raise AllocationError(
            f"a window of {sizes.band} sites needs {held + sizes.slot_bytes} bytes of device memory, but "
            f"{limits.budget} may be used; raise `max_memory`, narrow `maxwin` or choose a `device` with more memory"
        )
    return slots


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


def _plan_pass(
    windows: Windows, taken: NDArray[np.int64], kinds: NDArray[np.int64], scores: NDArray[np.int64], sizes: Sizes,
    limits: DeviceLimits,
) -> Pass:  # fmt: skip
    """The walk for the positions `taken`, each of which the kernel in `kinds` scores."""
    slots = _slots_needed(windows, taken, sizes.block_rows)
    order = np.argsort(kinds, kind="stable")
    index = taken[order]
    table = np.zeros((len(index), WINDOW_FIELDS), np.int32)
    fields = [windows.centre, windows.first, windows.inner_left, windows.inner_right, windows.last]
    for column, values in enumerate(fields):
        table[:, column] = values[index]
    table[:, 5], table[:, 6] = order % slots, index
    ends = np.searchsorted(kinds[order], [KERNEL_ONE, KERNEL_TWO, KERNEL_TILES, KERNEL_TILES + 1])
    groups = [(kind, int(ends[kind - 1]), int(ends[kind])) for kind in (KERNEL_ONE, KERNEL_TWO, KERNEL_TILES)]
    of_i, of_j = _windows_of_tiles(table[ends[2] :], int(ends[2]), int(table[:, 4].max()) // TILE + 1)
    blocks = tuple(_blocks(table, groups, scores[index], sizes, limits))
    return Pass(**vars(sizes), table=table, slots=slots, windows_of_i=of_i, windows_of_j=of_j, blocks=blocks)


def _windows_of_tiles(table: NDArray[np.int32], offset: int, tiles: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """For each tile column and row, which windows of `table` share it: from one to another, counted from `offset`."""
    begin, end = np.arange(tiles) * TILE, np.arange(tiles) * TILE + TILE - 1
    of_i = np.stack([np.searchsorted(table[:, 2], begin), np.searchsorted(table[:, 1], end, "right")], axis=1)
    of_j = np.stack([np.searchsorted(table[:, 4], begin), np.searchsorted(table[:, 3], end, "right")], axis=1)
    return (of_i + offset).astype(np.int32), (of_j + offset).astype(np.int32)


def _blocks(
    table: NDArray[np.int32], groups: list[tuple[int, int, int]], scores: NDArray[np.int64], sizes: Sizes,
    limits: DeviceLimits,
) -> Iterator[Block]:  # fmt: skip
    begin = _first_row(table[:, 1])
    end = int(table[:, 4].max()) + 1
    centre, inner_right, last_site = table[:, [0, 3, 4]].T.astype(np.int64, "C")  # numpy would copy others each time
    for row0 in range(begin, end, sizes.block_rows):
        stop = min(row0 + sizes.block_rows, end)
        col0 = max(begin, row0 - sizes.band) // TILE * TILE
        saves, stretches = [], []
        for kernel, first, last in groups:
            saved = first + np.searchsorted(centre[first:last], [row0, stop])
            if saved[0] < saved[1]:
                saves.append((int(saved[0]), int(saved[1])))
            low = first + int(np.searchsorted(last_site[first:last], row0))
            high = first + int(np.searchsorted(inner_right[first:last], stop))
            if low < high:
                most = int(scores[low:high].max())
                stretches.append(_stretch(table[low:high], low, most, kernel, row0, stop, limits))
        yield Block(row0, stop - row0, col0, round_up(stop, TILE) - col0, tuple(saves), tuple(stretches))


def _stretch(
    active: NDArray[np.int32], start: int, most: int, kernel: int, row0: int, stop: int, limits: DeviceLimits
) -> Stretch:
    """The windows `active` of one kernel, from the `start`-th on, which have right borders in rows [row0, stop)."""
    bottom, top = np.maximum(active[:, 3], row0), np.minimum(active[:, 4], stop - 1)
    rows = int((top - bottom).max()) + 1
    return Stretch(
        kernel, start, start + len(active), lefts=int((active[:, 2] - active[:, 1]).max()) + 1, rows=rows,
        load=rows if limits.cpu else work_item_load(most, limits),
        tiles_i=int((active[:, 2] // TILE - active[:, 1] // TILE).max()) + 1,
        tiles_j=int((top // TILE - bottom // TILE).max()) + 1,
    )  # fmt: skip


class Launches:
    """How much work goes into one launch on a GPU: about a tenth of a second's. CPUs need no bound.

    A display's watchdog ends a launch that keeps its GPU for seconds, and the screen stands still meanwhile. The bound
    follows from the sizes of the work and the device's compute units alone, and results do not depend on it.

    Parameters
    ----------
    compute_units : int
    cpu : bool
    """

    def __init__(self, compute_units: int, *, cpu: bool) -> None:
        self._units, self._cpu = compute_units, cpu
        self._costs = costs_of(compute_units, cpu=cpu)

    def row_tiles(self, columns: int, counts: int) -> int:
        """Row tiles of `pair_values` over so many tile columns, with so many population counts for a pair of sites."""
        return self._items(columns * TILE * TILE * counts * WORD_NS / self._units)

    def listed_sites(self, partners: int, words: int) -> int:
        """Sites of `allele_values` with so many partners each."""
        return self._items(partners * words * ALLELE_COUNTS * WORD_NS / self._units)

    def windows(self, stretch: Stretch) -> int:
        """Windows of the scoring kernels."""
        places = stretch.lefts * stretch.rows
        if stretch.kernel == KERNEL_TILES:
            costs = self._costs.tiles
            each = max(costs.position + costs.tile * stretch.tiles_i * stretch.tiles_j, costs.queue)
        else:
            kind = self._costs.one if stretch.kernel == KERNEL_ONE else self._costs.two
            each = kind.position + (kind.score + kind.place) * places
        return min(self._items(each), MAX_WINDOWS)

    def _items(self, each: float) -> int:
        return ENDLESS if self._cpu else max(1, int(LAUNCH_NS / each))
