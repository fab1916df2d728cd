"""Regions of high omega: neighbouring grid positions above a threshold, their windows merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.tracks import MergedRegion, merged_windows
from oclgenomics.errors import ParameterError
from oclgenomics.omega.result import Track


@dataclass(frozen=True)
class Peak(MergedRegion):
    """A region in which omega is high.

    Attributes
    ----------
    chromosome, replicate, start, end, position
        See `MergedRegion`; `position` is that of the largest omega in the region.
    omega : float
        At `position`.
    left, right : int
        First and last site of its window, bp counted from 1.
    positions : int
        Grid positions merged.
    """

    omega: float
    left: int
    right: int
    positions: int


def merge_peaks(tracks: Sequence[Track], threshold: float, merge: int = 0) -> list[Peak]:
    """Merge the windows of grid positions above a threshold where they overlap or lie close together.

    Parameters
    ----------
    tracks : sequence of Track
        Scans (`scan`), or a report (`read_report`).
    threshold : float
        Only larger omegas count.
    merge : int
        Windows with at most so many bp between them are one region; 0 merges those that overlap or touch.

    Returns
    -------
    list of Peak
        In the order of the tracks, and along each by `start`.

    Raises
    ------
    UsageError
        A negative `merge`.
    """
    if merge < 0:
        raise ParameterError("merge", "a distance is 0 bp or more", merge)
    return [peak for track in tracks for peak in _merge(track, threshold, merge)]


def best_windows(tracks: Sequence[Track], count: int) -> list[Peak]:
    """Return the largest omegas of all tracks whose windows do not overlap, best first, as peaks of one position."""
    return [_peak(tracks[owner], np.array([index])) for owner, index in best_positions(tracks, count)]


def best_positions(tracks: Sequence[Track], count: int) -> list[tuple[int, int]]:
    """Return the same as track and grid position, both counted from 0."""
    omega = _all_omegas(tracks)
    first = np.cumsum([0, *(len(track.omega) for track in tracks)])
    chosen: list[tuple[int, int]] = []
    for number in np.argsort(-omega, kind="stable").tolist():
        if len(chosen) == count or not omega[number] > 0:
            break
        owner = int(np.searchsorted(first, number, side="right")) - 1
        place = owner, number - int(first[owner])
        if not any(_overlap(tracks, place, other) for other in chosen):
            chosen.append(place)
    return chosen


def top_threshold(tracks: Sequence[Track], count: int) -> float:
    """Return the omega above which `count` grid positions lie (fewer where omegas are equal, or where so many are 0).

    Raises
    ------
    UsageError
        `count` is below 1.
    """
    if count < 1:
        raise ParameterError("top", "at least 1 position is needed", count)
    omega = np.sort(_all_omegas(tracks))[::-1]
    return float(omega[count]) if count < len(omega) else 0.0


def quantile_threshold(tracks: Sequence[Track], share: float) -> float:
    """Return a quantile of the omegas of all grid positions that have a window.

    Raises
    ------
    UsageError
        `share` is not between 0 and 1.
    """
    if not 0 < share < 1:
        raise ParameterError("quantile", "it lies between 0 and 1, such as 0.995 for the highest 0.5 %", share)
    omega = _all_omegas(tracks)
    omega = omega[omega > 0]
    return float(np.quantile(omega, share)) if len(omega) else 0.0


def _all_omegas(tracks: Sequence[Track]) -> NDArray[np.float64]:
    return np.concatenate([np.zeros(0), *(track.omega for track in tracks)])


def _merge(track: Track, threshold: float, merge: int) -> list[Peak]:
    chosen = np.flatnonzero((track.omega > threshold) & (track.omega > 0))
    return [_peak(track, part) for part in merged_windows(chosen, track.left, track.right, merge)]


def _peak(track: Track, merged: NDArray[np.int64]) -> Peak:
    """The region of some grid positions."""
    merged = np.sort(merged)
    best = int(merged[np.argmax(track.omega[merged])])
    return Peak(
        track.name, track.replicate, int(track.left[merged].min()), int(track.right[merged].max()),
        float(track.positions[best]), float(track.omega[best]), int(track.left[best]), int(track.right[best]),
        len(merged),
    )  # fmt: skip


def _overlap(tracks: Sequence[Track], one: tuple[int, int], other: tuple[int, int]) -> bool:
    (track, index), (second, place) = (tracks[one[0]], one[1]), (tracks[other[0]], other[1])
    same = (track.name, track.replicate) == (second.name, second.replicate)
    return same and bool(track.left[index] <= second.right[place] and second.left[place] <= track.right[index])
