"""Minimises a function of a few numbers without its derivatives, as Nelder and Mead do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["minimise"]

Point = NDArray[np.float64]


def minimise(
    function: Callable[[Point], float],
    start: ArrayLike,
    steps: ArrayLike,
    *,
    rounds: int = 400,
    tolerance: float = 1e-7,
) -> Point:
    """Return where a function is least near a start, by the downhill simplex.

    Parameters
    ----------
    function : callable
    start : array_like of float (n,)
    steps : array_like of float (n,)
        The first step along each coordinate.
    rounds : int
        The most moves.
    tolerance : float
        The search ends when the values at all corners agree to this share.
    """
    first = np.array(start, np.float64)
    points = [first, *(first + step for step in np.diag(np.array(steps, np.float64)))]
    corners: list[tuple[float, int, Point]] = sorted(
        [(function(point), number, point) for number, point in enumerate(points)], key=_rank
    )
    for moved in range(len(corners), len(corners) + rounds):
        best, second, worst = corners[0][0], corners[-2][0], corners[-1][0]
        if worst - best <= tolerance * abs(best):
            break
        centre = np.mean([point for _, _, point in corners[:-1]], axis=0)
        away = centre - corners[-1][2]
        value, point = _at(function, centre + away)
        if value < best:
            value, point = min((value, point), _at(function, centre + 2 * away), key=lambda one: one[0])
        elif value >= second:
            value, point = _at(function, centre + away / 2 if value < worst else centre - away / 2)
        if value < second or value < worst:
            corners[-1] = (value, moved, point)
        else:
            target = corners[0][2]
            near = [_at(function, (target + point) / 2) for _, _, point in corners[1:]]
            corners[1:] = [(value, moved, point) for value, point in near]
        corners.sort(key=_rank)
    return corners[0][2]


def _rank(corner: tuple[float, int, Point]) -> tuple[float, int]:
    return corner[:2]


def _at(function: Callable[[Point], float], point: Point) -> tuple[float, Point]:
    return function(point), point
