"""Facts of scanned data on which the size of omegas depends, beside the options of the scan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from oclgenomics.variation.alignment import Alignment
    from oclgenomics.variation.bed import BedRegions

__all__ = ["DataFacts", "facts_of", "read_facts"]

FACT_DIGITS = 9


@dataclass(frozen=True)
class DataFacts:
    """What was scanned of one alignment.

    Attributes
    ----------
    haplotypes : int
        Those that r2 counts: with `genotypes` two of each sample, also of a haploid one.
    sites : int
        Those used.
    genotypes : bool
        r2 was computed from genotypes, because heterozygous calls were not phased.
    missing : float
        Share of the states that were unknown before any were filled in.
    masked : float
        Share of the bp from the first to the last site that lay in excluded regions.
    """

    haplotypes: int
    sites: int
    genotypes: bool
    missing: float
    masked: float

    def record(self) -> dict[str, Any]:
        """Return the facts by name, as plain values."""
        return asdict(self)


def facts_of(read: Alignment, outside: Alignment, used: Alignment, exclude: BedRegions | None) -> DataFacts:
    """Take the facts of an alignment as it was read, without the excluded regions, and as it was scanned."""
    states = outside.sites * outside.haplotypes
    if outside.absent is not None:
        states -= sum(int(np.bitwise_count(word).sum()) for word in outside.absent)
    missing = 0.0
    if outside.valid is not None and states:
        missing = 1 - sum(int(np.bitwise_count(word).sum()) for word in outside.valid) / states
    masked = 0.0
    if exclude is not None and read.sites:
        first, last = int(read.positions[0]), int(read.positions[-1])
        masked = exclude.covered(read.name, first, last) / (last - first + 1)
    return DataFacts(
        used.haplotypes if used.unphased else used.copies,
        used.sites,
        used.unphased,
        round(missing, FACT_DIGITS),
        round(masked, FACT_DIGITS),
    )


def read_facts(values: Mapping[str, Any]) -> DataFacts | None:
    """Read the facts that a report holds, as words or as plain values; None where it does not hold all of them.

    Raises
    ------
    KeyError, ValueError, TypeError
        They are none.
    """
    if not all(name in values for name in ("haplotypes", "sites", "genotypes", "missing", "masked")):
        return None
    words = {name: str(values[name]).lower() for name in ("genotypes", "haplotypes", "sites")}
    haplotypes, sites, shares = int(words["haplotypes"]), int(words["sites"]), (values["missing"], values["masked"])
    missing, masked = (float(share) for share in shares)
    if min(haplotypes, sites) < 0 or not (0 <= missing <= 1 and 0 <= masked <= 1):
        raise ValueError
    return DataFacts(haplotypes, sites, {"true": True, "false": False}[words["genotypes"]], missing, masked)
