"""One grid position: which lane gets which right-side iteration, their maxima, and the winner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hls_model.config import Config
from hls_model.functional.arithmetic import Scorer
from hls_model.functional.maxima import Best, Groups, merge
from hls_model.functional.sums import Sums

__all__ = ["Result", "lane_of", "run"]

BLOCK = 1 << 17  # omegas scored at a time: enough to hide NumPy's calls, and the work space stays in the cache


@dataclass(frozen=True)
class Result:
    """The result of a grid position.

    Attributes
    ----------
    best : Best
        The winner over hardware and software: the one of a sequential float32 loop over columns, then right side.
    hardware : Best
        The winner of the lanes' merge.
    lanes : tuple of Best
        The maximum of each lane.
    software : Best
        The maximum of the remainder.
    hardware_omegas, software_omegas : int
        Scores from the lanes, and of the remainder.
    """

    best: Best
    hardware: Best
    lanes: tuple[Best, ...]
    software: Best
    hardware_omegas: int
    software_omegas: int


def lane_of(right: int, config: Config) -> NDArray[np.int64]:
    """Return the lane of each right-side iteration, int64 (right,); the remainder that software takes has `lanes`.

    Blocked lanes have stretches of equal length. Where the division leaves a rest, the first ones are one iteration
    longer, so that only the last beat is not full.
    """
    lanes = config.lanes
    inside = right - (right % config.unroll if config.remainder == "software" else 0)
    where = np.arange(inside)
    if config.lane_map == "interleaved":
        lane = where % lanes
    else:
        stretch, longer = divmod(inside, lanes)
        lane = np.repeat(np.arange(lanes), np.where(np.arange(lanes) < longer, stretch + 1, stretch))
    return np.concatenate([lane, np.full(right - inside, lanes)]).astype(np.int64)


def run(sums: Sums, config: Config) -> Result:
    """Compute a grid position as the hardware and the software beside it do.

    Parameters
    ----------
    sums : Sums
        Operands of the position.
    config : Config
        The design; only lanes, unroll, lane map and remainder matter. Tiles of the right side do not change the result.
    """
    lane = lane_of(sums.right, config)
    groups = _maxima(sums, lane)
    groups += [Best()] * (config.lanes + 1 - len(groups))
    rest = int(np.count_nonzero(lane == config.lanes))
    hardware, software = merge(groups[: config.lanes]), groups[config.lanes]
    return Result(
        best=merge((hardware, software)),
        hardware=hardware,
        lanes=tuple(groups[: config.lanes]),
        software=software,
        hardware_omegas=sums.left * (sums.right - rest),
        software_omegas=sums.left * rest,
    )


def _maxima(sums: Sums, lane: NDArray[np.int64]) -> list[Best]:
    """Return the maxima of the lanes, and of the remainder where there is one."""
    groups = Groups(lane)
    if not sums.TS.size:
        return groups.best
    rows = max(1, min(sums.left, BLOCK // sums.right))
    scorer = Scorer(sums, rows)
    out = np.empty((rows, sums.right), np.float32)
    for first in range(0, sums.left, rows):
        last = min(first + rows, sums.left)
        scorer.score(first, last, out[: last - first])
        groups.update(out[: last - first], first)
    return groups.best
