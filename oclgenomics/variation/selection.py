"""Sites of an alignment that are kept or left out, and counts of their states."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.bed import BedRegions

COUNTED_ENTRIES = 1 << 16  # words whose bits are counted at a time


def count_ones(plane: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Count the set bits of each column, int64; some words at a time, so that no second plane is made."""
    total = np.zeros(plane.shape[1], np.int64)
    step = max(1, COUNTED_ENTRIES // max(1, plane.shape[1]))
    for first in range(0, len(plane), step):
        counts = np.bitwise_count(plane[first : first + step])
        total += counts.sum(axis=0, dtype=np.int64) if step > 1 else counts[0]
    return total


def outside_regions(alignment: Alignment, regions: BedRegions) -> tuple[Alignment, int]:
    """Leave out the sites within regions.

    Parameters
    ----------
    alignment : Alignment
        Not changed; its positions are counted from 1.
    regions : BedRegions
        By the name of the chromosome.

    Returns
    -------
    outside : Alignment
    excluded : int
        How many sites were inside.

    Raises
    ------
    ParameterError
        The regions name the chromosome with "chr" and the alignment without, or the other way round.
    """
    check_names(alignment.name, regions)
    keep = ~regions.covers(alignment.name, alignment.positions)
    excluded = alignment.sites - int(keep.sum())
    return (take_sites(alignment, keep) if excluded else alignment), excluded


def inside_regions(alignment: Alignment, regions: BedRegions) -> tuple[Alignment, int]:
    """Leave out the sites outside of regions; parameters, results and errors as of `outside_regions`."""
    check_names(alignment.name, regions, "accessible")
    keep = regions.covers(alignment.name, alignment.positions)
    left_out = alignment.sites - int(keep.sum())
    return (take_sites(alignment, keep) if left_out else alignment), left_out


def check_names(name: str, regions: BedRegions, option: str = "exclude") -> None:
    """Refuse regions that name a chromosome with "chr" where the alignment does not, or the other way round.

    Raises
    ------
    ParameterError
        They do.
    """
    other = name[3:] if name.startswith("chr") else f"chr{name}"
    if name not in regions.starts and other in regions.starts:
        text = f"its chromosome {other} is called {name} in the input; rename one of them"
        raise ParameterError(option, text, regions.source)


def take_sites(alignment: Alignment, keep: NDArray[np.bool_]) -> Alignment:
    """Return the alignment with only the sites at which `keep`, bool (sites,), is True."""
    rows = keep[alignment.multi_site]
    renumbered = np.cumsum(keep) - 1
    there = {name: getattr(alignment, name) for name in ("bits", "valid", "gap", "haploid")}
    planes: dict[str, Any] = {
        name: np.ascontiguousarray(plane[:, keep]) for name, plane in there.items() if plane is not None
    }
    return replace(
        alignment, positions=alignment.positions[keep], letters=alignment.letters[keep],
        exact=None if alignment.exact is None else alignment.exact[keep],
        ancestral=None if alignment.ancestral is None else alignment.ancestral[keep],
        **planes,
        multi_site=renumbered[alignment.multi_site[rows]].astype(np.int32),
        multi_bits=np.ascontiguousarray(alignment.multi_bits[:, rows]), multi_letter=alignment.multi_letter[rows],
    )  # fmt: skip
