"""How far to the right each SNP shares a window with another: the columns of M, and blocks of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hls_model.workload import Workload

__all__ = ["Blocks", "Runs", "blocks_of", "reaches"]


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
