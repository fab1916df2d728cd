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
    for rank in ranks:
        if rank not in RANKS[1:]:
            raise ParameterError("ranks", f"choose some of {', '.join(RANKS[1:])}", rank)
    if not 0 <= rounds <= MAX_ROUNDS or seed < 0:
        raise ParameterError("rounds", f"is 0 to {MAX_ROUNDS:,}, and `seed` 0 or more", (rounds, seed))
    _refuse_strangers(truth, calls)
    at_rank = Lineages.of(taxonomy, Targets.none()).at_rank
    taxids = np.array([calls.get(name, 0) for name in truth.names], np.int64)
    called = _numbers(taxonomy, taxids, "the calls have")
    true = np.where(
        truth.classes == _NOVEL, _numbers(taxonomy, truth.genus, "the truth has"),
        _numbers(taxonomy, np.where(truth.classes == _ALIEN, 0, truth.species), "the truth has"),
    )  # fmt: skip
    classified = ~np.isin(taxids, _ROOT_TAXIDS)
    alien = truth.classes == _ALIEN
    draws = np.random.default_rng(seed)
    measures = [_measures(rank, _taxa(at_rank, true, rank), _taxa(at_rank, called, rank), rounds, draws)
                for rank in ranks]  # fmt: skip
    absent = sum(name not in calls for name in truth.names)
    return Evaluation(
        len(truth), int(classified.sum()), absent, int(alien.sum()), int((classified & alien).sum()), tuple(measures)
    )


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


def _measures(
    rank: str, true: NDArray[np.int32], called: NDArray[np.int32], rounds: int, draws: np.random.Generator
) -> RankMeasures:
    known, has = true != NO_TAXON, called != NO_TAXON
    same = has & (called == true)
    outcomes = (known & same, known & has & ~same, known & ~has, ~known & has, ~known & ~has)
    counts = np.array([outcome.sum() for outcome in outcomes], np.int64)
    shares = _shares(counts[np.newaxis])[:, 0]
    bounds = np.empty((3, 0))
    if rounds and len(true):
        again = draws.multinomial(len(true), counts / len(true), rounds)
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
