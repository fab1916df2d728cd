"""The taxa of a sample in stacks, one for each rank, and their colours: what figures of one sample show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.formats.words import TaxonWords
from oclgenomics.classify.options import RANKS
from oclgenomics.classify.plots.colours import HUES, NEUTRAL, OTHER, tone
from oclgenomics.classify.taxonomy.tree import NO_TAXON

SHARED = 0.6  # of the classified reads: a rank of which one taxon has more gives no hues
UNRANKED = 0.05  # of the classified reads: nor does a rank that more have none of
PLOTTED = ("domain", "kingdom", "phylum", "class", "order", "family", "genus", "species")
OTHERS = -2  # the taxon of a segment of several taxa
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


def partition(tally: Tally, *, named: int = MAX_NAMED, least: float = LEAST_NAMED) -> Partition:
    """Lay out the shares of a sample.

    Parameters
    ----------
    tally : Tally
    named : int
        Taxa of a rank that are segments of their own.
    least : float
        Share of all reads that they have.
    """
    numbers, total = np.flatnonzero(tally.counts[:-1]), max(tally.reads, 1)
    shares = tally.counts[numbers] / total
    paths = tally.lineages.at_rank[numbers][:, [RANKS.index(rank) for rank in PLOTTED]]
    used = (paths != NO_TAXON).any(axis=0)
    paths, ranks = paths[:, used], tuple(rank for rank, there in zip(PLOTTED, used.tolist(), strict=True) if there)
    _merge_small(paths, shares, named, least)
    segments: list[Segment] = []
    _lay(paths, shares, np.arange(len(numbers)), (), 0.0, segments)
    return Partition(ranks, tuple(segments), float(shares.sum()))


def _merge_small(paths: NDArray[np.int32], shares: NDArray[np.float64], named: int, least: float) -> None:
    """Make one segment of taxa that are too many or too small to be named, and all that is below them.

    A taxon that would be one of too many, but the only one of the taxon above, keeps its name: its segment is as large.
    """
    for column in range(paths.shape[1]):
        taxa, first, place = np.unique(paths[:, column], return_index=True, return_inverse=True)
        sums = np.bincount(place, shares, len(taxa))
        sums[taxa < 0] = np.inf  # stays as it is
        order = np.argsort(-sums, kind="stable")
        small = np.ones(len(taxa), np.bool_)
        small[order[: named + np.count_nonzero(taxa < 0)]] = False
        small |= sums < least
        above = paths[first, column - 1] if column else np.zeros(len(taxa), np.int32)
        _, parent = np.unique(above, return_inverse=True)
        alone = np.bincount(parent, small)[parent] == 1
        small &= ~(alone & (sums >= least))
        paths[small[place], column:] = OTHERS


def _lay(
    paths: NDArray[np.int32],
    shares: NDArray[np.float64],
    rows: NDArray[np.intp],
    above: tuple[int, ...],
    begin: float,
    segments: list[Segment],
) -> None:
    """Stack what is below a taxon, the largest first, that of several taxa behind it, and what has no taxon last."""
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


def segment_name(segment: Segment, words: TaxonWords, rank: str) -> str:
    """Return what a segment of a rank is called."""
    if segment.taxon == OTHERS:
        return "other"
    return f"(no {rank})" if segment.taxon == NO_TAXON else words.name(segment.taxon)


def taxon_hues(stacks: Partition) -> dict[int, str]:
    """Return the hues of the taxa of the first rank on which the sample is diverse, else of the lowest one."""
    chosen: list[Segment] = []
    for column in range(len(stacks.ranks)):
        segments = [segment for segment in stacks.segments if segment.column == column]
        unranked = sum(segment.share for segment in segments if segment.taxon == NO_TAXON)
        chosen = sorted([one for one in segments if one.taxon >= 0], key=lambda one: -one.share)
        diverse = len(chosen) > 2 and chosen[0].share < SHARED * stacks.classified
        if diverse and unranked < UNRANKED * stacks.classified:
            break
    return {segment.taxon: HUES[place % len(HUES)] for place, segment in enumerate(chosen)}


def segment_colour(segment: Segment, hues: dict[int, str]) -> str:
    """Return the colour of a segment: that of its taxon, or a tone of that of a taxon above."""
    if segment.taxon == OTHERS:
        return OTHER
    if segment.taxon in hues:
        return hues[segment.taxon]
    hue = next((hues[taxon] for taxon in segment.above if taxon in hues), None)
    if segment.taxon == NO_TAXON:
        return NEUTRAL if hue is None else tone(hue, 3)
    return tone(NEUTRAL, segment.place) if hue is None else tone(hue, segment.place)
