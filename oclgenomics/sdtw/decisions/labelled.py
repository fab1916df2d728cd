"""Scores of reads of which it is known whether they are of the target, and all thresholds between both classes.

A read is *called* target where its score is not above the threshold. Infinite scores are never called: they are of
reads whose cost is saturated, which every threshold rejects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.sdtw.decisions.basis import Basis
from oclgenomics.sdtw.decisions.thresholds import Score
from oclgenomics.sdtw.options import AlignOptions

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LabelledScores:
    """Scores of reads of two classes, by one kind of alignment.

    Attributes
    ----------
    name : str
        Of the kind of alignment, as tables and figures show it.
    prefixes : tuple of int
        Samples.
    target, other : ndarray, float64, (reads, prefixes)
        Lower for what is more like the target; NaN where a read is too short, infinite where its cost is saturated.
    target_names, other_names : ndarray, object (str), (reads,)
        Pieces of one read have one name.
    options : AlignOptions
    score : {'cost', 'difference'}
    references : tuple of str
        Names of the target and the decoys, as `oclgenomics.sdtw.decisions.thresholds.Thresholds` has them.
    basis : Basis, optional
        What the reads and the references are, if that is known.
    """

    name: str
    prefixes: tuple[int, ...]
    target: NDArray[np.float64]
    other: NDArray[np.float64]
    target_names: NDArray[np.object_]
    other_names: NDArray[np.object_]
    options: AlignOptions
    score: Score = "cost"
    references: tuple[str, ...] = ()
    basis: Basis | None = None

    @property
    def read_names(self) -> list[str]:
        """Of both classes; pieces of one read have one name."""
        return [*self.target_names.tolist(), *self.other_names.tolist()]


class Sweep:
    """The exact sweep over the scores of labelled reads.

    F is the harmonic mean of precision and recall, tp / (tp + (fp + fn) / 2). It is highest at a score of a target:
    a threshold above it that calls no other target only adds false positives.

    Parameters
    ----------
    target, other : ndarray, float64
        Scores of reads of both classes, lower for what is more like the target; without NaN.
    balanced : bool
        Whether both classes weigh the same, however many reads they have.

    Attributes
    ----------
    target, other : ndarray, float64
        The scores, ascending.
    target_order, other_order : ndarray, int64
        The reads in this order.
    candidates : ndarray, float64
        Finite scores of targets, each once, ascending.
    called_targets, called_others : ndarray, int64, (candidates,)
        Reads whose scores are not above each of these.

    Raises
    ------
    UsageError
        A class is empty, or no score of a target is finite.
    """

    def __init__(self, target: NDArray[np.float64], other: NDArray[np.float64], *, balanced: bool = True) -> None:
        if not len(target) or not len(other):
            empty = "target" if not len(target) else "non-target"
            raise UsageError(f"there is no {empty} read to evaluate")
        self.target_order, self.other_order = (np.argsort(scores, kind="stable") for scores in (target, other))
        self.target, self.other = target[self.target_order], other[self.other_order]
        self.balanced = balanced
        self.candidates = np.unique(self.target[np.isfinite(self.target)])
        if not len(self.candidates):
            raise UsageError("the costs of all target reads are saturated; use `arithmetic=int32` or shorter prefixes")
        self.called_targets: Counts = np.searchsorted(self.target, self.candidates, "right").astype(np.int64)
        self.called_others: Counts = np.searchsorted(self.other, self.candidates, "right").astype(np.int64)

    @classmethod
    def of_prefix(
        cls, prefix: int, target: NDArray[np.float64], other: NDArray[np.float64], *, balanced: bool = True
    ) -> Sweep:
        """Sweep over the scores of reads that are long enough for a prefix; NaN marks the others.

        Raises
        ------
        ParameterError
            No read of a class is long enough.
        UsageError
            No score of a target is finite.
        """
        long_enough = [scores[~np.isnan(scores)] for scores in (target, other)]
        for scores, word in zip(long_enough, ("target", "non-target"), strict=True):
            if not len(scores):
                raise ParameterError("prefixes", f"no {word} read has so many samples; leave this prefix out", prefix)
        return cls(*long_enough, balanced=balanced)

    @cached_property
    def f(self) -> NDArray[np.float64]:
        """F with the threshold at each candidate."""
        return f_score(self.called_targets, self.called_others, len(self.target), len(self.other), self.balanced)

    @cached_property
    def best(self) -> float:
        """The threshold of the highest F: midway between the neighbouring scores, the lowest one of several."""
        return self.above(self.candidates[int(self.f.argmax())])

    def above(self, score: float) -> float:
        """Return the threshold midway between a score and the next one above it; the score where there is none."""
        places = [np.searchsorted(scores, score, "right") for scores in (self.target, self.other)]
        rest = [
            scores[place]
            for scores, place in zip((self.target, self.other), places, strict=True)
            if place < len(scores)
        ]
        return float(between(np.array(score), np.array(min(rest, default=np.inf))))

    def keeping(self, share: float) -> float:
        """Return the lowest threshold that calls a share of the targets, midway between the neighbouring scores.

        Raises
        ------
        UsageError
            So many targets have no finite score.
        """
        needed = int(np.ceil(share * len(self.target) * (1 - 1e-12)))
        place = int(np.searchsorted(self.called_targets, needed))
        if place == len(self.candidates):
            raise UsageError(
                f"no threshold keeps {100 * share:g} % of the target reads, since the costs of others are saturated; "
                "use `arithmetic=int32` or shorter prefixes"
            )
        return self.above(self.candidates[place])

    def rejecting(self, share: float) -> float:
        """Return the highest threshold that does not call a share of the others, midway between the scores around it.

        With infinite scores beyond it, it is the highest finite score.
        """
        called = int(np.floor((1 - share) * len(self.other) * (1 + 1e-12)))
        first = self.other[called] if called < len(self.other) else np.inf
        below = [scores[: np.searchsorted(scores, first)] for scores in (self.target, self.other)]
        highest = max((float(scores[-1]) for scores in below if len(scores)), default=-np.inf)
        if np.isinf(highest):
            return float(np.nextafter(first, -np.inf))
        return float(between(np.array(highest), np.array(first)))

    def rates(self, threshold: float) -> tuple[float, float]:
        """Return the shares of targets and of others that a threshold calls."""
        called = [np.searchsorted(scores, threshold, "right") / len(scores) for scores in (self.target, self.other)]
        return float(called[0]), float(called[1])

    @cached_property
    def roc(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """False and true positive rates from (0, 0) to (1, 1): one point for each score, infinite ones included."""
        scores = np.unique(np.concatenate([self.target, self.other]))
        rates = (np.searchsorted(own, scores, "right") / len(own) for own in (self.other, self.target))
        fpr, tpr = (np.concatenate([[0.0], rate]) for rate in rates)
        return fpr, tpr

    @cached_property
    def auc(self) -> float:
        """The probability that a target scores lower than another read; equal scores count half."""
        below = np.searchsorted(self.target, self.other, "left").sum(dtype=np.int64)
        upto = np.searchsorted(self.target, self.other, "right").sum(dtype=np.int64)
        return float((below + upto) / (2 * len(self.target) * len(self.other)))

    def tpr_at(self, fpr: float) -> float:
        """Return the highest share of targets that is called while at most this share of the others is."""
        allowed = self.called_others <= fpr * len(self.other) * (1 + 1e-12)
        return float(self.called_targets[allowed].max(initial=0) / len(self.target))


def f_score(tp: Any, fp: Any, targets: Any, others: Any, balanced: bool) -> NDArray[np.float64]:
    """Return F of counts.

    Parameters
    ----------
    tp, fp : array_like, int
        Reads of both classes that are called.
    targets, others : array_like, int
        All reads of both classes.
    balanced : bool
        Whether both classes weigh the same.

    Returns
    -------
    ndarray, float64
        NaN where a class that counts has no read. Numbers are whole until the division, so that equal values are equal.
    """
    tp, fp, targets, others = (np.asarray(count, np.int64) for count in (tp, fp, targets, others))
    weight, other_weight = (others, targets) if balanced else (np.int64(1), np.int64(1))
    with np.errstate(invalid="ignore"):
        result: NDArray[np.float64] = 2 * tp * weight / (tp * weight + fp * other_weight + targets * weight)
    return result


def between(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what lies midway between scores; the lower one where nothing does, or the higher one is infinite."""
    with np.errstate(invalid="ignore"):
        middle = low / 2 + high / 2
        return np.where((middle >= low) & (middle < high) & np.isfinite(high), middle, low)
