"""One grid position as the hardware computes it, and what its window is worth in float64."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hls_model.config import Config
from hls_model.functional import Sums, run
from oclgenomics.omega.options import EPSILON
from oclgenomics.omega.plan.windows import Windows

__all__ = ["Place", "PositionRun", "omega_of", "run_position", "sums_of"]


@dataclass(frozen=True)
class Place:
    """Search window of a grid position, as indices of M: see `oclgenomics.omega.plan.windows.Windows`."""

    centre: int
    first: int
    inner_left: int
    inner_right: int
    last: int

    @classmethod
    def of(cls, windows: Windows, index: int, start: int) -> Place:
        """The window of a grid position, counted from the site `start`."""
        names = ("centre", "first", "inner_left", "inner_right", "last")
        return cls(*(int(getattr(windows, name)[index]) - start for name in names))


@dataclass(frozen=True)
class PositionRun:
    """What the hardware finds at a grid position.

    Attributes
    ----------
    omega : float
        The greatest, a float32 value; 0 where none is above 0.
    left, right : int
        Borders of its window, as indices of M; -1 where there is none.
    window_omega : float
        Omega of that window in float64, from sums in float64.
    software : bool
        Found in the remainder, which software computes, and not by a lane.
    hardware_omegas, software_omegas : int
    """

    omega: float
    left: int
    right: int
    window_omega: float
    software: bool
    hardware_omegas: int
    software_omegas: int

    def moved(self, sites: int) -> PositionRun:
        """The same with its borders so many sites further."""
        return self if self.left < 0 else replace(self, left=self.left + sites, right=self.right + sites)


def sums_of(M: NDArray[np.float32], place: Place) -> Sums:
    """Return the operands of a grid position, views of M: a column for each left border, the inner one first."""
    c, lefts = place.centre, slice(place.first, place.inner_left + 1)
    rights = slice(place.inner_right, place.last + 1)
    return Sums(
        LS=M[lefts, c][::-1],
        RS=M[c + 1, rights],
        TS=M[lefts, rights][::-1],
        first_left=c - place.inner_left + 1,
        first_right=place.inner_right - c,
    )


def omega_of(sums: NDArray[np.float64], centre: int, left: int, right: int) -> float:
    """Omega of the window from `left` to `right` in float64, from M in float64."""
    within = float(sums[left, centre] + sums[centre + 1, right])
    k, m = centre - left + 1, right - centre
    pairs = k * (k - 1) // 2 + m * (m - 1) // 2
    across = max(float(sums[left, right]) - within, 0.0)
    return within / pairs / (across / (k * m) + EPSILON) if pairs else 0.0


def run_position(M: NDArray[np.float32], sums: NDArray[np.float64], place: Place, config: Config) -> PositionRun:
    """Compute a grid position as the design does.

    Parameters
    ----------
    M : ndarray, float32 (sites, sites)
        The matrix of the hardware.
    sums : ndarray, float64 (sites, sites)
        The matrix in float64.
    place : Place
    config : Config

    Raises
    ------
    ModelError
        More sites on a side than the hardware's counters take.
    """
    result = run(sums_of(M, place), config)
    best = result.best
    counts = (result.hardware_omegas, result.software_omegas)
    if not (best.found and best.omega > 0):
        return PositionRun(0.0, -1, -1, 0.0, False, *counts)
    left, right = place.inner_left - best.column, place.inner_right + best.right
    software = best == result.software
    return PositionRun(float(best.omega), left, right, omega_of(sums, place.centre, left, right), software, *counts)
