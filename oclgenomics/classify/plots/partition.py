"""Shares of reads by ranks: stacks side by side, in which each taxon lies beside those that are below it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.taxonomy.ranks import RANKS
from oclgenomics.classify.taxonomy.tree import NO_TAXON

__all__ = ["OTHERS", "PLOTTED", "Partition", "Segment", "partition"]

PLOTTED = ("domain", "kingdom", "phylum", "class", "order", "family", "genus", "species")
OTHERS = -2  # the taxon of a segment that stands for several
MAX_NAMED = 14  # taxa of a rank
LEAST_NAMED = 0.005  # share of all reads


@dataclass(frozen=True)
class Segment:
    """A part of a stack.

    Attributes
    ----------
    column : int
        Its rank: a place in `Partition.ranks`.
    taxon : int
        A number in `Lineages`, `OTHERS`, or `NO_TAXON` where a lineage leaves the rank out.
    above : tuple of int
        The taxa of the columns to the left.
    begin, share : float
        Of all reads.
    place : int
        Among its neighbours below the same taxon, from 0 on, the largest first.
    """

    column: int
    taxon: int
    above: tuple[int, ...]
    begin: float
    share: float
    place: int


@dataclass(frozen=True)
class Partition:
    """All stacks; what is missing in them was called at higher ranks only.

    Attributes
    ----------
    ranks : tuple of str
        Those that any read has a taxon of.
    segments : tuple of Segment
    classified : float
        Share of all reads.
    """

    ranks: tuple[str, ...]
    segments: tuple[Segment, ...]
    classified: float


def partition(tally: Tally) -> Partition:
    """Lay out the shares of a sample.

    Parameters
    ----------
    tally : Tally
    """
    numbers, total = np.flatnonzero(tally.counts[:-1]), max(tally.reads, 1)
    shares = tally.counts[numbers] / total
    paths = tally.lineages.at_rank[numbers][:, [RANKS.index(rank) for rank in PLOTTED]]
    used = (paths != NO_TAXON).any(axis=0)
    paths, ranks = paths[:, used], tuple(rank for rank, there in zip(PLOTTED, used.tolist(), strict=True) if there)
    _merge_small(paths, shares)
    segments: list[Segment] = []
    _lay(paths, shares, np.arange(len(numbers)), (), 0.0, segments)
    return Partition(ranks, tuple(segments), float(shares.sum()))


def _merge_small(paths: NDArray[np.int32], shares: NDArray[np.float64]) -> None:
    """Let one segment stand for taxa that are too many or too small to be named, and all that is below them."""
    for column in range(paths.shape[1]):
        taxa, place = np.unique(paths[:, column], return_inverse=True)
        sums = np.bincount(place, shares, len(taxa))
        sums[taxa < 0] = np.inf  # stays as it is
        order = np.argsort(-sums, kind="stable")
        small = np.ones(len(taxa), np.bool_)
        small[order[: MAX_NAMED + np.count_nonzero(taxa < 0)]] = False
        small |= sums < LEAST_NAMED
        paths[small[place], column:] = OTHERS


def _lay(
    paths: NDArray[np.int32],
    shares: NDArray[np.float64],
    rows: NDArray[np.intp],
    above: tuple[int, ...],
    begin: float,
    segments: list[Segment],
) -> None:
    """Stack what is below a taxon, the largest first, what stands for several behind it, and what has no taxon last."""
    column = len(above)
    if column == paths.shape[1]:
        return
    taxa, place = np.unique(paths[rows, column], return_inverse=True)
    sums = np.bincount(place, shares[rows], len(taxa))
    ends_here = [bool((paths[rows[place == at], column:] == NO_TAXON).all()) for at in range(len(taxa))]
    order = sorted(range(len(taxa)), key=lambda at: (ends_here[at], taxa[at] == OTHERS, -sums[at], taxa[at]))
    for number, at in enumerate(order):
        if not ends_here[at]:
            taxon, share = int(taxa[at]), float(sums[at])
            segments.append(Segment(column, taxon, above, begin, share, number))
            _lay(paths, shares, rows[place == at], (*above, taxon), begin, segments)
        begin += float(sums[at])
