"""Precision, sensitivity and F1 of calls at a rank.

Of each read, truth and call at a rank are the taxa of their lineages that fill it. A database can know the truth of a
read at a rank or not: that of a strain or of a reference at all ranks, that of a novel species at all ranks above the
species, that of an alien at none. So each read is one of five:

=========  ===============================  ==============
outcome    the truth can be known           the call
=========  ===============================  ==============
correct    yes                              is the truth
wrong      yes                              is another taxon
missed     yes                              has no taxon at the rank
false      no                               is any taxon
rejected   no                               has no taxon at the rank
=========  ===============================  ==============

precision = correct / (correct + wrong + false), sensitivity = correct / (correct + wrong + missed), and F1 is their
harmonic mean. So reads of novel species do not lower the sensitivity for species, and lower the precision when they
are called some species. MetaCache counts them as missed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import RANKS
from oclgenomics.classify.taxonomy.lineages import Lineages, Targets
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy
from oclgenomics.errors import InputError, ParameterError

# What a database can know of reads of a class: all, all above the species, nothing.
CLASSES = ("reference", "strain", "novel", "alien")
OUTCOMES = ("correct", "wrong", "missed", "false", "rejected")
_ROOT_TAXIDS = (0, 1)
_NOVEL, _ALIEN = CLASSES.index("novel"), CLASSES.index("alien")
MAX_ROUNDS = 1_000_000
STEPS = 100  # of thresholds of confidence
_TAILS = (2.5, 97.5)  # percentiles


@dataclass(frozen=True)
class Truth:
    """Reads and what they are of.

    Attributes
    ----------
    names : tuple of str
        No two equal; those of pairs without /1.
    species, genus : ndarray, int64 (reads,)
        Taxids; 0 for none.
    classes : ndarray, int8 (reads,)
        Numbers in `CLASSES`.
    """

    names: tuple[str, ...]
    species: NDArray[np.int64]
    genus: NDArray[np.int64]
    classes: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class Estimate:
    """A share, and the interval in which 95 % of the bootstrap's rounds lie; None without rounds."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class RankMeasures:
    """How well reads were classified at a rank.

    Attributes
    ----------
    rank : str
    counts : dict of str to int
        Reads of each of `OUTCOMES`.
    precision, sensitivity, f1 : Estimate
        0 where there is nothing to divide by.
    """

    rank: str
    counts: dict[str, int]
    precision: Estimate
    sensitivity: Estimate
    f1: Estimate


@dataclass(frozen=True)
class Evaluation:
    """How well reads were classified.

    Attributes
    ----------
    reads : int
    classified : int
        Called any taxon below the root.
    absent : int
        Of which the calls say nothing: taken as not classified.
    aliens, aliens_classified : int
    ranks : tuple of RankMeasures
    """

    reads: int
    classified: int
    absent: int
    aliens: int
    aliens_classified: int
    ranks: tuple[RankMeasures, ...]


def evaluate(
    truth: Truth,
    calls: Mapping[str, int],
    taxonomy: Taxonomy,
    ranks: Sequence[str] = ("species", "genus"),
    *,
    rounds: int = 1_000,
    seed: int = 1,
) -> Evaluation:
    """Evaluate calls.

    Parameters
    ----------
    truth : Truth
    calls : mapping of str to int
        Taxids by names of reads; see `read_calls`. Reads without one count as not classified.
    taxonomy : Taxonomy
        In which truth and calls are looked up.
    ranks : sequence of str
    rounds : int
        Of the bootstrap, in which reads are drawn again; with 0 there are no intervals.
    seed : int

    Raises
    ------
    ParameterError
        A rank does not exist, or a number is out of range.
    InputError
        Calls of reads that are not in the truth, or taxids that are not in the taxonomy.
    """
    if not 0 <= rounds <= MAX_ROUNDS or seed < 0:
        raise ParameterError("rounds", f"is 0 to {MAX_ROUNDS:,}, and `seed` 0 or more", (rounds, seed))
    found = _outcomes(truth, calls, taxonomy, ranks)
    taxids = _taxids(truth, calls)
    classified = ~np.isin(taxids, _ROOT_TAXIDS)
    alien = truth.classes == _ALIEN
    draws = np.random.default_rng(seed)
    measures = [_measures(rank, outcomes, rounds, draws) for rank, outcomes in zip(ranks, found, strict=True)]
    absent = sum(name not in calls for name in truth.names)
    return Evaluation(
        len(truth), int(classified.sum()), absent, int(alien.sum()), int((classified & alien).sum()), tuple(measures)
    )


@dataclass(frozen=True)
class ThresholdCurve:
    """Measures of the reads whose confidence is at a threshold or above, the others taken as not classified.

    Attributes
    ----------
    rank : str
    thresholds : ndarray, float64 (thresholds,)
        From 0 to 1.
    called : ndarray, int64 (thresholds,)
        Reads that have a taxon of the rank.
    precision, sensitivity, f1 : ndarray, float64 (thresholds,)
        Precision is 1 where no read has a taxon of the rank.
    """

    rank: str
    thresholds: NDArray[np.float64]
    called: NDArray[np.int64]
    precision: NDArray[np.float64]
    sensitivity: NDArray[np.float64]
    f1: NDArray[np.float64]


