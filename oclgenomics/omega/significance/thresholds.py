"""What the largest omega of neutral replicates says about an omega: thresholds and p-values.

All of it compares the largest omega of an alignment with the largest omegas of R neutral replicates of the same length,
so that the many positions of a scan need no further correction. With an alignment that is neutral, too, its rank among
the R + 1 is uniform, which makes the rates exact for every R (Davison and Hinkley, *Bootstrap Methods and their
Application*, 1997, section 4.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.errors import ParameterError
from oclgenomics.omega.result import Scan

__all__ = [
    "FEW_MAXIMA",
    "Maxima",
    "Threshold",
    "p_values",
    "replicates_for",
    "thresholds",
]

FEW_MAXIMA = 10  # fewer replicates above a threshold than that leave its rate uncertain by a third or more
_ROUNDING = 1e-9  # 0.05 * 100 is not quite 5


@dataclass(frozen=True, eq=False, repr=False)
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

    def __repr__(self) -> str:
        highest = f", highest omega {self.omega.max():.6g}" if len(self) else ""
        return f"<Maxima of {len(self):,} replicates{highest}>"

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each replicate: 'replicate' (counted from 1), 'omega' and 'position' (None for NaN)."""
        places = [None if math.isnan(place) else place for place in self.position.tolist()]
        pairs = zip(self.omega.tolist(), places, strict=True)
        return [
            {"replicate": number, "omega": omega, "position": place}
            for number, (omega, place) in enumerate(pairs, start=1)
        ]

    def to_frame(self) -> Any:
        """Make a table of the replicates, with the names of `records`; see `oclgenomics.app.frames.to_frame`."""
        numbers = np.arange(1, len(self) + 1)
        return to_frame({"replicate": numbers, "omega": self.omega, "position": self.position})


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

    def record(self) -> dict[str, Any]:
        """Return the threshold as plain values, with what is expected of it."""
        return {
            "fpr": self.fpr, "omega": self.omega, "rank": self.rank, "replicates": self.replicates,
            "expected_fpr": self.expected_fpr, "fpr_error": self.fpr_error,
        }  # fmt: skip


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
            raise ParameterError("fpr", "a false-positive rate lies between 0 and 1", rate)
        rank = math.floor(rate * (len(ordered) + 1) + _ROUNDING)
        if rank < 1:
            few, enough = replicates_for(rate), replicates_for(rate, FEW_MAXIMA)
            needed = f"needs at least {few:,} neutral replicates, better {enough:,}; there are {len(ordered):,}"
            raise ParameterError("fpr", needed, rate)
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
