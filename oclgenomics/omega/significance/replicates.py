"""What is kept of the scan of each replicate, and of all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from oclgenomics.omega.options import ScanOptions, scan_parameters
from oclgenomics.omega.result import DataFacts, Scan
from oclgenomics.omega.significance.facts import NullFacts, grid_spacing, site_density
from oclgenomics.omega.significance.thresholds import (
    Maxima,
    Significance,
    SweepResults,
    Threshold,
    detection,
    highest,
    localisation,
    thresholds,
)
from oclgenomics.variation.alignment import AlignmentRead


@dataclass(frozen=True)
class ReplicateScan:
    """What is kept of the scan of a replicate.

    Attributes
    ----------
    swept : bool
        It has a sweep; others are neutral.
    number : int
        Among the replicates of its kind, counted from 0.
    read : AlignmentRead
    omega, position : float
        The largest omega, and where it is; 0 and NaN if none is above 0.
    haplotypes, sites : int
        As in `Scan`.
    data : DataFacts, optional
    density, spacing : float
        Sites per bp, and bp between grid positions; NaN where there are none.
    """

    swept: bool
    number: int
    read: AlignmentRead
    omega: float
    position: float
    haplotypes: int
    sites: int
    data: DataFacts | None
    density: float
    spacing: float

    @classmethod
    def of(cls, scan: Scan, read: AlignmentRead, number: int, *, swept: bool) -> ReplicateScan:
        """Take it from a scan."""
        data, density, spacing = scan.data, site_density(scan), grid_spacing(scan)
        return cls(swept, number, read, *highest(scan), scan.haplotypes, scan.sites, data, density, spacing)


@dataclass(frozen=True, eq=False)
class Replicates:
    """What was found in replicates of one kind.

    Attributes
    ----------
    maxima : Maxima
    haplotypes : int
        Largest number in a replicate.
    sites : int
        Of all together.
    data : NullFacts, optional
    """

    maxima: Maxima
    haplotypes: int
    sites: int
    data: NullFacts | None

    @classmethod
    def of(cls, scans: Iterable[ReplicateScan]) -> Replicates:
        """Take them together, one after the other."""
        omega, position, haplotypes, sites = [], [], 0, 0
        facts: list[tuple[DataFacts, float, float]] = []
        for one in scans:
            omega.append(one.omega)
            position.append(one.position)
            haplotypes, sites = max(haplotypes, one.haplotypes), sites + one.sites
            if one.data is not None:
                facts.append((one.data, one.density, one.spacing))
        maxima = Maxima(np.array(omega, np.float64), np.array(position, np.float64))
        return cls(maxima, haplotypes, sites, NullFacts.of(facts))

    def significance(self, options: ScanOptions, fpr: Sequence[float], length: float | None) -> Significance:
        """Return what they say of omegas, if they are neutral; see `oclgenomics.omega.find_thresholds`."""
        ranked = tuple(thresholds(self.maxima.omega, fpr))
        known = None if length is None else int(length)
        mean_sites = self.sites / len(self.maxima)
        made = scan_parameters(options)
        return Significance(made, known, self.haplotypes, mean_sites, self.maxima, ranked, data=self.data)

    def sweep_results(self, found: Sequence[Threshold], site: int, within: int | None) -> SweepResults:
        """Return how many are detected, if they have a sweep; see `oclgenomics.omega.detect_sweeps`."""
        counted, distances = detection(self.maxima, found, site, within), localisation(self.maxima, site, within)
        return SweepResults(self.maxima, site, tuple(counted), distances, self.haplotypes, self.data)