def threshold_curves(
    truth: Truth,
    calls: Mapping[str, int],
    confidences: Mapping[str, int],
    taxonomy: Taxonomy,
    ranks: Sequence[str] = ("species", "genus"),
) -> list[ThresholdCurve]:
    """Evaluate calls at all thresholds of confidence, in steps of a hundredth.

    What a query with `QueryOptions.confidence` gives needs no query of its own: that of one without it holds the
    confidence of every read.

    Parameters
    ----------
    truth, calls, taxonomy, ranks
        As `evaluate` takes them.
    confidences : mapping of str to int
        Of each read that is called anything, in thousandths; see `read_confidences`.

    Raises
    ------
    ParameterError, InputError
        As `evaluate`; or a read that is called something has no confidence.
    """
    found, curves = _outcomes(truth, calls, taxonomy, ranks), []
    lacking = next((name for name, taxid in calls.items() if taxid and name not in confidences), None)
    if lacking is not None:
        raise InputError(f"the read {lacking} is called something, and has no confidence")
    step = np.array([confidences.get(name, 0) * STEPS // 1000 for name in truth.names], np.int64)
    for rank, outcomes in zip(ranks, found, strict=True):
        each = np.zeros((len(OUTCOMES), STEPS + 1), np.int64)
        np.add.at(each, (outcomes, step), 1)
        kept = each[:, ::-1].cumsum(axis=1)[:, ::-1]  # of reads at a threshold or above
        lost = each.sum(axis=1, keepdims=True) - kept
        missed = kept[2] + lost[:3].sum(axis=0)
        counts = np.stack([kept[0], kept[1], missed, kept[3], kept[4]], axis=1)  # rejected ones are in no measure
        called = counts[:, [0, 1, 3]].sum(axis=1)
        precision, sensitivity, f1 = _shares(counts)
        thresholds = np.arange(STEPS + 1) / STEPS
        precision = np.where(called == 0, 1.0, precision)
        curves.append(ThresholdCurve(rank, thresholds, called, precision, sensitivity, f1))
    return curves


def _taxids(truth: Truth, calls: Mapping[str, int]) -> NDArray[np.int64]:
    return np.array([calls.get(name, 0) for name in truth.names], np.int64)


def _outcomes(
    truth: Truth, calls: Mapping[str, int], taxonomy: Taxonomy, ranks: Sequence[str]
) -> list[NDArray[np.int64]]:
    """The outcome of each read at each rank, as a number in `OUTCOMES`."""
    for rank in ranks:
        if rank not in RANKS[1:]:
            raise ParameterError("ranks", f"choose some of {', '.join(RANKS[1:])}", rank)
    _refuse_strangers(truth, calls)
    at_rank = Lineages.of(taxonomy, Targets.none()).at_rank
    numbers = _numbers(taxonomy, _taxids(truth, calls), "the calls have")
    originals = np.where(
        truth.classes == _NOVEL, _numbers(taxonomy, truth.genus, "the truth has"),
        _numbers(taxonomy, np.where(truth.classes == _ALIEN, 0, truth.species), "the truth has"),
    )  # fmt: skip
    found = []
    for rank in ranks:
        true, called = _taxa(at_rank, originals, rank), _taxa(at_rank, numbers, rank)
        known, has = true != NO_TAXON, called != NO_TAXON
        of_known = np.where(has, np.where(called == true, 0, 1), 2)
        found.append(np.where(known, of_known, np.where(has, 3, 4)))
    return found


def _refuse_strangers(truth: Truth, calls: Mapping[str, int]) -> None:
    names = set(truth.names)
    stranger = next((name for name in calls if name not in names), None)
    if stranger is not None:
        raise InputError(f"the read {stranger} is called something, and the truth does not know it")


def _numbers(taxonomy: Taxonomy, taxids: NDArray[np.int64], whose: str) -> NDArray[np.int32]:
    """The taxa of taxids; none of 0."""
    numbers = taxonomy.find(taxids)
    unknown = (numbers == NO_TAXON) & (taxids != 0)
    if unknown.any():
        raise InputError(f"{whose} taxid {taxids[unknown][0]}, which the taxonomy does not know")
    return numbers


def _taxa(at_rank: NDArray[np.int32], numbers: NDArray[np.int32], rank: str) -> NDArray[np.int32]:
    """What fills a rank in the lineages of taxa."""
    return np.where(numbers == NO_TAXON, NO_TAXON, at_rank[numbers, RANKS.index(rank)]).astype(np.int32)


def _measures(rank: str, outcomes: NDArray[np.int64], rounds: int, draws: np.random.Generator) -> RankMeasures:
    counts = np.bincount(outcomes, minlength=len(OUTCOMES))
    shares = _shares(counts[np.newaxis])[:, 0]
    bounds = np.empty((3, 0))
    if rounds and len(outcomes):
        again = draws.multinomial(len(outcomes), counts / len(outcomes), rounds)
        bounds = np.percentile(_shares(again), _TAILS, axis=1).T
    made = [Estimate(value, *ends) for value, ends in zip(shares.tolist(), bounds.tolist(), strict=True)]
    return RankMeasures(rank, dict(zip(OUTCOMES, counts.tolist(), strict=True)), *made)


def _shares(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Precision, sensitivity and F1 of rows of counts of `OUTCOMES`, float64 (3, rows); 0 for 0 / 0."""
    correct, wrong, missed, false, _ = counts.T.astype(np.float64)
    called, known = correct + wrong + false, correct + wrong + missed
    return np.stack([
        correct / np.maximum(called, 1), correct / np.maximum(known, 1), 2 * correct / np.maximum(called + known, 1),
    ])  # fmt: skip
