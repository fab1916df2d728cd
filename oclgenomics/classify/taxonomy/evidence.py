"""What a sample's candidates say of the shares of species, reads of species that the database does not hold among them.

Calls are not shares: a call backs off to the genus where it is not safe, which it does more often for species that have
near relatives, and reads of species without a reference are called those that are like them. So shares are estimated
from the candidates of all reads together, by expectation and maximization. A read with the candidates A and B is of A,
of B, or of a species of A's genus without a reference. How likely its hits are under each of these depends on the
features f that it could share with a target, the hits of A, and by how many hits A leads; as ratios to the third:

    log(A)  =  a0 + a1 hits / f + a2 lead / f + a3 lead / sqrt(f)        of B likewise

The coefficients are the maximum likelihood on reads of 75 to 250 bp and pairs of four simulated sets
(docs/how/classify.md says which, and what the estimate is worth on others). Reads without a reference look much like
those of a diverged strain, so their share of a genus is shrunk towards the one of these sets by `SHRINKAGE` of the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import RANKS, SketchOptions
from oclgenomics.classify.plan import shared_features
from oclgenomics.classify.taxonomy.calls import NO_TARGET, Calls, Candidates
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON

EVIDENCE_RANK = "species"
_BEST = (-1.6, 1.4, 3.3, 1.9)  # a0 to a3 of the best candidate
_SECOND = (-2.4, 2.9, 7.0, -2.4)
NOVEL_ODDS = 2 / 7  # reads of species without a reference for each read of the others, where the coefficients are from
SHRINKAGE = 0.3
STEPS = 8  # of 1 in the logarithms of odds, which makes reads with the same evidence one
_MOST_ODDS = 15
_ROUNDS, _TOLERANCE = 5_000, 1e-9
_BOOTSTRAP_TOLERANCE = 1e-6
_TAILS = (2.5, 97.5)  # percentiles
_LEAST_READS, _LEAST_LIKELIHOOD = 0.5, 1e-300
_HELD_ROWS = 1 << 20
_DIGITS = 6  # of estimated reads; what is behind them may differ from machine to machine


def log_odds(hits: NDArray[np.integer], second: NDArray[np.integer], features: NDArray[np.float64]) -> NDArray[np.int8]:
    """Return how much likelier the hits are if the read is of one of its candidates than if it is of neither.

    Parameters
    ----------
    hits, second : ndarray of int (reads,)
        Of the best candidate, and of the second one; 0 without one.
    features : ndarray, float64 (reads,)
        See `shared_features`.

    Returns
    -------
    ndarray, int8 (reads, 2)
        Natural logarithms of the odds of the best and of the second candidate, times `STEPS`.
    """
    able = np.maximum(features, 1.0)
    lead = hits.astype(np.float64) - second
    terms = np.stack([np.ones(len(able)), hits / able, lead / able, lead / np.sqrt(able)], axis=1)
    odds = np.stack([(terms * np.array(which)).sum(axis=1) for which in (_BEST, _SECOND)], axis=1)
    return np.asarray(np.rint(STEPS * np.clip(odds, -_MOST_ODDS, _MOST_ODDS)), np.int8)


@dataclass(frozen=True)
class ReadEvidence:
    """Reads that say the same, together.

    Attributes
    ----------
    best, second : ndarray, int64 (rows,)
        Taxa of the candidates, numbers in `Lineages`; `NO_TAXON` for no second one.
    odds : ndarray, int8 (rows, 2)
        See `log_odds`.
    reads : ndarray, int64 (rows,)
    """

    best: NDArray[np.int64]
    second: NDArray[np.int64]
    odds: NDArray[np.int8]
    reads: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.best)

    @classmethod
    def none(cls) -> ReadEvidence:
        """Return the evidence of no reads."""
        empty = np.empty(0, np.int64)
        return cls(empty, empty, np.empty((0, 2), np.int8), empty)

    @classmethod
    def joined(cls, parts: list[ReadEvidence]) -> ReadEvidence:
        """Return the evidence of all parts, each row once, ascending."""
        names = ("best", "second", "odds", "reads")
        best, second, odds, reads = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
        order = np.lexsort((odds[:, 1], odds[:, 0], second, best))
        best, second, odds, reads = best[order], second[order], odds[order], reads[order]
        new = np.ones(len(best), np.bool_)
        new[1:] = (best[1:] != best[:-1]) | (second[1:] != second[:-1]) | (odds[1:] != odds[:-1]).any(axis=1)
        first = np.flatnonzero(new)
        sums = np.add.reduceat(reads, first) if len(first) else reads
        return cls(best[first], second[first], odds[first], sums)


@dataclass(frozen=True)
class SpeciesShares:
    """Estimated shares of taxa, the most frequent one first; arrays with an item a taxon.

    Attributes
    ----------
    taxon : ndarray, int32 (taxa,)
        Numbers in `Lineages`; see `Evidence.shares`.
    reads : ndarray, float64 (taxa,)
        Estimated reads.
    share : ndarray, float64 (taxa,)
        Of all classified reads, or of genomes.
    length : ndarray, float64 (taxa,)
        Mean length of the genomes of a species, in bases; of a taxon above, that of its species.
    reads_between, share_between : ndarray, float64 (2, taxa), optional
        Intervals that hold 95 % of the rounds of the bootstrap.
    rounds : int
        Of expectation and maximization.
    converged : bool
        No share changed by a billionth in the last of them.
    """

    taxon: NDArray[np.int32]
    reads: NDArray[np.float64]
    share: NDArray[np.float64]
    length: NDArray[np.float64]
    reads_between: NDArray[np.float64] | None
    share_between: NDArray[np.float64] | None
    rounds: int
    converged: bool

    def __len__(self) -> int:
        return len(self.taxon)


class Evidence:
    """The evidence of a sample, gathered part by part.

    Memory grows with the pairs of species that are candidates together, not with the reads.

    Parameters
    ----------
    lineages : Lineages
    sketch : SketchOptions
        Of the database.
    """

    def __init__(self, lineages: Lineages, sketch: SketchOptions) -> None:
        self._lineages, self._sketch = lineages, sketch
        self._taxa = np.append(lineages.groups(EVIDENCE_RANK), np.int32(NO_TAXON)).astype(np.int64)
        self._parts: list[ReadEvidence] = []

    def add(self, candidates: Candidates, calls: Calls, kmers: NDArray[np.int64]) -> None:
        """Take in the reads of a part that were classified; `kmers` is `Reads.kmers` of the part."""
        called = np.flatnonzero(calls.taxon != NO_TAXON)
        best, second = (self._candidates(candidates, place, called) for place in (0, 1))
        odds = log_odds(best[1], second[1], shared_features(kmers[called], self._sketch))
        one_each = np.ones(len(called), np.int64)
        self._parts.append(ReadEvidence.joined([ReadEvidence(best[0], second[0], odds, one_each)]))
        if sum(map(len, self._parts[1:])) > max(_HELD_ROWS, len(self._parts[0])):
            self._parts = [ReadEvidence.joined(self._parts)]

    def _candidates(
        self, candidates: Candidates, place: int, reads: NDArray[np.intp]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
        """The taxa and hits of the candidates in a place."""
        targets = candidates.targets[reads, place]
        known = np.where(targets == NO_TARGET, len(self._taxa) - 1, targets)
        return self._taxa[known], candidates.hits[reads, place]

    def shares(self) -> dict[int, float]:
        """Estimate how many of the classified reads are of each taxon.

        Returns
        -------
        dict of int to float
            By numbers in `Lineages`: species; and taxa above species, of which these reads are, but of none of their
            species that the database holds. A species of less than half a read is not there; its reads are with the
            taxon above it.
        """
        found = self.estimate(rounds=0)
        return dict(zip(found.taxon.tolist(), found.reads.tolist(), strict=True))

    def estimate(self, *, per_genome: bool = False, rounds: int = 100, seed: int = 1) -> SpeciesShares:
        """Estimate the shares of taxa, with intervals.

        Parameters
        ----------
        per_genome : bool
            Shares of genomes, not of reads: a read of a species comes from one place of its genome the less likely,
            the longer that is, and a genome twice as long gives twice as many reads.
        rounds : int
            Of the bootstrap, in which the classified reads are drawn again; with 0 there are no intervals.
        seed : int
            Of the bootstrap.
        """
        known = ReadEvidence.joined([ReadEvidence.none(), *self._parts])
        taxa = np.unique(np.concatenate([known.best, known.second[known.second != NO_TAXON]]))
        above = np.array([_above(taxon, self._lineages) for taxon in taxa.tolist()], np.int64)
        every = genome_lengths(self._lineages)
        lengths = np.array([max(every.get(taxon, 1.0), 1.0) for taxon in taxa.tolist()])
        mixture = Mixture(known, taxa, above, lengths.mean() / lengths if per_genome and len(taxa) else None)
        best = mixture.maximized(mixture.counts)
        again = self._drawn_again(mixture, best, rounds, seed)
        # what is small goes to the taxon above, in all rounds
        small = (best.reads < _LEAST_READS) & (above != NO_TAXON)
        to = np.concatenate([np.where(small, above, taxa), mixture.parents])
        rows, row = np.unique(to, return_inverse=True)
        totals = [np.concatenate([one.reads, one.relatives]) for one in [best, *again]]
        samples = np.stack([_sums(row, one, len(rows)) for one in totals])
        parent_lengths = [lengths[above == parent].mean() for parent in mixture.parents.tolist()]
        length = np.ones(len(rows))
        np.maximum.at(length, row, np.concatenate([np.where(small, 0, lengths), parent_lengths]))
        divided = samples / length if per_genome else samples
        shares = divided / np.maximum(divided.sum(axis=1, keepdims=True), _LEAST_LIKELIHOOD)
        samples = np.round(samples, _DIGITS)
        there = np.flatnonzero(samples[0])
        there = there[np.lexsort((rows[there], -samples[0, there]))]
        ends = [np.percentile(one[1:, there], _TAILS, axis=0) if again else None for one in (samples, shares)]
        columns = (rows[there].astype(np.int32), samples[0, there], shares[0, there], length[there])
        return SpeciesShares(*columns, ends[0], ends[1], best.rounds, best.converged)

    def _drawn_again(self, mixture: Mixture, best: Maximum, rounds: int, seed: int) -> list[Maximum]:
        """Shares of the reads drawn again, so many times."""
        counts = mixture.counts
        total = int(counts.sum())
        if not rounds or not total:
            return []
        draws = np.random.default_rng(seed).multinomial(total, counts / total, rounds).astype(np.float64)
        return [mixture.maximized(draw, best, _BOOTSTRAP_TOLERANCE) for draw in draws]


def _above(taxon: int, lineages: Lineages) -> int:
    """The taxon at the first rank above that of a taxon which its lineage fills."""
    slot = int(lineages.taxonomy.ranks[taxon])
    higher = lineages.at_rank[taxon, slot + 1 : RANKS.index("root")]
    filled = higher[higher != NO_TAXON]
    return int(filled[0]) if len(filled) else NO_TAXON


class Maximum(NamedTuple):
    """What expectation and maximization find.

    Attributes
    ----------
    reads : ndarray, float64 (taxa,)
    relatives : ndarray, float64 (parents,)
        Reads of species without a reference, by the taxon above.
    shares, relative_shares : ndarray, float64
        Where another search may start.
    rounds : int
        So many were needed.
    converged : bool
        No share changed by more than the tolerance in the last round.
    """

    reads: NDArray[np.float64]
    relatives: NDArray[np.float64]
    shares: NDArray[np.float64]
    relative_shares: NDArray[np.float64]
    rounds: int
    converged: bool


class Mixture:
    """Reads that are shared out to taxa, and to relatives of these without a reference.

    `reference.share_reads` is the oracle.

    Parameters
    ----------
    known : ReadEvidence
    taxa : ndarray, int64 (taxa,)
        All candidates, ascending.
    above : ndarray, int64 (taxa,)
        The taxon that each one's relatives are of; `NO_TAXON` if it has none, as then it has no relatives.
    weights : ndarray, float64 (taxa,), optional
        How likely a read of a taxon is to come from one place in its genome: the longer that is, the less.

    Attributes
    ----------
    parents : ndarray, int64 (parents,)
        The taxa of `above`, ascending.
    """

    def __init__(
        self,
        known: ReadEvidence,
        taxa: NDArray[np.int64],
        above: NDArray[np.int64],
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        self._taxa, self.counts = len(taxa), known.reads.astype(np.float64)
        self.parents, self._parent = np.unique(above, return_inverse=True)
        self._best = np.searchsorted(taxa, known.best)
        self._second = np.searchsorted(taxa, np.where(known.second == NO_TAXON, known.best, known.second))
        self._above_best = self._parent[self._best]
        odds = np.exp(np.arange(-STEPS * _MOST_ODDS, STEPS * _MOST_ODDS + 1) / STEPS)
        best, second = (odds[known.odds[:, place].astype(np.int64) + STEPS * _MOST_ODDS] for place in (0, 1))
        each = np.ones(len(taxa)) if weights is None else weights
        second = np.where(known.second == NO_TAXON, 0.0, second)
        # a relative's best candidate is any of those that are hit
        hit = np.maximum(np.bincount(self._parent[np.unique(self._best)], minlength=len(self.parents)), 1)
        none = np.where(self.parents == NO_TAXON, 0.0, 1 / (NOVEL_ODDS * hit))[self._above_best]
        self._odds = np.stack([best * each[self._best], second * each[self._second], none * each[self._best]])

    def maximized(
        self,
        counts: NDArray[np.float64],
        start: Maximum | None = None,
        tolerance: float = _TOLERANCE,
        rounds: int = _ROUNDS,
    ) -> Maximum:
        """Find the shares of the largest likelihood.

        Parameters
        ----------
        counts : ndarray, float64 (rows,)
            Reads of each row of evidence.
        start : Maximum, optional
            Where to start from; from equal shares if not given.
        tolerance : float
            The search ends when no share changes by as much.
        rounds : int
            At most.
        """
        parents, total = len(self.parents), max(float(counts.sum()), 1.0)
        share = np.full(self._taxa, 1 / max(self._taxa, 1)) if start is None else start.shares
        relatives = NOVEL_ODDS * _sums(self._parent, share, parents) if start is None else start.relative_shares
        reads, unknown, used, converged = np.zeros(self._taxa), np.zeros(parents), 0, False
        while used < rounds and not converged:
            used += 1
            shares = self._odds * np.stack([share[self._best], share[self._second], relatives[self._above_best]])
            shares *= counts / np.maximum(shares.sum(axis=0), _LEAST_LIKELIHOOD)
            reads = _sums(self._best, shares[0], self._taxa) + _sums(self._second, shares[1], self._taxa)
            unknown = _sums(self._above_best, shares[2], parents)
            before, share = share, reads / total
            expected = NOVEL_ODDS * _sums(self._parent, share, parents)
            relatives = (1 - SHRINKAGE) * unknown / total + SHRINKAGE * expected
            converged = bool(np.abs(share - before).max(initial=0.0) < tolerance)
        return Maximum(reads, unknown, share, relatives, used, converged)


def genome_lengths(lineages: Lineages) -> dict[int, float]:
    """Return the mean length of the genomes of each taxon at the rank of shares, in bases.

    The targets of a taxon that come from one file are a genome.
    """
    groups, targets = lineages.groups(EVIDENCE_RANK), lineages.targets
    genomes = groups.astype(np.int64) * max(len(targets.sources), 1) + targets.source
    found, genome = np.unique(genomes, return_inverse=True)
    letters = _sums(genome, targets.letters.astype(np.float64), len(found))
    taxa, taxon = np.unique(found // max(len(targets.sources), 1), return_inverse=True)
    means = _sums(taxon, letters, len(taxa)) / np.bincount(taxon, minlength=len(taxa))
    return dict(zip(taxa.tolist(), means.tolist(), strict=True))


def _sums(places: NDArray[np.int64], values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The sum of the values at each place, added up in their order."""
    return np.asarray(np.bincount(places, values, size), np.float64)
