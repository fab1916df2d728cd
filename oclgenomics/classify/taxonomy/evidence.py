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
_ROUNDS, _TOLERANCE = 500, 1e-9
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
        known = ReadEvidence.joined([ReadEvidence.none(), *self._parts])
        taxa = np.unique(np.concatenate([known.best, known.second[known.second != NO_TAXON]]))
        above = np.array([_above(taxon, self._lineages) for taxon in taxa.tolist()], np.int64)
        of_taxa, of_relatives = maximized(known, taxa, above)
        found: dict[int, float] = {}
        for taxon, parent, reads in zip(taxa.tolist(), above.tolist(), of_taxa.tolist(), strict=True):
            at = parent if reads < 0.5 and parent != NO_TAXON else taxon
            found[at] = found.get(at, 0.0) + reads
        for parent, reads in of_relatives.items():
            found[parent] = found.get(parent, 0.0) + reads
        rounded = {taxon: round(reads, _DIGITS) for taxon, reads in found.items()}
        return {taxon: reads for taxon, reads in rounded.items() if reads}


def _above(taxon: int, lineages: Lineages) -> int:
    """The taxon at the first rank above that of a taxon which its lineage fills."""
    slot = int(lineages.taxonomy.ranks[taxon])
    higher = lineages.at_rank[taxon, slot + 1 : RANKS.index("root")]
    filled = higher[higher != NO_TAXON]
    return int(filled[0]) if len(filled) else NO_TAXON


def maximized(
    known: ReadEvidence, taxa: NDArray[np.int64], above: NDArray[np.int64]
) -> tuple[NDArray[np.float64], dict[int, float]]:
    """Share reads out to taxa, and to relatives of these without a reference; `reference.share_reads` is the oracle.

    Parameters
    ----------
    known : ReadEvidence
    taxa : ndarray, int64 (taxa,)
        All candidates, ascending.
    above : ndarray, int64 (taxa,)
        The taxon that each one's relatives are of; `NO_TAXON` if it has none, as then it has no relatives.

    Returns
    -------
    reads : ndarray, float64 (taxa,)
    relatives : dict of int to float
        By the taxa of `above`.
    """
    parents, parent = np.unique(above, return_inverse=True)
    best = np.searchsorted(taxa, known.best)
    second = np.searchsorted(taxa, np.where(known.second == NO_TAXON, known.best, known.second))
    odds = np.exp(np.arange(-STEPS * _MOST_ODDS, STEPS * _MOST_ODDS + 1) / STEPS)
    of_best, of_second = (odds[known.odds[:, place].astype(np.int64) + STEPS * _MOST_ODDS] for place in (0, 1))
    of_second = np.where(known.second == NO_TAXON, 0.0, of_second)
    # a relative's best candidate is any of those that are hit
    hit = np.maximum(np.bincount(parent[np.unique(best)], minlength=len(parents)), 1)
    of_none = np.where(parents == NO_TAXON, 0.0, 1 / (NOVEL_ODDS * hit))[parent[best]]
    share = np.full(len(taxa), 1 / max(len(taxa), 1))
    relatives = NOVEL_ODDS * _sums(parent, share, len(parents))
    total = max(float(known.reads.sum()), 1.0)
    reads = np.zeros(len(taxa), np.float64)
    unknown = np.zeros(len(parents), np.float64)
    for _ in range(_ROUNDS):
        shares = np.stack([of_best * share[best], of_second * share[second], of_none * relatives[parent[best]]])
        shares *= known.reads / shares.sum(axis=0)
        reads = _sums(best, shares[0], len(taxa)) + _sums(second, shares[1], len(taxa))
        unknown = _sums(parent[best], shares[2], len(parents))
        before, share = share, reads / total
        expected = NOVEL_ODDS * _sums(parent, share, len(parents))
        relatives = (1 - SHRINKAGE) * unknown / total + SHRINKAGE * expected
        if np.abs(share - before).max(initial=0.0) < _TOLERANCE:
            break
    return reads, {int(one): count for one, count in zip(parents, unknown.tolist(), strict=True) if count}


def _sums(places: NDArray[np.int64], values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The sum of the values at each place, added up in their order."""
    return np.asarray(np.bincount(places, values, size), np.float64)
