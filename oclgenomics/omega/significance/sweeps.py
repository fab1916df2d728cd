"""How often replicates with a sweep exceed a threshold of neutral ones, and how far from the site their maxima lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from oclgenomics.app.frames import to_frame
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.significance.null_facts import NullFacts
from oclgenomics.omega.significance.replicates import scan_replicates
from oclgenomics.omega.significance.thresholds import Maxima, Threshold
from oclgenomics.omega.sources import AlignmentSource
from oclgenomics.variation.read_options import ReadOptions

if TYPE_CHECKING:
    from oclgenomics.runtime import Device, Engine
    from oclgenomics.variation.alignment import Alignment
    from oclgenomics.variation.bed import BedRegions

__all__ = ["Detection", "Localisation", "SweepResults", "detect_sweeps", "detection", "localisation"]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


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
        records = self.records()
        return to_frame({name: [record[name] for record in records] for name in records[0]})


def detect_sweeps(
    source: AlignmentSource,
    options: ScanOptions,
    thresholds: Sequence[Threshold],
    *,
    site: int,
    within: int | None = None,
    reading: ReadOptions = ReadOptions(),
    exclude: BedRegions | None = None,
    on_alignment: Callable[[Alignment], None] | None = None,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> SweepResults:
    """Scan replicates with a sweep at a known site, and count those that exceed each threshold.

    Parameters
    ----------
    source : path, Alignment, or iterable of both
        The replicates, of the length of the neutral ones.
    options : ScanOptions
        Those of the neutral replicates.
    thresholds : sequence of Threshold
        Of neutral replicates; see `oclgenomics.omega.find_thresholds`.
    site : int
        True position of the selected site, bp.
    within : int, optional
        Greatest distance from it, in bp, of a detection in the right place.
    reading, exclude, on_alignment, engine, device, max_memory, threads
        As for `oclgenomics.omega.api`.
    progress : callable, optional
        Called with (replicates that have come, None).

    Raises
    ------
    InputError, UsageError, DeviceError
        As for `oclgenomics.omega.api`.
    """
    found = scan_replicates(
        source, options, reading=reading, exclude=exclude, on_alignment=on_alignment, engine=engine, device=device,
        max_memory=max_memory, threads=threads, progress=progress,
    )  # fmt: skip
    counted = detection(found.maxima, thresholds, site, within)
    distance = localisation(found.maxima, site, within)
    return SweepResults(found.maxima, site, tuple(counted), distance, found.haplotypes, found.data)
