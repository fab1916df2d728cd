"""What neutral replicates say of omegas: thresholds, p-values of peaks, and how often sweeps are detected.

All of it compares the largest omega of an alignment with the largest omegas of R neutral replicates of the same length,
so that the many positions of a scan need no further correction. With an alignment that is neutral, too, its rank among
the R + 1 is uniform, which makes the rates exact for every R (Davison and Hinkley, *Bootstrap Methods and their
Application*, 1997, section 4.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import frame_of, to_frame
from oclgenomics.app.significance import (
    RankedThreshold,
    p_values as p_values,
    rank_for,
    replicates_for as replicates_for,
)
from oclgenomics.app.tracks import named_regions
from oclgenomics.omega.result import Scan
from oclgenomics.omega.significance.facts import Compared, NullFacts
from oclgenomics.omega.significance.peaks import Peak

PEAK_COLUMNS = ("name", *(field.name for field in fields(Peak)), "p_value")
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def highest(scan: Scan) -> tuple[float, float]:
    """Return the largest omega of a scan and its grid position; 0 and NaN where none is above 0."""
    best = scan.best
    if best is None or not scan.omega[best] > 0:
        return 0.0, math.nan
    return float(scan.omega[best]), float(scan.positions[best])


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
        found = np.array([highest(scan) for scan in scans], np.float64).reshape(-1, 2)
        return cls(found[:, 0].copy(), found[:, 1].copy())

    def __len__(self) -> int:
        return len(self.omega)

    @property
    def median(self) -> float:
        """Median of the largest omegas."""
        return float(np.median(self.omega))

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
class Threshold(RankedThreshold):
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
    def fpr_error(self) -> float:
        """Standard deviation of the rate over sets of replicates; it has a Beta(rank, R + 1 - rank) distribution."""
        rate = self.expected_fpr
        return math.sqrt(rate * (1 - rate) / (self.replicates + 2))

    def record(self) -> dict[str, Any]:
        """Return the threshold as plain values, with what is expected of it."""
        return {**asdict(self), "expected_fpr": self.expected_fpr, "fpr_error": self.fpr_error}


def thresholds(maxima: NDArray[np.float64] | Sequence[float], rates: Sequence[float]) -> list[Threshold]:
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
    ranks = [rank_for(rate, len(ordered)) for rate in rates]
    return [
        Threshold(rate, float(ordered[rank - 1]), rank, len(ordered)) for rate, rank in zip(rates, ranks, strict=True)
    ]


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

    def record(self) -> dict[str, Any]:
        """Return the counts and the rates as plain values."""
        return {
            "fpr": self.threshold.fpr, "omega": self.threshold.omega, "detected": self.detected, "rate": self.rate,
            "detected_within": self.detected_within, "rate_within": self.rate_within,
        }  # fmt: skip


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


@dataclass(frozen=True, eq=False, repr=False)
class SweepResults:
    """What was found in replicates with a sweep at a known site.

    Attributes
    ----------
    maxima : Maxima
        Of the replicates.
    site : int
        True position of the selected site, bp.
    detection : tuple of Detection
        One for each threshold.
    localisation : Localisation
    haplotypes : int
        Largest number in a replicate.
    data : NullFacts or None
        What was scanned of them; see `oclgenomics.omega.significance.comparable.check_sweeps`.
    """

    maxima: Maxima
    site: int
    detection: tuple[Detection, ...]
    localisation: Localisation
    haplotypes: int
    data: NullFacts | None = None

    def __repr__(self) -> str:
        rates = ", ".join(f"{one.rate:.1%} at fpr {one.threshold.fpr:g}" for one in self.detection)
        return f"<SweepResults of {len(self.maxima):,} replicates: detected {rates}>"

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each threshold: 'fpr', 'omega', 'detected', 'rate', 'detected_within', 'rate_within'."""
        return [one.record() for one in self.detection]

    def to_frame(self) -> Any:
        """Make a table of the thresholds, with the names of `records`; see `oclgenomics.app.frames.to_frame`."""
        return frame_of(self.records())


@dataclass(frozen=True, eq=False, repr=False)
class Significance:
    """What neutral replicates say of omegas.

    Attributes
    ----------
    scan : mapping of str to object
        Options of the replicates' scan by name, as plain values.
    length : int or None
        Of a replicate, bp, if it is known.
    haplotypes : int or None
        Largest number in a replicate, if it is known.
    mean_sites : float or None
        Sites used per replicate, if it is known.
    maxima : Maxima
        Of the replicates.
    thresholds : tuple of Threshold
    peaks : tuple of Peak, optional
        Of a scan whose significance is asked for.
    sweeps : SweepResults, optional
        Of replicates with a sweep.
    source : str
        The file that these were read from; empty if they were found in this process.
    data : NullFacts, optional
        What was scanned of the replicates.
    compared : Compared, optional
        The scan whose peaks these are.
    """

    scan: Mapping[str, Any]
    length: int | None
    haplotypes: int | None
    mean_sites: float | None
    maxima: Maxima
    thresholds: tuple[Threshold, ...]
    peaks: tuple[Peak, ...] | None = None
    sweeps: SweepResults | None = None
    source: str = ""
    data: NullFacts | None = None
    compared: Compared | None = None

    def __repr__(self) -> str:
        found = ", ".join(f"omega {one.omega:.6g} at fpr {one.fpr:g}" for one in self.thresholds)
        return f"<Significance from {len(self.maxima):,} neutral replicates: {found}>"

    def p_values(self, omega: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Return the probability of so large an omega anywhere in a neutral alignment, float64 (...)."""
        return p_values(omega, self.maxima.omega)

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each threshold: 'fpr', 'omega', 'rank', 'replicates', 'expected_fpr' and 'fpr_error'."""
        return [threshold.record() for threshold in self.thresholds]

    def to_frame(self) -> Any:
        """Make a table of the thresholds, with the names of `records`; see `oclgenomics.app.frames.to_frame`."""
        return frame_of(self.records())


@dataclass(frozen=True, eq=False, repr=False)
class Peaks:
    """Regions of high omega, and the threshold that they exceed.

    Attributes
    ----------
    peaks : tuple of Peak
    threshold : float
        Omega that their positions exceed.
    maxima : Maxima, optional
        Of neutral replicates, for p-values.
    fpr : float, optional
        False-positive rate of the threshold.
    compared : Compared, optional
        What was compared with the neutral replicates.
    """

    peaks: tuple[Peak, ...]
    threshold: float
    maxima: Maxima | None = None
    fpr: float | None = None
    compared: Compared | None = None

    def __repr__(self) -> str:
        highest = max((peak.omega for peak in self.peaks), default=0.0)
        shown = f", highest {highest:.6g}" if self.peaks else ""
        return f"<Peaks: {len(self.peaks):,} regions with omega above {self.threshold:.6g}{shown}>"

    def __len__(self) -> int:
        return len(self.peaks)

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each peak with the names of `PEAK_COLUMNS`, sorted by chromosome (its bytes) and start.

        `name` is "peak1" for the highest, and so on; `p_value` is None without neutral replicates.
        """
        omega = np.array([peak.omega for peak in self.peaks], np.float64)
        p = [None] * len(omega) if self.maxima is None else p_values(omega, self.maxima.omega).tolist()
        regions = [{**asdict(peak), "p_value": value} for peak, value in zip(self.peaks, p, strict=True)]
        return named_regions(regions, omega.tolist())

    def to_frame(self) -> Any:
        """Make a table of the peaks, with the columns `PEAK_COLUMNS`; see `oclgenomics.app.frames.to_frame`."""
        return frame_of(self.records(), PEAK_COLUMNS)
