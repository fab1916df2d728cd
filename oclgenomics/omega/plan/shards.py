"""Which piece of a scan does what: alignments are dealt out one by one, and large ones in ranges of positions.

All pieces walk along the same alignments and come to the same decisions, without knowing of each other.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.array_layout import KEY, Checksum
from oclgenomics.omega.plan.windows import Windows

GRAIN = 1 << 25  # omegas and pairs of sites, some milliseconds: what costs no more is not cut
MAX_COST = 1 << 62


class PositionRange(NamedTuple):
    """Grid positions [begin, end) of an alignment, and the number of the piece that scans them, from 1 on."""

    piece: int
    begin: int
    end: int


class Dealer:
    """Deals alignments out to pieces, in their order; a piece with the least cost up to now gets the next range.

    Parameters
    ----------
    pieces : int

    Attributes
    ----------
    dealt : int
        Alignments up to now.
    """

    def __init__(self, pieces: int) -> None:
        self._pieces = pieces
        self._costs = [(0, number) for number in range(1, pieces + 1)]  # a heap
        self._decided = Checksum(KEY)
        self.dealt = 0

    @property
    def decided(self) -> int:
        """A checksum of all decisions up to now."""
        return self._decided.value

    def deal(self, costs: NDArray[np.int64], least: int = GRAIN) -> list[PositionRange]:
        """Cut an alignment into ranges of about the same cost, and say who scans them.

        Parameters
        ----------
        costs : ndarray of int64, shape (grid,)
            Of each position. There may be no position, and that is a range, too.
        least : int
            An alignment is not cut into ranges that cost less.

        Returns
        -------
        list of PositionRange
            In the order of positions, all of which are in one of them.
        """
        ranges = []
        ends = _ends(costs, min(self._pieces, max(1, int(costs.sum()) // max(1, least))))
        for begin, end in zip([0, *ends], ends, strict=False):
            cost, piece = self._costs[0]
            heapq.heapreplace(self._costs, (cost + 1 + int(costs[begin:end].sum()), piece))
            ranges.append(PositionRange(piece, begin, end))
        self._decided.update(repr(ranges).encode())
        self.dealt += 1
        return ranges


def _ends(costs: NDArray[np.int64], ranges: int) -> list[int]:
    """Where ranges of about the same cost end, so many or fewer, if one position costs more."""
    summed = np.cumsum(costs)
    wanted = [int(summed[-1]) * number // ranges for number in range(1, ranges)] if ranges > 1 else []
    inner = set(np.searchsorted(summed, wanted, side="right").tolist())
    return [*sorted(inner - {0, len(costs)}), len(costs)]


def position_costs(windows: Windows, border: int) -> NDArray[np.int64]:
    """What the scan of each position costs: its omegas, and the pairs of sites that no position before it needs.

    Parameters
    ----------
    windows : Windows
    border : int
        As in `ScanOptions.tried_border`.

    Returns
    -------
    ndarray of int64, shape (grid,)
        At least 1; small enough to be summed.
    """
    last = np.maximum.accumulate(np.where(windows.valid, windows.last, -1))
    before = np.concatenate([[-1], last[:-1]])
    rows = windows.last - np.maximum(before, windows.first - 1)
    pairs = np.where(windows.valid, rows * (windows.last - windows.first), 0)
    most: NDArray[np.int64] = np.minimum(1 + windows.scores(border) + pairs, MAX_COST // max(1, len(windows.at)))
    return most


def least_range(windows: Windows) -> int:
    """The least cost of a range: the pairs of sites of a window are computed by both neighbours of a cut."""
    return max(GRAIN, windows.span**2)
