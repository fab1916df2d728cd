"""Throughput against right-side iterations: the curve of Figs. 10 and 11, and where it reaches a share of the ideal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hls_model.choices import LEFT_BORDERS, Level
from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.limits import check_sides
from hls_model.timing import Timing
from hls_model.uncertainty import built_band, built_timing
from hls_model.workload import Workload


@dataclass(frozen=True)
class Curve:
    """Throughput of one grid position by its right-side iterations.

    Attributes
    ----------
    config, level, left : Config, str, int
        The design as built for the clock at which the whole curve takes the least time, the level of timing, and the
        left borders tried.
    right : ndarray, int64 (points,)
        Right-side iterations, ascending.
    rate : ndarray, float64 (points,)
        Scores per second of the pipelines.
    share : float
        Share of the ideal rate that `crossing` is about.
    slow, fast : ndarray, float64 (points,), or None
        The rate at both ends of what is not known (`hls_model.uncertainty`), where that is asked for.
    """

    config: Config
    level: str
    left: int
    right: NDArray[np.int64]
    rate: NDArray[np.float64]
    share: float
    slow: NDArray[np.float64] | None = None
    fast: NDArray[np.float64] | None = None

    @property
    def crossing(self) -> int | None:
        """Fewest right-side iterations of the curve that reach the share of the ideal; None where none does."""
        return self._crossing(self.rate)

    @property
    def crossings(self) -> tuple[int | None, int | None]:
        """The same at the fast and at the slow end of what is not known; without ends, `crossing` twice."""
        fast, slow = (self.rate if end is None else end for end in (self.fast, self.slow))
        return self._crossing(fast), self._crossing(slow)

    def efficiency(self, right: NDArray[Any]) -> NDArray[np.float64]:
        """Return the share of the ideal rate at so many right-side iterations; 0 below one beat."""
        index = np.searchsorted(self.right, right, side="right") - 1
        return np.where(index >= 0, self.rate[np.maximum(index, 0)] / self.config.ideal_rate, 0.0)

    def _crossing(self, rate: NDArray[np.float64]) -> int | None:
        above = np.flatnonzero(rate >= self.share * self.config.ideal_rate)
        return int(self.right[above[0]]) if len(above) else None


def throughput_curve(
    config: Config,
    most: int,
    *,
    left: int = LEFT_BORDERS,
    share: float = 0.9,
    level: Level = "L1",
    uncertainty: bool = False,
) -> Curve:
    """Return the curve at every multiple of the unroll, for the clock at which it takes the least time as a whole.

    Parameters
    ----------
    config : Config
    most : int
        Right-side iterations at which it ends.
    left : int
        Left borders tried.
    share : float
        Share of the ideal rate to look for.
    uncertainty : bool
        Also give the curve at both ends of what is not known.

    Raises
    ------
    ModelError
        Less than one beat, no left border, a side of more than 65,536 SNPs, or a share outside 0 to 1.
    """
    if most < config.unroll:
        raise ModelError(f"the curve ends at {most} right-side iterations; it needs the unroll, {config.unroll}")
    if left < 1:
        raise ModelError(f"the curve has {left} left borders; it needs 1 or more")
    check_sides(Workload.single(left, most))
    if not 0 < share < 1:
        raise ModelError(f"share is {share:g}; it has to lie between 0 and 1")
    right = np.arange(config.unroll, most + 1, config.unroll, dtype=np.int64)
    scan = Workload.apart(np.full_like(right, left), right)

    def rate(timing: Timing) -> NDArray[np.float64]:
        rates: NDArray[np.float64] = left * right / (timing.position_cycles / (timing.config.clock_mhz * 1e6))
        return rates

    if not uncertainty:
        timing = built_timing(scan, config, level)
        return Curve(timing.config, level, left, right, rate(timing), share)
    found = built_band(scan, config, level)
    likely = rate(found.likely)
    slow, fast = np.minimum(rate(found.high), likely), np.maximum(rate(found.low), likely)
    return Curve(found.likely.config, level, left, right, likely, share, slow, fast)
