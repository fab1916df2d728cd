"""From a position's trip counts to what the hardware runs: passes over tiles of the right side, and a remainder.

`PassPhases` has the cycles of passes by what the hardware does in them; every level of timing returns it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hls_model.config import Config
from hls_model.workload import Workload


@dataclass(frozen=True)
class Passes:
    """The passes of a workload, and the remainder that software computes.

    A pass is an RS prefetch (unless RS is streamed) and then `columns` columns of `beats` beats of the lanes. A
    position is one pass, or several where its right side is longer than the RS buffer; positions that the hardware does
    not touch have none.

    Attributes
    ----------
    position : ndarray, int64 (passes,)
        Grid position of each pass, ascending.
    columns, beats : ndarray, int64 (passes,)
        Columns (outer iterations) of the pass and beats of each.
    hardware_omegas, software_omegas : ndarray, int64 (grid,)
        Scores from the pipelines and from the remainder at each position.
    """

    position: NDArray[np.int64]
    columns: NDArray[np.int64]
    beats: NDArray[np.int64]
    hardware_omegas: NDArray[np.int64]
    software_omegas: NDArray[np.int64]


def split(workload: Workload, config: Config) -> Passes:
    """Split each position into passes; see `Passes`."""
    left, right = workload.left, workload.right
    rest = right % config.unroll if config.remainder == "software" else np.zeros_like(right)
    beats = np.where(left > 0, -(-(right - rest) // config.lanes), 0)
    most = int(beats.max(initial=0)) if config.rs_prefetch == "none" else config.rs_buffer_words // config.lanes
    tiles = -(-beats // max(most, 1))
    position = np.repeat(np.arange(len(left)), tiles)
    starts = np.cumsum(tiles) - tiles
    tile = np.arange(len(position)) - starts[position]
    in_tile = np.minimum(beats[position] - tile * most, most)
    return Passes(position, left[position], in_tile, left * (right - rest), left * rest)


@dataclass(frozen=True)
class PassPhases:
    """Cycles of each pass, int64 (passes,).

    Attributes
    ----------
    prefetch : ndarray
        RS into its buffer: from the first request to the last write.
    fill : ndarray
        From a column's first request to the issue of its first beat, summed over the columns (once if they overlap).
    stream : ndarray
        Issue of the beats at the initiation interval, as if data were always there.
    stall : ndarray
        Further cycles in which the issue waits for data.
    drain : ndarray
        From the last beat of a column to the next column's first request: the lanes run empty.
    """

    prefetch: NDArray[np.int64]
    fill: NDArray[np.int64]
    stream: NDArray[np.int64]
    stall: NDArray[np.int64]
    drain: NDArray[np.int64]

    @property
    def total(self) -> NDArray[np.int64]:
        """Cycles of each pass."""
        return self.prefetch + self.fill + self.stream + self.stall + self.drain
