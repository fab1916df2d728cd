"""How sure F is: reads drawn again (bootstrap), and thresholds judged by reads that they were not chosen by.

Every round gives each read a weight, how often it was drawn, and a half. Both classes are drawn by themselves, so that
each keeps its number of reads. All copies and pieces of a read are in one half: none judges a threshold that it helped
to choose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sdtw.decisions.labelled import Sweep, between, f_score

MIN_HALVED = 2  # reads of a class from which there are two halves
CHUNK = 1 << 21  # weights that are made at a time


@dataclass(frozen=True, eq=False)
class Drawn:
    """Some rounds.

    Attributes
    ----------
    target, other : ndarray, int32, (rounds, reads)
        Weights.
    target_half, other_half : ndarray, bool, (rounds, reads)
        Whether a read is in the first half.
    """

    target: NDArray[np.int32]
    other: NDArray[np.int32]
    target_half: NDArray[np.bool_]
    other_half: NDArray[np.bool_]

    def of_pieces(self, target: NDArray[np.int64], other: NDArray[np.int64]) -> Drawn:
        """The same rounds of pieces of these reads, given by the number of the read that each piece is of."""
        return Drawn(
            self.target[:, target], self.other[:, other], self.target_half[:, target], self.other_half[:, other]
        )


def draw(targets: int, others: int, rounds: int, rng: np.random.Generator) -> Iterator[Drawn]:
    """Draw reads of both classes with replacement, and halve them at random."""
    for count in _chunks(targets + others, rounds):
        weights = [_weights(reads, count, rng) for reads in (targets, others)]
        yield Drawn(weights[0], weights[1], *(_halves(reads, count, rng) for reads in (targets, others)))


def split(targets: int, others: int, rounds: int, rng: np.random.Generator) -> Iterator[Drawn]:
    """Halve reads of both classes at random, each read once."""
    for count in _chunks(targets + others, rounds):
        weights = [np.ones((count, reads), np.int32) for reads in (targets, others)]
        yield Drawn(weights[0], weights[1], *(_halves(reads, count, rng) for reads in (targets, others)))


def highest_f(sweep: Sweep, drawn: Drawn) -> NDArray[np.float64]:
    """Return the highest F of each round, float64 (rounds,)."""
    target, other = _ordered(sweep, drawn.target, drawn.other)
    highest: NDArray[np.float64] = _swept(sweep, target, other).max(axis=1)
    return highest


def held_out_f(sweep: Sweep, drawn: Drawn) -> NDArray[np.float64]:
    """Return F of each round, float64 (rounds,): of each half by the threshold of the other, and the mean of both.

    NaN where a half has no read of a class.
    """
    first = _ordered(sweep, drawn.target * drawn.target_half, drawn.other * drawn.other_half)
    second = _ordered(sweep, drawn.target * ~drawn.target_half, drawn.other * ~drawn.other_half)
    return (_judged(sweep, first, second) + _judged(sweep, second, first)) / 2


Cumulated = tuple[NDArray[np.int64], NDArray[np.int64]]


def _ordered(sweep: Sweep, target: NDArray[np.int32], other: NDArray[np.int32]) -> Cumulated:
    """Sums of weights in the order of scores: of the first i reads of each class, int64 (rounds, reads + 1)."""
    return _cumulated(target[:, sweep.target_order]), _cumulated(other[:, sweep.other_order])


def _cumulated(weights: NDArray[np.int32]) -> NDArray[np.int64]:
    sums = np.zeros((weights.shape[0], weights.shape[1] + 1), np.int64)
    np.cumsum(weights, axis=1, out=sums[:, 1:])
    return sums


def _swept(sweep: Sweep, target: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.float64]:
    """F at each candidate, (rounds, candidates)."""
    tp, fp = target[:, sweep.called_targets], other[:, sweep.called_others]
    return f_score(tp, fp, target[:, -1:], other[:, -1:], sweep.balanced)


def _judged(sweep: Sweep, chosen: Cumulated, judged: Cumulated) -> NDArray[np.float64]:
    """F of one half by the thresholds of the other."""
    thresholds = _best(sweep, *chosen)
    places = [np.searchsorted(scores, thresholds, "right") for scores in (sweep.target, sweep.other)]
    called = [_at(sums, place) for sums, place in zip(judged, places, strict=True)]
    totals = [sums[:, -1] for sums in (*judged, *chosen)]
    result = f_score(called[0], called[1], totals[0], totals[1], sweep.balanced)
    return np.where(np.all([total > 0 for total in totals], axis=0), result, np.nan)


def _best(sweep: Sweep, target: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.float64]:
    """The threshold of the highest F of each round: midway between neighbouring scores that were drawn."""
    f = np.nan_to_num(_swept(sweep, target, other), nan=0.0)
    best = f.argmax(axis=1)
    low = np.where(f.max(axis=1) > 0, sweep.candidates[best], -np.inf)  # nothing is called where no target could be
    above = [
        _next(sums, _at(sums, called[best]), scores)
        for sums, called, scores in (
            (target, sweep.called_targets, sweep.target), (other, sweep.called_others, sweep.other),
        )
    ]  # fmt: skip
    return between(low, np.minimum(*above))


def _next(sums: NDArray[np.int64], called: NDArray[np.int64], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lowest score that was drawn beyond those called."""
    place = np.count_nonzero(sums[:, 1:] <= called[:, None], axis=1)
    nearest: NDArray[np.float64] = np.append(scores, np.inf)[place]
    return nearest


def _at(sums: NDArray[np.int64], place: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.take_along_axis(sums, place[:, None], axis=1)[:, 0]


def _weights(reads: int, rounds: int, rng: np.random.Generator) -> NDArray[np.int32]:
    numbers = rng.integers(0, reads, (rounds, reads)) + reads * np.arange(rounds)[:, None]
    return np.bincount(numbers.reshape(-1), minlength=rounds * reads).reshape(rounds, reads).astype(np.int32)


def _halves(reads: int, rounds: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Random halves; of an odd number, which one is larger is random, too."""
    larger = (np.arange(reads) + rng.integers(0, 2, (rounds, 1))) % 2 == 0
    return rng.permuted(larger, axis=1)


def _chunks(reads: int, rounds: int) -> Sequence[int]:
    most = max(1, CHUNK // reads)
    return [min(most, rounds - first) for first in range(0, rounds, most)]
