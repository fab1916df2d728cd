"""Reads of each taxon, and estimates of them at one rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import RANKS, SEQUENCE
from oclgenomics.classify.taxonomy.calls import Calls
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.errors import check_choice


@dataclass(frozen=True)
class Abundances:
    """Taxa with reads, from the highest rank to the lowest one; in a rank by identifiers, those of targets descending.

    Attributes
    ----------
    taxon : ndarray, int32 (rows,)
        Numbers in `Lineages`: of taxa, or, behind all taxa, of targets.
    reads : ndarray, float64 (rows,)
        Reads that were called the taxon, or an estimate.
    share : ndarray, float64 (rows,)
        Of all reads, unclassified ones as well; 0 to 1.
    unclassified, total : int
        Reads without a taxon, and all.
    rank : str, optional
        Of an estimate.
    """

    taxon: NDArray[np.int32]
    reads: NDArray[np.float64]
    share: NDArray[np.float64]
    unclassified: int
    total: int
    rank: str | None = None

    def __len__(self) -> int:
        return len(self.taxon)


def count_calls(calls: Calls, lineages: Lineages) -> NDArray[np.int64]:
    """Count the reads of each taxon.

    Returns
    -------
    ndarray, int64 (taxa + targets + 1,)
        In the numbering of `Lineages`; those of parts of a result add up. The last one counts unclassified reads.
    """
    behind = np.subtract(calls.taxon, NO_TAXON, dtype=np.intp)  # 0 for unclassified reads
    return np.roll(np.bincount(behind, minlength=len(lineages.at_rank) + 1), -1)


def abundances(counts: NDArray[np.int64], lineages: Lineages) -> Abundances:
    """Say how many reads each taxon has.

    Parameters
    ----------
    counts : ndarray, int64 (taxa + targets + 1,)
        See `count_calls`.
    lineages : Lineages
    """
    taxa = np.flatnonzero(counts[:-1])
    return _listed({taxon: float(counts[taxon]) for taxon in taxa.tolist()}, counts, lineages, None)


def estimated_abundances(counts: NDArray[np.int64], lineages: Lineages, rank: str) -> Abundances:
    """Estimate how many reads each taxon of a rank has.

    Reads of lower ranks count for their taxon at the rank, or, where their lineage has none, at the next rank above.
    Then, from the root on, the reads of each taxon are dealt out to the next taxa below it that have reads, in
    proportion to the reads of these and of all below them. What lies below no other taxon keeps its reads.

    Parameters
    ----------
    counts : ndarray, int64 (taxa + targets + 1,)
        See `count_calls`.
    lineages : Lineages
    rank : str

    Raises
    ------
    UsageError
        There is no such rank.
    """
    called = {taxon: float(counts[taxon]) for taxon in np.flatnonzero(counts[:-1]).tolist()}
    reads = _folded(called, lineages, _checked(rank))
    order = _ordered(list(reads), lineages)
    below = dict.fromkeys(order, 0.0)
    children: dict[int, list[int]] = {}
    for taxon in reversed(order):
        if (parent := _next_above(taxon, reads, lineages)) is not None:
            below[parent] += below[taxon] + reads[taxon]
            children.setdefault(parent, []).append(taxon)
    for taxon in order:
        for child in children.get(taxon, ()):
            reads[child] += reads[taxon] * (reads[child] + below[child]) / below[taxon]
    leaves = {taxon: count for taxon, count in reads.items() if taxon not in children}
    return _listed(leaves, counts, lineages, rank)


def shared_abundances(shares: dict[int, float], counts: NDArray[np.int64], lineages: Lineages, rank: str) -> Abundances:
    """List what is known of the reads of each taxon at a rank.

    Reads of lower ranks count for their taxon at the rank, or, where their lineage has none, at the next rank above.
    Those of higher taxa stay there: they are of no taxon of the rank that the database holds.

    Parameters
    ----------
    shares : dict of int to float
        Reads of each taxon; see `evidence.Evidence.shares`.
    counts : ndarray, int64 (taxa + targets + 1,)
        See `count_calls`.
    lineages : Lineages
    rank : str

    Raises
    ------
    UsageError
        There is no such rank.
    """
    return _listed(_folded(shares, lineages, _checked(rank)), counts, lineages, rank)


def _checked(rank: str) -> int:
    """The slot of a rank."""
    check_choice("rank", rank, RANKS)
    return RANKS.index(rank)


def _folded(known: dict[int, float], lineages: Lineages, rank: int) -> dict[int, float]:
    """Reads of each taxon that has some, those below a rank lifted to it."""
    reads: dict[int, float] = {}
    for taxon, count in known.items():
        above = lineages.at_rank[taxon, rank:]
        found = above[above != NO_TAXON]
        at = int(found[0]) if _slot(taxon, lineages) < rank and len(found) else taxon
        reads[at] = reads.get(at, 0.0) + count
    return reads


def _next_above(taxon: int, reads: dict[int, float], lineages: Lineages) -> int | None:
    """The first taxon with reads above one."""
    above = lineages.at_rank[taxon, _slot(taxon, lineages) + 1 :].tolist()
    return next((one for one in above if one in reads), None)


def _slot(taxon: int, lineages: Lineages) -> int:
    """The slot of the rank of a taxon or a target."""
    return int(lineages.taxonomy.ranks[taxon]) if taxon < len(lineages.taxonomy) else SEQUENCE


def _ordered(taxa: list[int], lineages: Lineages) -> list[int]:
    """Taxa from the highest rank on, in a rank by their identifiers; those of targets are below 0, and descend."""
    targets_from = len(lineages.taxonomy)
    return sorted(taxa, key=lambda taxon: (-_slot(taxon, lineages), taxon if taxon < targets_from else -taxon))


def _listed(reads: dict[int, float], counts: NDArray[np.int64], lineages: Lineages, rank: str | None) -> Abundances:
    order = _ordered(list(reads), lineages)
    total = int(counts.sum())
    column = np.array([reads[taxon] for taxon in order], np.float64)
    return Abundances(np.array(order, np.int32), column, column / max(total, 1), int(counts[-1]), total, rank)


def reads_text(reads: float) -> str:
    """Write a number of reads: whole ones in full, others with 15 digits."""
    return f"{int(reads)}" if reads == int(reads) else f"{reads:.15g}"


def percent_text(share: float) -> str:
    """Write a share in percent, with 6 digits."""
    return f"{share * 100:.6g}"
