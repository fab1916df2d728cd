"""How much of each taxon the reads of a sample cover: distinct features, out of those that the database has of it.

Reads of a taxon that is there come from all over its genome, so nearly all of their features differ. Reads that come
from a contaminated reference, or from a gene that another species shares, pile up on few features. What tells them
apart is the number of distinct features, KrakenUniq's unique k-mers.

Of each clade four numbers are counted, exactly, by sorted sets of (taxon, feature):

| number | what it counts |
|---|---|
| hits | features that reads called the clade share with their best candidates, each as often as reads have it |
| distinct | the same, each once |
| known | features that any target of the clade has in the database |
| expected | of the known ones, those that so many hits reach if all are as likely: known (1 - (1 - 1 / known)^hits) |

Coverage is distinct / known, and evenness distinct / expected. Coverage grows with the number of reads; evenness is 1
for few reads from all over a genome, and near 0 for many from one place.

Features of a clade are counted once by a walk through its tree: each one adds 1 at every node that has it, in the
order of the tree, and takes 1 away where the paths of neighbours in that order meet. Sums of clades are then the
numbers of distinct features.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.database.features import Features
from oclgenomics.classify.database.packed_file import FeatureSource
from oclgenomics.classify.options import RANKS, QueryOptions
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.io.workers import Workers

FEATURES, LOCATIONS = 1 << 18, 1 << 20  # of a piece of the database whose clades are counted
HELD = 1 << 22  # pairs that are put in order together


class Clades:
    """Taxa and targets as one tree: that of `Lineages`, with a root above all that have no parent.

    Parameters
    ----------
    lineages : Lineages

    Attributes
    ----------
    parents : ndarray, int64 (nodes + 1,)
        Of taxa, targets and, at the end, of the root, which is its own.
    """

    def __init__(self, lineages: Lineages) -> None:
        taxonomy, targets = lineages.taxonomy, lineages.targets
        taxa, root = len(taxonomy), len(lineages.at_rank)
        numbers = np.arange(taxa)
        above = np.where(taxonomy.parents == numbers, root, taxonomy.parents)
        below = np.where(targets.taxon == NO_TAXON, root, targets.taxon)
        self.parents = np.concatenate([above, below, [root]]).astype(np.int64)

    @cached_property
    def levels(self) -> list[NDArray[np.intp]]:
        """The nodes of each depth, from the root on."""
        depth = self.depth
        order = np.argsort(depth, kind="stable")
        return np.split(order, np.cumsum(np.bincount(depth))[:-1])

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """How far each node is below the root."""
        above, root = self.parents, len(self.parents) - 1
        depth = (above != np.arange(len(above))).astype(np.int64)
        while (above != root).any():  # each round looks twice as far up
            depth = depth + depth[above]
            above = above[above]
        return np.asarray(depth, np.int64)

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """The place of each node in an order in which a clade is a range, and begins with its own node."""
        sizes = self.summed(np.ones(len(self.parents), np.int64))
        place = np.zeros(len(sizes), np.int64)
        for nodes in self.levels[1:]:
            nodes = nodes[np.argsort(self.parents[nodes], kind="stable")]
            parent = self.parents[nodes]
            before = np.cumsum(sizes[nodes]) - sizes[nodes]
            first = np.searchsorted(parent, parent)  # of the same parent
            place[nodes] = place[parent] + 1 + before - before[first]
        return place

    @cached_property
    def node_at(self) -> NDArray[np.int64]:
        """The node of each place."""
        nodes = np.empty(len(self.place), np.int64)
        nodes[self.place] = np.arange(len(nodes))
        return nodes

    def summed(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum of values over each clade, (nodes + 1,)."""
        sums = values.copy()
        for nodes in self.levels[:0:-1]:
            np.add.at(sums, self.parents[nodes], sums[nodes])
        return sums

    def meeting(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the lowest node whose clade holds both, for pairs of nodes."""
        met, depth = one.copy(), self.depth
        apart = np.flatnonzero(one != other)
        a, b = one[apart], other[apart]
        while len(apart):
            deeper, higher = depth[a] >= depth[b], depth[a] <= depth[b]
            a, b = np.where(deeper, self.parents[a], a), np.where(higher, self.parents[b], b)
            same = a == b
            met[apart[same]] = a[same]
            apart, a, b = apart[~same], a[~same], b[~same]
        return met

    def gains(self, pairs: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return what each node adds to the distinct features of the clades that it is in; see `summed`.

        Parameters
        ----------
        pairs : ndarray, uint64
            Features shifted by 32 bits, and places; ascending, no two equal, and all of a feature.
        """
        nodes = self.node_at[(pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)]
        gains = np.bincount(nodes, minlength=len(self.parents))
        features = pairs >> np.uint64(32)
        again = np.flatnonzero(features[1:] == features[:-1])
        met = self.meeting(nodes[again], nodes[again + 1])
        return np.asarray(gains - np.bincount(met, minlength=len(self.parents)), np.int64)


def known_features(source: FeatureSource, lineages: Lineages, threads: Workers | None = None) -> NDArray[np.int64]:
    """Count the distinct features that the database has of each clade, int64 (taxa + targets,).

    `device.clade_counter` counts the same on a device.

    Parameters
    ----------
    source : FeatureSource
        Of the whole database.
    lineages : Lineages
    threads : Workers, optional
        Who counts them.
    """
    clades, taxa = Clades(lineages), len(lineages.taxonomy)
    first = lineages.targets.first_window
    places = clades.place[taxa:-1].astype(np.uint64)

    def gained(piece: Features) -> NDArray[np.int64]:
        gains = np.zeros(len(clades.parents), np.int64)
        target = np.searchsorted(first, piece.locations, "right") - 1
        several = np.repeat(piece.counts > 1, piece.counts)  # most features have one location
        gains[taxa:-1] += np.bincount(target[~several], minlength=len(places))
        owner = np.repeat(np.arange(len(piece), dtype=np.uint64), piece.counts)[several]
        gains += clades.gains(_ascending(owner << np.uint64(32) | places[target[several]]))
        return gains

    pieces = source.pieces(FEATURES, LOCATIONS)
    gains = np.zeros(len(clades.parents), np.int64)
    for own in map(gained, pieces) if threads is None else threads.map(gained, pieces):
        gains += own
    return clades.summed(gains)[:-1]


def _ascending(pairs: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each of some numbers once, ascending: sorting takes a tenth of the time of NumPy's table of unique numbers."""
    ordered = np.sort(pairs)
    new = np.ones(len(ordered), np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


@dataclass(frozen=True)
class Coverage:
    """What the reads of a sample cover of each clade: arrays (taxa + targets,), numbered as `Lineages` does.

    Attributes
    ----------
    hits, distinct : ndarray, int64
    distinct_of_all : int
        Distinct features of all reads that are called anything.
    known : ndarray, int64, optional
        Of the database; without it nothing is known of what is expected.
    """

    hits: NDArray[np.int64]
    distinct: NDArray[np.int64]
    distinct_of_all: int
    known: NDArray[np.int64] | None = None

    @cached_property
    def expected(self) -> NDArray[np.float64]:
        """Distinct features that so many hits reach if all known ones are as likely."""
        assert self.known is not None
        known = np.maximum(self.known, 1).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            missed = np.exp(self.hits * np.log1p(-1 / known))
        missed = np.where(self.known <= 1, (self.hits == 0).astype(np.float64), missed)
        return np.where(self.known == 0, 0.0, known * (1 - missed))

    @property
    def coverage(self) -> NDArray[np.float64]:
        """Share of the known features that are hit; 0 where none is known."""
        assert self.known is not None
        return self.distinct / np.maximum(self.known, 1)

    @property
    def evenness(self) -> NDArray[np.float64]:
        """Distinct features by those expected; 0 where none is."""
        return np.divide(self.distinct, self.expected, out=np.zeros(len(self.hits)), where=self.expected > 0)


class CoverageCounter:
    """The features of a sample by the taxa that their reads are called, gathered part by part.

    Memory grows with the distinct features of each taxon, 8 bytes each, not with the reads.

    Parameters
    ----------
    lineages : Lineages
    """

    def __init__(self, lineages: Lineages) -> None:
        self._clades = Clades(lineages)
        self._hits = np.zeros(len(self._clades.parents), np.int64)
        self._pairs: list[NDArray[np.uint64]] = [np.zeros(0, np.uint64)]

    def add(self, taxon: NDArray[np.int32], counts: NDArray[np.int64], features: NDArray[np.uint32]) -> None:
        """Take in reads.

        Parameters
        ----------
        taxon : ndarray, int32 (reads,)
            What they are called; features of reads of `NO_TAXON` do not count.
        counts : ndarray, int64 (reads,)
            Features of each read.
        features : ndarray, uint32
            Of all reads.
        """
        called = np.repeat(taxon, counts)
        nodes, features = called[called != NO_TAXON], features[called != NO_TAXON]
        self._hits += np.bincount(nodes, minlength=len(self._hits))
        places = self._clades.place[nodes].astype(np.uint64)
        self._pairs.append(_ascending(features.astype(np.uint64) << np.uint64(32) | places))
        if sum(map(len, self._pairs[1:])) > max(HELD, len(self._pairs[0])):
            self._pairs = [self._ordered()]

    def _ordered(self) -> NDArray[np.uint64]:
        return self._pairs[0] if len(self._pairs) == 1 else _ascending(np.concatenate(self._pairs))

    def coverage(self, known: NDArray[np.int64] | None = None) -> Coverage:
        """Return what the reads so far cover; `known` as `known_features` returns it."""
        self._pairs = [self._ordered()]
        clades = self._clades
        distinct = clades.summed(clades.gains(self._pairs[0]))
        return Coverage(clades.summed(self._hits)[:-1], distinct[:-1], int(distinct[-1]), known)


def supported(coverage: Coverage, lineages: Lineages, options: QueryOptions) -> NDArray[np.bool_]:
    """Say which taxa and targets are covered as the options ask for, or hold one that is, bool (taxa + targets,)."""
    passes = coverage.distinct >= max(options.min_distinct, 1)
    if options.min_coverage:
        passes &= coverage.coverage >= options.min_coverage
    if options.min_evenness:
        passes &= coverage.evenness >= options.min_evenness
    return Clades(lineages).summed(np.append(passes, False).astype(np.int64))[:-1] > 0


def lifted(taxon: NDArray[np.int32], kept: NDArray[np.bool_], lineages: Lineages, highest: str) -> NDArray[np.int32]:
    """Call reads of taxa that are not kept the next taxon above that is; without one up to a rank, nothing.

    Parameters
    ----------
    taxon : ndarray, int32 (reads,)
    kept : ndarray, bool (taxa + targets,)
    lineages : Lineages
    highest : str
    """
    to = np.full(len(kept) + 1, NO_TAXON, np.int32)  # the last one is NO_TAXON
    ranks = lineages.at_rank[:, : RANKS.index(highest) + 1]
    for called in np.unique(taxon[taxon != NO_TAXON]).tolist():
        lineage = ranks[called]
        above = [one for one in lineage[lineage != NO_TAXON].tolist() if kept[one]]
        to[called] = called if kept[called] else next(iter(above), NO_TAXON)
    return to[taxon]
