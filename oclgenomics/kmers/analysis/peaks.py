"""The peaks of a histogram that chance does not explain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["mean_around", "peaks_of", "smoothed"]

MIN_RATIO, SIGMAS = 1.1, 5.0  # by which a rise or fall exceeds chance
AROUND = 1.5  # a peak, in standard deviations


def smoothed(h: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average over a quarter of a peak's standard deviation to either side, which is nothing below 16; float64 (n,)."""
    places = np.arange(len(h))
    reach = (np.sqrt(places) / 4).astype(np.int64)
    sums = np.concatenate([[0.0], np.cumsum(h)])
    first, last = places - reach, np.minimum(places + reach, len(h) - 1)
    means: NDArray[np.float64] = (sums[last + 1] - sums[first]) / (last + 1 - first)
    return means


def peaks_of(smooth: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the peaks that stand out on both sides, in order, each as (valley before it, peak)."""
    peaks: list[tuple[int, int]] = []
    valley = peak = 0
    rising = False
    for place in range(1, len(smooth)):
        if rising:
            if smooth[place] > smooth[peak]:
                peak = place
            elif _stands_out(smooth[peak], smooth[place]):
                peaks.append((valley, peak))
                rising, valley = False, place
        elif smooth[place] < smooth[valley]:
            valley = place
        elif _stands_out(smooth[place], smooth[valley]):
            rising, peak = True, place
    return peaks


def _stands_out(high: float, low: float) -> bool:
    return high > MIN_RATIO * low and high - low > SIGMAS * (high + low) ** 0.5


def _around(h: NDArray[np.float64], peak: int, valley: int, sigmas: float = AROUND) -> NDArray[np.int64]:
    """Counts about a peak."""
    reach = max(1, int(sigmas * peak**0.5))
    return np.arange(max(valley + 1, peak - reach), min(peak + reach, len(h) - 1) + 1)


def mean_around(h: NDArray[np.float64], peak: int, valley: int) -> float:
    """Return the mean of the Poisson distribution whose peak this is."""
    c = _around(h, peak, valley)
    below = float(h[c[:-1]].sum())
    mean = float((c[1:] * h[c[1:]]).sum()) / below if below else peak
    return float(np.clip(mean, c[0], c[-1]))
