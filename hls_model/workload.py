"""What there is to compute: left and right iterations of every grid position.

`left` is the outer loop's trip count (left borders), `right` the inner one's (right-side iterations); a position takes
`left * right` omegas.
`reaches` says how far to the right each SNP shares a window with another: the columns of M, which `blocks_of` cuts into
blocks.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hls_model.errors import ModelError, ModelInputError
from hls_model.files import read_text
from hls_model.text import shown

MAX_DIGITS = 16  # of a position
LARGEST = 1 << 53  # bp that float64 still counts one by one
MAX_SNPS = 100_000_000
MAX_GRID = 10_000_000
MAX_TRIPS = (1 << 31) - 1  # the product of two fits in 64 bits
FEWEST = 2  # SNPs of a side of a window
LARGEST_SIDE = 65_536  # SNPs: k (k - 1) of more does not fit into the 32 bits of the integer multipliers


def even_positions(snps: int, length: int) -> NDArray[np.int64]:
    """Return the positions of SNPs spread evenly over a region of `length` bp, int64 (snps,).

    Raises
    ------
    ModelError
        Fewer than 2 SNPs or 1 bp.
    """
    if snps < 2 or length < 1:
        raise ModelError(f"{snps} SNPs on {length} bp; a scan needs 2 SNPs and 1 bp at least")
    if snps > MAX_SNPS:
        raise ModelError(f"{snps:.6g} SNPs; at most {MAX_SNPS} are spread")
    positions: NDArray[np.int64] = np.floor(np.arange(1, snps + 1) * (length / snps)).astype(np.int64)
    return positions


def read_positions(path: str | os.PathLike[str]) -> NDArray[np.int64]:
    """Return the positions of a list, int64 (snps,); empty lines and text after a # are ignored.

    Raises
    ------
    ModelInputError
        A file that cannot be read, a line that is not a position, positions that decrease, or fewer than 2.
    """
    name = os.fspath(path)
    lines = read_text(path, "is no text; give a list of positions, one a line").splitlines()
    positions: list[int] = []
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        if not (text.isascii() and text.isdigit()) or len(text) > MAX_DIGITS or int(text) > LARGEST:
            raise ModelInputError(f"{name}, line {number}: {text[:40]!r} is no position; give a whole number of bp")
        if positions and int(text) < positions[-1]:
            raise ModelInputError(f"{name}, line {number}: {text} comes after {positions[-1]}; sort the positions")
        positions.append(int(text))
    if len(positions) < 2:
        raise ModelInputError(f"{name}: has too few positions ({len(positions)}); a scan needs 2 or more")
    return np.array(positions, np.int64)


@dataclass(frozen=True)
class Workload:
    """Trip counts of a scan.

    Attributes
    ----------
    left, right : ndarray, int64 (grid,)
        Trip counts of the outer and the inner loop; 0 in both where a position has no window.
    first, last : ndarray, int64 (grid,)
        Index of the first and the last SNP of each position's widest window; they mean nothing where it has none.
    centre : ndarray, int64 (grid,)
        Index of the last SNP to the left of each position; as above.
    snps : int
        SNPs of the alignment.
    samples : int
        Haplotypes, for the rate of LD; 0 is not known.
    name : str
        What reports call it.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    centre: NDArray[np.int64]
    snps: int
    samples: int = 0
    name: str = ""

    def __post_init__(self) -> None:
        arrays = (self.left, self.right, self.first, self.last, self.centre)
        if len({array.shape for array in arrays}) != 1 or self.left.ndim != 1:
            raise ModelError("left, right, first, last and centre need one entry for each grid position")
        if min(int(self.left.min(initial=0)), int(self.right.min(initial=0))) < 0:
            raise ModelError("a trip count is negative; left and right have to be 0 or more")

    @property
    def omegas(self) -> int:
        """Scores of the scan."""
        return int((self.left * self.right).sum())

    @property
    def widest_side(self) -> int:
        """SNPs of the longest left or right side of a window."""
        has = self.left * self.right > 0
        sides = np.maximum(self.centre - self.first + 1, self.last - self.centre)
        return int(sides[has].max(initial=0))

    @property
    def ld_scores(self) -> int:
        """Square of the SNPs: the scores of LD that OmegaPlus for GPUs computes, and the paper's speedups imply."""
        return self.snps**2

    @property
    def window_pairs(self) -> int:
        """Pairs of SNPs that some window holds, each counted once: the scores of LD that the scan needs."""
        has = self.left * self.right > 0
        if not has.any():
            return 0
        first, last = self.first[has], self.last[has]
        span = last - first + 1
        # windows move to the right: only pairs that no earlier one held are new
        shared = np.maximum(np.maximum.accumulate(last)[:-1] - first[1:] + 1, 0)
        return int((span * (span - 1) // 2).sum() - (shared * (shared - 1) // 2).sum())

    def stretch(self, start: int, stop: int) -> Workload:
        """Return the scan of some neighbouring grid positions, of which the first and the last have a window."""
        base = self.first[start]
        left, right = self.left[start:stop], self.right[start:stop]
        first, last, centre = (array[start:stop] - base for array in (self.first, self.last, self.centre))
        return Workload(left, right, first, last, centre, int(last[-1] + 1), self.samples, self.name)

    @classmethod
    def joined(cls, workloads: Sequence[Workload], name: str = "") -> Workload:
        """Return several scans as one, as far as omega goes; its LD would count pairs across them."""
        starts = np.cumsum([0, *(one.snps for one in workloads)])
        moved = list(zip(workloads, starts[:-1], strict=True))
        left, right = (np.concatenate([getattr(one, side) for one in workloads]) for side in ("left", "right"))
        first, last, centre = (
            np.concatenate([getattr(one, site) + start for one, start in moved]) for site in ("first", "last", "centre")
        )
        return cls(left, right, first, last, centre, snps=int(starts[-1]), name=name)

    @classmethod
    def single(cls, left: int, right: int) -> Workload:
        """Return one grid position of the given trip counts, whose smallest sides have 2 SNPs."""
        if left < 0 or right < 0:
            raise ModelError(f"trip counts are {left} and {right}; they have to be 0 or more")
        if max(left, right) > MAX_TRIPS:
            raise ModelError(f"trip counts are {shown(left)} and {shown(right)}; {MAX_TRIPS} is the most")
        return cls.apart(np.array([left], np.int64), np.array([right], np.int64))

    @classmethod
    def apart(cls, left: NDArray[np.int64], right: NDArray[np.int64]) -> Workload:
        """Return grid positions of the given trip counts, each by itself, as if its first SNP were the first of all."""
        on_left, on_right = left + FEWEST - 1, right + FEWEST - 1  # SNPs of its sides
        snps = int(on_left[-1] + on_right[-1])
        return cls(left, right, np.zeros_like(right), on_left + on_right - 1, on_left - 1, snps)

    @classmethod
    def uniform(
        cls,
        snps: int,
        *,
        grid: int = 1000,
        length: int = 100_000,
        minwin: int = 1_000,
        maxwin: int = 20_000,
        samples: int = 0,
    ) -> Workload:
        """Return the scan of SNPs spread evenly over a region.

        Parameters
        ----------
        snps, grid : int
            SNPs and grid positions, 2 or more.
        length, minwin, maxwin : int
            Region and windows in bp. The defaults, those of OmegaPlus' example, are what we infer for the data sets of
            Table III: the paper gives no windows for them. With these, omegas and pairs have the ratio that its total
            speedups imply.
        samples : int
            Haplotypes.
        """
        positions, name = even_positions(snps, length), f"{snps:,} uniform SNPs"
        return cls.from_positions(positions, grid=grid, minwin=minwin, maxwin=maxwin, samples=samples, name=name)

    @classmethod
    def from_positions(
        cls,
        positions: NDArray[np.int64],
        *,
        grid: int,
        minwin: int,
        maxwin: int,
        minsnps: int = 2,
        samples: int = 0,
        name: str = "",
    ) -> Workload:
        """Return the scan of SNPs at given positions, with the windows of OmegaPlus.

        Parameters
        ----------
        positions : ndarray, int64 (snps,)
            Positions in bp, non-decreasing.
        grid : int
            Equidistant grid positions from the first to the last SNP, 2 or more.
        minwin, maxwin : int
            Least and greatest reach of a window to either side, in bp.
        minsnps : int
            Least SNPs on either side, 2 or more.

        Raises
        ------
        ModelError
            Positions that decrease or are fewer than 2, or an option outside its range.
        """
        positions = np.asarray(positions)
        if positions.ndim != 1 or positions.dtype.kind not in "iu" or len(positions) < 2:
            raise ModelError("positions have to be a list of 2 or more whole numbers, in bp")
        if (np.diff(positions.astype(np.int64)) < 0).any():
            raise ModelError("positions have to be in ascending order")
        if grid < 2 or minsnps < 2 or not 0 <= minwin <= maxwin:
            raise ModelError(
                f"grid {grid}, minsnps {minsnps}, minwin {minwin}, maxwin {maxwin}; take grid and minsnps of 2 or more "
                "and 0 <= minwin <= maxwin"
            )
        if grid > MAX_GRID:
            raise ModelError(f"grid is {grid:.6g}; at most {MAX_GRID:,} positions are timed")
        at = positions[0] + (positions[-1] - positions[0]) * np.arange(grid) / (grid - 1)

        def from_bp(where: NDArray[np.float64]) -> NDArray[np.int64]:
            return np.searchsorted(positions, np.trunc(where).astype(np.int64), side="left")

        def up_to_bp(where: NDArray[np.float64]) -> NDArray[np.int64]:
            return np.searchsorted(positions, np.trunc(where).astype(np.int64), side="right") - 1

        centre, first, last = up_to_bp(at), from_bp(at - maxwin), up_to_bp(at + maxwin)
        inner_left = np.minimum(from_bp(at - minwin), centre - minsnps + 1)
        inner_right = np.maximum(up_to_bp(at + minwin), centre + minsnps)
        left, right = inner_left - first + 1, last - inner_right + 1
        valid = (left > 0) & (right > 0) & (centre + 1 < last) & (centre > first)
        trips = np.where(valid, left, 0), np.where(valid, right, 0)
        return cls(*trips, first, last, centre, len(positions), samples, name)


@dataclass(frozen=True)
class Runs:
    """Runs of neighbouring SNPs that reach equally far; ascending, SNPs without a partner to their right are in none.

    Attributes
    ----------
    first, stop, last : ndarray, int64 (runs,)
        The first SNP of a run, the one behind its last, and the last SNP that shares a window with them.
    """

    first: NDArray[np.int64]
    stop: NDArray[np.int64]
    last: NDArray[np.int64]

    @property
    def columns(self) -> int:
        """SNPs that have a partner to their right: columns of M."""
        return int((self.stop - self.first).sum())


@dataclass(frozen=True)
class Blocks:
    """Blocks of equally many neighbouring SNPs, of which at least one has a partner to its right.

    Attributes
    ----------
    number, first, last : ndarray, int64 (blocks,)
        Number of the block (its SNPs begin at that multiple of the size), its first SNP with a partner, and the last
        SNP that shares a window with one of the block.
    """

    number: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]


def reaches(workload: Workload) -> Runs:
    """Return the runs of a scan, whose windows move to the right from one grid position to the next."""
    has = workload.left * workload.right > 0
    first, last = workload.first[has], workload.last[has]
    if not len(first):
        none = np.zeros(0, np.int64)
        return Runs(none, none, none)
    follows = np.append(first[1:], last[-1])
    stop = np.minimum(follows, last)  # the last SNP of a window has no partner to its right
    kept = stop > first
    return Runs(first[kept], stop[kept], last[kept])


def blocks_of(runs: Runs, size: int) -> Blocks:
    """Cut the SNPs into blocks of `size` and return those with a partner to the right of one of their SNPs."""
    if not len(runs.first):
        none = np.zeros(0, np.int64)
        return Blocks(none, none, none)
    numbers = np.arange(runs.first[0] // size, (runs.stop[-1] - 1) // size + 1)
    # a later run reaches at least as far, so the last run that begins in or before a block decides
    run = np.searchsorted(runs.first, (numbers + 1) * size - 1, side="right") - 1
    holds = runs.stop[run] > numbers * size
    numbers, run = numbers[holds], run[holds]
    earliest = np.searchsorted(runs.stop, numbers * size, side="right")  # the first run that ends within the block
    first = np.maximum(runs.first[earliest], numbers * size)
    return Blocks(numbers, first, np.maximum(runs.last[run], numbers * size))
