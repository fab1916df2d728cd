"""Linkage disequilibrium of all pairs of sites of a region: blocks of rows from the device, and what is made of them.

Unlike a scan, which keeps sums only, this brings the values themselves to the host, a block of rows at a time. Whoever
needs something of them takes the blocks as they come: the whole matrix, its picture, or the means of a window's parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.formats.alignment import Alignment
from oclgenomics.omega.job import EPSILON
from oclgenomics.omega.matrix import site_matrix
from oclgenomics.omega.plan import TILE, round_up
from oclgenomics.omega.sites import take_sites
from oclgenomics.runtime import Engine
from oclgenomics.runtime.buffers import DeviceArray
from oclgenomics.runtime.memory import BufferNeed

__all__ = ["MEASURES", "MOST_SITES", "BinnedLd", "LdBlock", "LdWindow", "WindowSums", "ld_blocks", "ld_matrix"]

MEASURES = ("r2", "nr2")
MOST_SITES = 20_000  # 200 million pairs, and 1.5 GiB as a matrix
CPU_LANES = 8  # sites in an explicit vector, as in the scan
ROWS_EACH = 4  # rows a work-item does; kernels_cl/omega/ld_matrix.cl
BLOCK_BYTES = 64 << 20  # large enough for a GPU to be busy, small enough to stay out of the host's way


@dataclass(frozen=True)
class LdWindow:
    """A window's borders and its split as site indices: the left part is [first, split], the right one
    [split + 1, last]."""

    first: int
    split: int
    last: int


@dataclass(frozen=True)
class LdBlock:
    """The values of some rows.

    Attributes
    ----------
    row0 : int
        First site of the rows, and of the columns.
    values : ndarray, float32 (rows, sites - row0)
        Entry (s, t) is the pair of the sites row0 + s and row0 + t; 0 unless s < t, so each pair is there once.
    """

    row0: int
    values: NDArray[np.float32]


def ld_matrix(
    alignment: Alignment, first: int, last: int, *, engine: Engine, measure: str = "r2"
) -> NDArray[np.float32]:
    """Compute linkage disequilibrium between all sites of a region.

    Parameters
    ----------
    alignment : Alignment
        Prepared by `omega.sites.prepare`: every site shows at least two states.
    first, last : int
        First and last site, counted from 0, both included.
    engine : Engine
    measure : str
        'r2', or 'nr2': r2 times the haplotypes observed at both sites, which omega sums. Unphased genotypes are
        correlated. A pair with sites of three or more states has the value that omega gives it, see docs/omega.md; it
        may pass 1 where both sites have three.

    Returns
    -------
    ndarray, float32 (sites, sites)
        Symmetric, with 1 (r2) or the number of haplotypes (nr2) on the diagonal; 0 where a site does not vary over the
        haplotypes observed at both.

    Raises
    ------
    UsageError
        An unknown measure, no such sites, or more than `MOST_SITES`.
    DeviceError
        Not enough device memory, or a device lost on the way.
    """
    if not 0 <= first <= last < alignment.sites:
        raise UsageError(f"sites {first} to {last}: the alignment has {alignment.sites} sites, counted from 0")
    keep = np.zeros(alignment.sites, np.bool_)
    keep[first : last + 1] = True
    region = take_sites(alignment, keep)
    matrix = np.zeros((region.sites, region.sites), np.float32)
    for block in ld_blocks(region, engine, measure=measure):
        matrix[block.row0 : block.row0 + len(block.values), block.row0 :] = block.values
    matrix += matrix.T.copy()
    np.fill_diagonal(matrix, 1 if measure == "r2" else alignment.haplotypes)
    return matrix


def ld_blocks(alignment: Alignment, engine: Engine, *, measure: str = "r2") -> Iterator[LdBlock]:
    """Compute linkage disequilibrium between all sites of an alignment, block by block of rows.

    Yields
    ------
    LdBlock

    Raises
    ------
    UsageError, DeviceError
        As `ld_matrix`.
    """
    if measure not in MEASURES:
        raise UsageError(f"measure {measure}: choose one of {', '.join(MEASURES)}")
    if alignment.sites > MOST_SITES:
        raise UsageError(
            f"{alignment.sites:,} sites are in the region and at most {MOST_SITES:,} are possible; "
            "choose a smaller region or leave out rare alleles (--maf)"
        )
    region = _DeviceRegion(alignment, engine, measure)
    padded = round_up(alignment.sites, TILE)
    rows = _block_rows(engine, padded)
    out = engine.empty(rows * padded, np.float32)
    for row0 in range(0, alignment.sites, rows):
        count, stride = min(rows, alignment.sites - row0), padded - row0
        region.launch(out, row0, count, stride)
        values = engine.download(out, count * stride).reshape(count, stride)
        yield LdBlock(row0, values[:, : alignment.sites - row0])
    out.release()


def _block_rows(engine: Engine, stride: int) -> int:
    """Rows of a block: whole tiles."""
    need = BufferNeed("linkage disequilibrium", per_item=4 * stride * TILE)
    fit = engine.items_that_fit([need], item="tile of rows")
    return TILE * max(1, min(fit, BLOCK_BYTES // need.per_item, stride // TILE))


class _DeviceRegion:
    """The sites of a region on the device, and the kernels for them."""

    def __init__(self, alignment: Alignment, engine: Engine, measure: str) -> None:
        matrix = site_matrix(alignment)
        self._engine = engine
        self._lanes = CPU_LANES if engine.tuning.cpu else 1
        self._local = 1 if engine.tuning.cpu else TILE
        self._defines = {
            "GENOTYPES": int(matrix.genotypes),
            "MASKED": int(matrix.missing),
            "WIDE": int(matrix.wide),
            "PER_HAPLOTYPE": int(measure == "r2"),
        }
        bits = engine.upload(matrix.bits)
        valid = bits if matrix.valid is None else engine.upload(matrix.valid)
        counts = (np.uint32(matrix.units), engine.upload(matrix.ones), engine.upload(matrix.weight))
        self._pairs = (bits, valid, matrix.words, *counts, float(matrix.haplotypes))
        self._alleles: tuple[Any, ...] = ()
        if matrix.allele_bits is not None:
            states = (engine.upload(matrix.first_row), engine.upload(matrix.row_count))
            self._alleles = (engine.upload(matrix.allele_bits), valid, matrix.words, *states)

    def launch(self, out: DeviceArray, row0: int, rows: int, stride: int) -> None:
        """Compute one block of rows."""
        engine, layout = self._engine, (out, row0, rows, stride)
        pairs = engine.kernel("omega/ld_matrix.cl", "ld_matrix", **{**self._defines, "VW": self._lanes})
        size = (stride // self._lanes, -(-rows // ROWS_EACH))
        engine.launch(pairs, size, (self._local, 1), *self._pairs, *layout)
        if self._alleles:
            alleles = engine.kernel("omega/ld_alleles.cl", "ld_alleles", **{**self._defines, "VW": 1})
            engine.launch(alleles, (stride, rows), (TILE, 1), *self._alleles, *layout)


class BinnedLd:
    """A picture of at most `most` x `most` pixels: the mean of the pairs that share one.

    Parameters
    ----------
    sites : int
    most : int
        Pixels along either side.

    Attributes
    ----------
    starts : ndarray, int64 (bins + 1,)
        First site of each bin, and the number of sites.
    """

    def __init__(self, sites: int, most: int) -> None:
        self.bins = min(sites, most)
        self.starts = np.arange(self.bins + 1) * sites // self.bins
        self._sums = np.zeros((self.bins, self.bins))

    def add(self, block: LdBlock) -> None:
        """Take in some rows."""
        first = int(np.searchsorted(self.starts, block.row0, "right")) - 1
        last = int(np.searchsorted(self.starts, block.row0 + len(block.values) - 1, "right"))
        at = np.maximum(self.starts[first:-1] - block.row0, 0)
        columns = np.add.reduceat(block.values, at, axis=1, dtype=np.float64)
        self._sums[first:last, first:] += np.add.reduceat(columns, at[: last - first], axis=0)

    def means(self) -> NDArray[np.float64]:
        """Mean value of each pixel, float64 (bins, bins); NaN below the diagonal, and on it where there is no pair."""
        size = np.diff(self.starts).astype(np.float64)
        pairs = np.triu(size[:, None] * size, 1) + np.diag(size * (size - 1) / 2)
        return np.divide(self._sums, pairs, out=np.full_like(self._sums, np.nan), where=pairs > 0)


class WindowSums:
    """Sums over the pairs of sites within the left part of a window, within the right part, and across.

    Attributes
    ----------
    window : LdWindow
    left, right, across : float
    """

    def __init__(self, window: LdWindow) -> None:
        self.window = window
        self.left = self.right = self.across = 0.0

    def add(self, block: LdBlock) -> None:
        """Take in some rows."""
        w = self.window
        self.left += _sum(block, w.first, w.split, w.first, w.split)
        self.right += _sum(block, w.split + 1, w.last, w.split + 1, w.last)
        self.across += _sum(block, w.first, w.split, w.split + 1, w.last)

    @property
    def pairs(self) -> tuple[int, int, int]:
        """Pairs of sites within the left part, within the right part, and across."""
        k, m = self.window.split - self.window.first + 1, self.window.last - self.window.split
        return k * (k - 1) // 2, m * (m - 1) // 2, k * m

    @property
    def means(self) -> tuple[float, float, float]:
        """Means within the left part, within the right part, and across; NaN where there is no pair."""
        sums = (self.left, self.right, self.across)
        left, right, across = (s / n if n else float("nan") for s, n in zip(sums, self.pairs, strict=True))
        return left, right, across

    @property
    def omega(self) -> float:
        """Omega of the window, if the values are n r2."""
        left, right, across = self.pairs
        return (self.left + self.right) / (left + right) / (self.across / across + EPSILON) if left + right else 0.0


def _sum(block: LdBlock, row: int, last_row: int, column: int, last_column: int) -> float:
    """Sum of the block's pairs within a rectangle of site indices, both ends included."""
    first, stop = max(row - block.row0, 0), max(last_row - block.row0 + 1, 0)
    part = block.values[first:stop, max(column - block.row0, 0) : max(last_column - block.row0 + 1, 0)]
    return float(part.sum(dtype=np.float64))
