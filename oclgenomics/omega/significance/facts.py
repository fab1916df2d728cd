"""Facts on which thresholds depend: of neutral replicates, and what of a scan was compared with them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from oclgenomics.omega.result import DataFacts, Track

NOT_COMPARED = "history of the population, its recombination rate, and how sites, missing calls and gaps are spread"


def site_density(track: Track) -> float:
    """Sites per bp between the first and the last of them; NaN where there are none."""
    span = _span(track)
    return (track.data.sites - 1) / span if track.data is not None and span > 0 else math.nan


def grid_spacing(track: Track) -> float:
    """Bp from one grid position to the next; NaN where there are none."""
    span = _span(track)
    return span / (len(track.positions) - 1) if span > 0 else math.nan


def _span(track: Track) -> float:
    return float(track.positions[-1] - track.positions[0]) if len(track.positions) > 1 else 0.0


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
            max(haplotypes), min(haplotypes), phases.pop() if len(phases) == 1 else None, float(np.mean(density)),
            min(density), max(density), float(np.mean(spacing)), float(np.mean([one.missing for one in facts])),
            float(np.mean([one.masked for one in facts])),
        )  # fmt: skip

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


@dataclass(frozen=True)
class ComparedFact:
    """One fact of a scan and of neutral replicates that agrees.

    Attributes
    ----------
    name : str
    scan, replicates : object
        Plain values; of several alignments that differ, a list of the smallest and the largest.
    tolerance : str
        How far they may differ; "equal" if not at all.
    """

    name: str
    scan: Any
    replicates: Any
    tolerance: str = "equal"

    def record(self) -> dict[str, Any]:
        """Return the fact as plain values."""
        return {"fact": self.name, "scan": self.scan, "replicates": self.replicates, "tolerance": self.tolerance}

    def __str__(self) -> str:
        ours, theirs = shown(self.scan), shown(self.replicates)
        return f"{self.name} {ours}" if self.tolerance == "equal" else f"{self.name} {ours} (replicates {theirs})"


@dataclass(frozen=True)
class Compared:
    """What of a scan was compared with neutral replicates; all of it agrees.

    Attributes
    ----------
    facts : tuple of ComparedFact
    warnings : tuple of str
        What makes rates and p-values mean something else than they seem to.
    """

    facts: tuple[ComparedFact, ...]
    warnings: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        """Return everything as plain values."""
        facts = [fact.record() for fact in self.facts]
        return {"facts": facts, "not_compared": NOT_COMPARED, "warnings": list(self.warnings)}

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.facts))}; not compared: {NOT_COMPARED}"


def shown(value: Any) -> str:
    """A value, or a range of two, as words."""
    if isinstance(value, list):
        return " to ".join(map(shown, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,.5g}" if isinstance(value, float) else f"{value:,}"
