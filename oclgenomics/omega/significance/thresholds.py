"""What the largest omega of neutral replicates says about an omega: thresholds, p-values, and detection of sweeps.

All of it compares the largest omega of an alignment with the largest omegas of R neutral replicates of the same length,
so that the many positions of a scan need no further correction. With an alignment that is neutral, too, its rank among
the R + 1 is uniform, which makes the rates exact for every R (Davison and Hinkley, *Bootstrap Methods and their
Application*, 1997, section 4.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.omega.result import Scan

__all__ = [
    "FEW_MAXIMA",
    "Detection",
    "Localisation",
    "Maxima",
    "Threshold",
    "detection",
    "localisation",
    "p_values",
    "replicates_for",
    "thresholds",
]

FEW_MAXIMA = 10  # fewer replicates above a threshold than that leave its rate uncertain by a third or more
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_ROUNDING = 1e-9  # 0.05 * 100 is not quite 5


@dataclass
class Maxima:
    """The largest omega of each replicate, and where it is.

    Attributes
    ----------
    omega : ndarray of float64, shape (replicates,)
        0 where a replicate has no window with enough sites, or no disequilibrium.
    position : ndarray of float64, shape (replicates,)
        Grid position in bp; NaN where omega is 0.
    """

    omega: NDArray[np.float64]
    position: NDArray[np.float64]

    @classmethod
    def of(cls, scans: Iterable[Scan]) -> Maxima:
        """Take the maxima of scans, one at a time."""
        omega, position = [], []
        for scan in scans:
            best = scan.best
            found = best is not None and bool(scan.omega[best] > 0)
            omega.append(float(scan.omega[best]) if found else 0.0)
            position.append(float(scan.positions[best]) if found else math.nan)
        return cls(np.array(omega, np.float64), np.array(position, np.float64))

    def __len__(self) -> int:
        return len(self.omega)


@dataclass(frozen=True)
class Threshold:
    """The omega that a neutral alignment exceeds with a given probability.

    Attributes
    ----------
    fpr : float
        The false-positive rate asked for.
    omega : float
        Only larger omegas count as detections.
    rank : int
        `omega` is the rank-th largest maximum of the neutral replicates: floor(fpr (R + 1)).
    replicates : int
        R.
    """

    fpr: float
    omega: float
    rank: int
    replicates: int

    @property
    def expected_fpr(self) -> float:
        """Mean rate over all sets of replicates: rank / (R + 1), at most `fpr`."""
        return self.rank / (self.replicates + 1)

    @property
    def fpr_error(self) -> float:
        """Standard deviation of the rate over sets of replicates; it has a Beta(rank, R + 1 - rank) distribution."""
        rate = self.expected_fpr
        return math.sqrt(rate * (1 - rate) / (self.replicates + 2))


def thresholds(maxima: NDArray[np.float64], rates: Sequence[float]) -> list[Threshold]:
    """Thresholds for false-positive rates.

    An omega is above the threshold exactly where its p-value (`p_values`) is at most the rate.

    Parameters
    ----------
    maxima : ndarray of float64, shape (replicates,)
        Largest omega of each neutral replicate.
    rates : sequence of float
        Between 0 and 1; the probability that a neutral alignment as long as a replicate has any larger omega.

    Raises
    ------
    UsageError
        A rate outside its range, or too small for so few replicates.
    """
    ordered = np.sort(maxima)[::-1]
    found = []
    for rate in rates:
        if not 0 < rate < 1:
            raise UsageError(f"--fpr {rate:g}: a false-positive rate lies between 0 and 1")
        rank = math.floor(rate * (len(ordered) + 1) + _ROUNDING)
        if rank < 1:
            raise UsageError(
                f"--fpr {rate:g} needs at least {replicates_for(rate):,} neutral replicates, "
                f"better {replicates_for(rate, FEW_MAXIMA):,}; there are {len(ordered):,}"
            )
        found.append(Threshold(rate, float(ordered[rank - 1]), rank, len(ordered)))
    return found


def replicates_for(rate: float, rank: int = 1) -> int:
    """Return the fewest replicates of which the `rank` largest maxima decide on a false-positive rate."""
    return max(rank, math.ceil(rank / rate - _ROUNDING) - 1)


def p_values(omega: NDArray[np.float64] | float, maxima: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probability of so large an omega anywhere in a neutral alignment: (1 + maxima >= omega) / (1 + R).

    Parameters
    ----------
    omega : float, or ndarray of float64, shape (...)
    maxima : ndarray of float64, shape (replicates,)
        Largest omega of each neutral replicate.

    Returns
    -------
    ndarray of float64, shape (...)
        At least 1 / (1 + R).
    """
    below = np.searchsorted(np.sort(maxima), omega, side="left")
    return np.asarray((1 + len(maxima) - below) / (1 + len(maxima)), np.float64)


@dataclass(frozen=True)
class Detection:
    """How many sweep replicates exceed a threshold.

    Attributes
    ----------
    threshold : Threshold
    detected : int
        Replicates whose largest omega is above it.
    detected_within : int or None
        Those of them whose largest omega lies near enough to the true site.
    replicates : int
    """

    threshold: Threshold
    detected: int
    detected_within: int | None
    replicates: int

    @property
    def rate(self) -> float:
        """Share of the replicates that are detected (the power)."""
        return self.detected / self.replicates

    @property
    def rate_within(self) -> float | None:
        """Share of the replicates that are detected near the true site."""
        return None if self.detected_within is None else self.detected_within / self.replicates


@dataclass(frozen=True)
class Localisation:
    """How far from the true site the largest omegas of sweep replicates lie, in bp, whether detected or not.

    Attributes
    ----------
    found : int
        Replicates with any omega above 0; the others have no distance.
    mean, median : float or None
        None if there is no distance.
    quantiles : dict of float to float
        Distance by its quantile.
    within : int or None
        Replicates at most `limit` from the site.
    limit : int or None
    """

    found: int
    mean: float | None
    median: float | None
    quantiles: dict[float, float]
    within: int | None
    limit: int | None


def detection(sweeps: Maxima, found: Sequence[Threshold], site: float, within: int | None = None) -> list[Detection]:
    """Count the detected sweep replicates at each threshold.

    Parameters
    ----------
    sweeps : Maxima
        Of replicates with a sweep.
    found : sequence of Threshold
    site : float
        True position of the selected site, bp.
    within : int, optional
        Greatest distance from it, in bp, of a detection in the right place.
    """
    near = np.zeros(len(sweeps), bool) if within is None else np.abs(sweeps.position - site) <= within
    counted = []
    for threshold in found:
        above = sweeps.omega > threshold.omega
        right = None if within is None else int((above & near).sum())
        counted.append(Detection(threshold, int(above.sum()), right, len(sweeps)))
    return counted


def localisation(sweeps: Maxima, site: float, within: int | None = None) -> Localisation:
    """Distances of the largest omegas of sweep replicates from the true site; parameters as in `detection`."""
    distance = np.abs(sweeps.position - site)
    distance = distance[~np.isnan(distance)]
    near = None if within is None else int((distance <= within).sum())
    if not len(distance):
        return Localisation(0, None, None, {}, near, within)
    quantiles = dict(zip(QUANTILES, np.quantile(distance, QUANTILES).tolist(), strict=True))
    return Localisation(len(distance), float(distance.mean()), float(np.median(distance)), quantiles, near, within)
