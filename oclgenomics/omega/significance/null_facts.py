"""Facts of neutral replicates on which their thresholds depend."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from oclgenomics.omega.data_facts import DataFacts

__all__ = ["NullFacts", "ScannedData", "grid_spacing", "site_density"]


class ScannedData(Protocol):
    """A `Scan`, or a `Track` of a report: what was scanned, and how."""

    @property
    def name(self) -> str: ...

    @property
    def positions(self) -> NDArray[np.float64]: ...

    @property
    def data(self) -> DataFacts | None: ...

    @property
    def parameters(self) -> Mapping[str, Any]: ...


def site_density(scan: ScannedData) -> float:
    """Sites per bp between the first and the last of them; NaN where there are none."""
    span = _span(scan)
    return (scan.data.sites - 1) / span if scan.data is not None and span > 0 else math.nan


def grid_spacing(scan: ScannedData) -> float:
    """Bp from one grid position to the next; NaN where there are none."""
    span = _span(scan)
    return span / (len(scan.positions) - 1) if span > 0 else math.nan


def _span(scan: ScannedData) -> float:
    return float(scan.positions[-1] - scan.positions[0]) if len(scan.positions) > 1 else 0.0


@dataclass(frozen=True)
class NullFacts:
    """What was scanned of all replicates together.

    Attributes
    ----------
    haplotypes, fewest_haplotypes : int
        Largest and smallest number in a replicate.
    genotypes : bool or None
        Whether r2 was computed from genotypes; None where of some replicates only.
    density, least_density, most_density : float
        Sites per bp: mean, smallest and largest of the replicates.
    spacing : float
        Bp between grid positions, on average.
    missing, masked : float
        Shares, on average; see `DataFacts`.
    """

    haplotypes: int
    fewest_haplotypes: int
    genotypes: bool | None
    density: float
    least_density: float
    most_density: float
    spacing: float
    missing: float
    masked: float

    @classmethod
    def of(cls, scans: Sequence[tuple[DataFacts, float, float]]) -> NullFacts | None:
        """Sum up replicates, given as facts, site density and grid spacing; None if no replicate has any omega."""
        facts = [one for one, density, _ in scans if not math.isnan(density)]
        if not facts:
            return None
        density = [value for _, value, _ in scans if not math.isnan(value)]
        spacing = [value for _, _, value in scans if not math.isnan(value)]
        haplotypes = [one.haplotypes for one in facts]
        phases = {one.genotypes for one in facts}
        return cls(
            max(haplotypes),
            min(haplotypes),
            phases.pop() if len(phases) == 1 else None,
            float(np.mean(density)),
            min(density),
            max(density),
            float(np.mean(spacing)),
            _mean(one.missing for one in facts),
            _mean(one.masked for one in facts),
        )

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> NullFacts:
        """Read what `record` gives.

        Raises
        ------
        KeyError, TypeError, ValueError
            It is something else.
        """
        numbers = {name: record[name] for name in cls.__annotations__ if name != "genotypes"}
        if not all(type(value) in (int, float) and value >= 0 for value in numbers.values()):
            raise ValueError
        if record["genotypes"] not in (True, False, None):
            raise ValueError
        return cls(genotypes=record["genotypes"], **numbers)

    def record(self) -> dict[str, Any]:
        """Return the facts by name, as plain values."""
        return asdict(self)


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))
